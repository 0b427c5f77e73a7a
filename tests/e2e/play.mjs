// Two people play in two browsers, end to end: the real server, headless Chromium, clicks.
//
//   npm install --prefix /tmp/e2e playwright-core     (once; Chromium comes from Debian)
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/play.mjs target/debug/rulemate docs/images
//
// With PAGE=src/server/page the page's files come from there instead of from the binary.
// Ends with `e2e: N checks passed`, or with the first that did not.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(join(process.env.NODE_PATH || ".", "x.js"));
const { chromium } = require("playwright-core");
const [binary, shots] = process.argv.slice(2);
let passed = 0;

function check(what, holds) {
  if (!holds) throw new Error(`failed: ${what}`);
  passed += 1;
  console.log(`ok ${what}`);
}

async function serve() {
  const store = join(mkdtempSync(join(tmpdir(), "rulemate-e2e-")), "games.db");
  const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--store", store, "--uploads", "--log", "warn"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((found) => server.stdout.once("data", (text) => found(String(text).split("\n")[0])));
  return { server, address: address.replace(/\/$/, "") };
}

const { server, address } = await serve();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
mkdirSync(shots, { recursive: true });

const faults = [];
async function person(name, size = { width: 1400, height: 900 }) {
  const context = await browser.newContext({ viewport: size });
  if (process.env.PAGE) {
    await context.route("**/page/*", (route) => {
      const file = route.request().url().split("/").pop();
      const type = { js: "text/javascript", css: "text/css", svg: "image/svg+xml" }[file.split(".").pop()];
      return route.fulfill({ body: readFileSync(join(process.env.PAGE, file)), contentType: type });
    });
  }
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`${name}: ${error.message}`));
  page.on("console", (said) => { if (said.type() === "error" && !/4\d\d/.test(said.text())) faults.push(`${name}: ${said.text()}`); });
  return page;
}

const square = (page, name) => page.locator(`[data-square="${name}"]`);
const shot = (page, name) => page.screenshot({ path: join(shots, `${name}.png`) });
const verdict = (page) => page.locator(".state .verdict").innerText();

async function waitFor(what, test) {
  for (let tries = 0; tries < 150; tries += 1) {
    if (await test().catch(() => false)) return check(what, true);
    await new Promise((wake) => setTimeout(wake, 100));
  }
  check(what, false);
}

async function move(page, other, from, to, choice) {
  const count = await page.locator(".list .move").count();
  await square(page, from).click();
  await square(page, to).click();
  if (choice) await page.getByRole("button", { name: choice, exact: true }).click();
  for (const it of [page, other]) await waitFor(`${from}${to} is on the board`, async () => (await it.locator(".list .move").count()) === count + 1);
}

/** A finished game is reached by the API: `moves` in UCI, for both seats. */
async function make(body, moves = []) {
  const made = await (await fetch(`${address}/api/v1/games`, { method: "POST", body: JSON.stringify({ seat: "both", ...body }) })).json();
  if (!made.id) throw new Error(JSON.stringify(made));
  for (const uci of moves) {
    const answer = await fetch(`${address}/api/v1/games/${made.id}/moves`, { method: "POST", headers: { authorization: `Bearer ${made.token}` }, body: JSON.stringify({ uci }) });
    if (!answer.ok) throw new Error(`${uci}: ${await answer.text()}`);
  }
  return made;
}

async function sit(page, made) {
  await page.goto(`${address}/`);
  await page.evaluate(([id, token]) => localStorage.setItem(`seat:${id}`, token), [made.id, made.token]);
  await page.goto(`${address}/game/${made.id}`);
  await page.locator("svg.board").waitFor();
}

async function main() {
  const ann = await person("ann");
  const ben = await person("ben");

  // The lobby: a preset on top of a game, and one that does not fit.
  await ann.goto(address);
  await ann.locator("svg.board").waitFor();
  await shot(ann, "lobby");
  check("the lobby lists games", (await ann.locator("#game option").count()) >= 6);
  await ann.locator("#fen").fill("nonsense");
  await ann.locator("#name").click();
  await waitFor("a position that is none is told", async () => /FEN/.test(await ann.locator("form .error").innerText()));
  await ann.locator("#fen").fill("");
  await ann.locator("#game").selectOption("knightmate");
  await ann.locator("#seat").selectOption({ index: 1 });
  await ann.locator("#name").fill("Ann");
  await waitFor("the combination is checked", async () => (await ann.getByText("Active: knightmate-rules").count()) === 1);
  await ann.getByRole("button", { name: "Make the game" }).click();
  await ann.locator(".panel .link").waitFor();
  const link = await ann.locator(".panel .link").inputValue();
  check("the link leads to the game", link === ann.url());

  // Somebody else sits down, a third person watches.
  await ben.goto(link);
  await ben.locator("#name").fill("Ben");
  await ben.getByRole("button", { name: "Play black" }).click();
  await waitFor("both see both names", async () => (await ann.locator(".who").allInnerTexts()).join().includes("Ben"));
  const eve = await person("eve", { width: 420, height: 860 });
  await eve.goto(link);
  await eve.locator("svg.board").waitFor();

  await move(ann, ben, "e2", "e4");
  await move(ben, ann, "e7", "e5");
  await square(ann, "e1").click();
  await waitFor("legal targets are shown", async () => (await ann.locator(".dot, .target").count()) > 0);
  await shot(ann, "targets");
  await square(ann, "e8").click();
  await waitFor("why not is answered", async () => (await ann.locator(".why .no").count()) === 1);
  check("squares of the proof are lit", (await ann.locator(".glow").count()) > 0);
  await shot(ann, "why-not");
  await square(ann, "e1").click();
  await square(ann, "e1").click();

  // Reload in the middle: the seat and the position are still there.
  await ben.reload();
  await ben.locator("svg.board").waitFor();
  check("a reload keeps the seat", (await ben.locator(".who").allInnerTexts()).some((it) => it.includes("Ben (you)")));
  check("a reload keeps the moves", (await ben.locator(".list .move").count()) === 2);
  await move(ann, ben, "f1", "c4");
  await waitFor("the spectator sees it", async () => (await eve.locator(".list .move").count()) === 3);
  check("the spectator has no seat", (await eve.getByRole("button", { name: "Resign" }).count()) === 0);
  await shot(eve, "spectator-phone");

  // Takeback by consent, replay, a draw that is declined.
  await ann.getByRole("button", { name: "Take back" }).click();
  await ben.getByRole("button", { name: "Accept" }).click();
  await waitFor("the move is taken back", async () => (await ann.locator(".list .move").count()) === 2);
  await ann.getByRole("button", { name: "First position" }).click();
  await waitFor("replay shows the first position", async () => /You look at/.test(await ann.locator(".state").innerText()));
  await ann.getByRole("button", { name: "Back to the game" }).click();
  await ann.getByRole("button", { name: "Offer draw" }).click();
  await ben.getByRole("button", { name: "Decline" }).click();
  await waitFor("the draw is declined", async () => (await ann.locator(".offer").count()) === 0);
  for (let step = 0; step < 60 && !(await finished(ann)); step += 1) await anyMove(step % 2 === 0 ? ann : ben);
  if (!(await finished(ann))) {
    ben.on("dialog", (dialog) => dialog.accept());
    await ben.getByRole("button", { name: "Resign" }).click();
  }
  await waitFor("knightmate ends", async () => /wins|draw/i.test(await verdict(ben)));
  await shot(ben, "knightmate-over");

  // Other games to their end, by their own rules.
  const over = await person("dan");
  await sit(over, await make({ game: "coregal", fen: "q3k3/8/8/1N6/8/8/8/4K3 w - - 0 1" }));
  await square(over, "b5").click();
  await square(over, "c7").click();
  await waitFor("coregal ends: king and queen are forked", async () => /White wins: checkmate/.test(await verdict(over)));
  await shot(over, "coregal-over");
  await sit(over, await make({ game: "antichess", fen: "8/8/8/8/8/p7/1P6/8 w - - 0 1" }));
  await square(over, "b2").click();
  await square(over, "a3").click();
  await waitFor("antichess ends", async () => /wins/.test(await verdict(over)));
  await shot(over, "antichess-over");

  // The editor: a position of one's own, put together by clicks.
  await over.goto(address);
  await over.locator("#game").selectOption("chess");
  await over.locator("#fen").fill("4k3/8/8/8/8/8/8/4K3 w - - 0 1");
  await over.locator("#name").click();
  await waitFor("the position is drawn", async () => (await over.locator(".piece").count()) === 2);
  await over.locator("#fen").fill("");
  await over.locator("#name").click();
  await waitFor("the game's own position is drawn", async () => (await over.locator(".piece").count()) === 32);
  await over.locator("#brush").selectOption("Q");
  await square(over, "e4").click();
  await waitFor("a piece is put down", async () => /4Q3/.test(await over.locator("#fen").inputValue()) && (await over.locator(".piece").count()) === 33);
  await over.locator("#seat").selectOption("both");
  await over.locator("#chat").check();
  await over.getByRole("button", { name: "Make the game" }).click();
  await over.waitForURL(/\/game\//);
  await square(over, "e4").click();
  await square(over, "e7").click();
  await waitFor("the queen put down captures", async () => (await over.locator(".list .move").first().innerText()).startsWith("Qxe7"));
  await over.getByLabel("Message").fill("<b>well</b> played");
  await over.getByRole("button", { name: "Send" }).click();
  await waitFor("chat is text, not markup", async () => (await over.locator(".said li").innerText()) === "white: <b>well</b> played" || (await over.locator(".said li").innerText()) === "black: <b>well</b> played");

  // The page draws whatever a position says: a board of 11 by 12 with terrain, stacks and numbers.
  await over.evaluate(async () => {
    const { Board } = await import("/page/board.js");
    const piece = (id, square, kind, letter, side, facts = {}) => ({ id, square, kind, letter, side, facts });
    const pieces = [
      piece(1, "f1", "commander", "c", 1), piece(2, "c4", "infantry", "i", 0), piece(3, "c4", "tank", "t", 0),
      piece(4, "h9", "navy", "n", 1, { hp: "3", shield: "1" }), piece(5, "h9", "air_force", "f", 1), piece(6, "h9", "tank", "t", 1),
      piece(7, "e6", "queen", "q", 0, { hp: "12", stamina: "2", "rage.level": "4" }), piece(8, "k12", "headquarter", "h", 2),
    ];
    const river = Array.from({ length: 11 }, (_, at) => [`${String.fromCharCode(97 + at)}6`, `${String.fromCharCode(97 + at)}7`]).flat();
    const sea = Array.from({ length: 12 }, (_, at) => [`a${at + 1}`, `b${at + 1}`]).flat();
    const board = new Board({ onSquare: () => {} });
    board.draw({ files: 11, ranks: 12, pieces, marks: [{ name: "river", squares: river }, { name: "sea", squares: sea }], checks: ["f1"] },
      { flipped: false, selected: "e6", targets: new Map([["e9", {}], ["h9", {}]]), last: ["c3", "c4"], lit: new Set(["e7", "e8"]), sides: ["red", "blue", "green"] });
    document.querySelector(".board").replaceChildren(board.root);
  });
  check("a board of 11 by 12 has all its squares", (await over.locator("[data-square]").count()) === 132);
  check("a stack is read out", (await square(over, "c4").getAttribute("aria-label")) === "c4, red infantry, red tank");
  check("numbers are read out", /queen, hp 12, stamina 2, rage.level 4/.test(await square(over, "e6").getAttribute("aria-label")));
  await shot(over, "any-board");

  // By keyboard alone.
  await sit(over, await make({ game: "chess" }));
  await over.locator('[data-square="a1"]').focus();
  for (const key of ["ArrowUp", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "Enter", "ArrowUp", "ArrowUp", "Enter"]) await over.keyboard.press(key);
  await waitFor("e2e4 by keyboard", async () => (await over.locator(".list .move").first().innerText()) === "e4");
  check("squares have names to be read out", (await square(over, "e4").getAttribute("aria-label")) === "e4, white pawn");

  // Rules of one's own: a mistake is shown, then it compiles and is played.
  await over.goto(`${address}/rules`);
  await waitFor("the example compiles", async () => (await over.locator("#found .yes").count()) === 1);
  const text = await over.locator("#rules").inputValue();
  await over.locator("#rules").fill(text.replaceAll("leap(", "leep("));
  await waitFor("a mistake is shown", async () => (await over.locator(".diagnostics li").count()) > 0);
  await shot(over, "rules-mistake");
  await over.locator("#rules").fill(text);
  await waitFor("it compiles again", async () => (await over.locator("#found .yes").count()) === 1);
  await over.getByRole("button", { name: "Play it" }).click();
  await over.waitForURL(/\/game\//);
  await square(over, "f1").click();
  await square(over, "g3").click();
  await waitFor("a bishop leaps like a knight", async () => (await over.locator(".list .move").count()) === 1);
  await shot(over, "archbishops");
  check(`no script has failed${faults.length ? `: ${faults.join("; ")}` : ""}`, faults.length === 0);
}

const finished = async (page) => (await page.getByRole("button", { name: "Rematch" }).count()) > 0;

/** Plays something, captures first, so that the game comes to an end. */
async function anyMove(page) {
  const before = await page.locator(".list .move").count();
  const id = page.url().split("/").pop();
  const played = await page.evaluate(async (game) => {
    const token = localStorage.getItem(`seat:${game}`);
    const headers = { authorization: `Bearer ${token}` };
    const state = await (await fetch(`/api/v1/games/${game}`, { headers })).json();
    const taken = new Set(state.position.pieces.map((it) => it.square));
    const legal = state.position.legal;
    const captures = legal.filter((it) => taken.has(it.to));
    const from = captures.length ? captures : legal;
    const one = from[(state.ply * 7) % from.length];
    if (!one) return false;
    const answer = await fetch(`/api/v1/games/${game}/moves`, { method: "POST", headers, body: JSON.stringify({ uci: one.uci, expected_ply: state.ply }) });
    return answer.ok;
  }, id);
  if (played) await page.waitForFunction((count) => document.querySelectorAll(".list .move").length > count, before, { timeout: 15000 });
}

try {
  await main();
  console.log(`e2e: ${passed} checks passed`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await browser.close();
  server.kill("SIGTERM");
}
