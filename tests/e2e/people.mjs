// What browser tests have in common: a real server, people in headless Chromium, games made by the API.
//
//   npm install --prefix /tmp/e2e playwright-core axe-core     (once; Chromium comes from Debian)
//
// With PAGE=src/server/page the page's files come from there instead of from the binary. With NODES=postgres://... there
// are two nodes on that store, and a proxy that sends each request and each socket to the other one than the last.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(join(process.env.NODE_PATH || ".", "x.js"));
export { require };
const { chromium } = require("playwright-core");
const [binary, shots] = process.argv.slice(2);
let passed = 0;

export function check(what, holds) {
  if (!holds) throw new Error(`failed: ${what}`);
  passed += 1;
  console.log(`ok ${what}`);
}

const servers = [];

/** A server on a store of its own, with more options. */
export const serve = (...more) => serveOn(join(mkdtempSync(join(tmpdir(), "rulemate-e2e-")), "games.db"), ...more);

async function serveOn(store, ...more) {
  const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--store", store, "--uploads", "--log", "warn", ...more], { stdio: ["ignore", "pipe", "inherit"] });
  servers.push(server);
  const address = await new Promise((found) => server.stdout.once("data", (text) => found(String(text).split("\n")[0])));
  return { address: address.replace(/\/$/, "") };
}

/** Two nodes on one store behind a proxy that takes them by turns. */
async function serveByTurns(store) {
  const nodes = [await serveOn(store), await serveOn(store)].map((it) => new URL(it.address));
  let count = 0;
  const next = () => nodes[count++ % nodes.length];
  const proxy = createServer((asked, answer) => {
    const { hostname, port } = next();
    const passed = request({ hostname, port, method: asked.method, path: asked.url, headers: asked.headers }, (told) => {
      answer.writeHead(told.statusCode, told.rawHeaders);
      told.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  });
  proxy.on("upgrade", (asked, socket, head) => {
    const { hostname, port } = next();
    const other = connect(port, hostname, () => {
      const lines = asked.rawHeaders.flatMap((it, at, all) => (at % 2 ? [] : [`${it}: ${all[at + 1]}`]));
      other.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      other.write(head);
      other.pipe(socket).pipe(other);
    });
    for (const [one, its] of [[socket, other], [other, socket]]) one.on("error", () => its.destroy()).on("close", () => its.destroy());
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  proxy.unref();
  servers.push({ kill: () => (proxy.closeAllConnections(), proxy.close()) });
  return { address: `http://127.0.0.1:${proxy.address().port}` };
}

const { address } = process.env.NODES ? await serveByTurns(process.env.NODES) : await serve();
export { address };
// A browser each: a process of its own, as people have.
const browsers = [];
async function browser() {
  const one = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-features=LocalNetworkAccessChecks"],
  });
  browsers.push(one);
  return one;
}
mkdirSync(shots, { recursive: true });

export const faults = [];
export async function person(name, size = { width: 1400, height: 900 }, more = {}) {
  const context = await (await browser()).newContext({ viewport: size, ...more });
  if (process.env.PAGE) {
    await context.route("**/page/*", (route) => {
      const file = route.request().url().split("/").pop();
      const type = { js: "text/javascript", css: "text/css", svg: "image/svg+xml" }[file.split(".").pop()];
      return route.fulfill({ body: readFileSync(join(process.env.PAGE, file)), contentType: type });
    });
    await context.route(/^http:..[^/]*\/(about\/.*|embed\/.*|game\/.*|user\/.*|study\/.*|tournament\/.*|rules|\?.*)?$/, (route) => route.fulfill({ body: readFileSync(join(process.env.PAGE, "index.html")), contentType: "text/html" }));
  }
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  page.on("pageerror", (error) => faults.push(`${name}: ${error.message}`));
  page.on("console", (said) => { if (said.type() === "error" && !/4\d\d|ERR_FAILED/.test(said.text())) faults.push(`${name}: ${said.text()}`); });
  return page;
}

export const square = (page, name) => page.locator(`[data-square="${name}"]`);
export const shot = (page, name) => page.screenshot({ path: join(shots, `${name}.png`) });
export const verdict = (page) => page.locator(".state .verdict").innerText();

/** What the page shows comes over a socket, so it is asked for again until it is there. For what has to be so at once: `check`. */
export async function waitFor(what, test) {
  const last = Date.now() + 20000;
  while (!(await test().catch(() => false))) {
    if (Date.now() > last) return check(what, false);
    await new Promise((wake) => setTimeout(wake, 100));
  }
  check(what, true);
}

export async function move(page, other, from, to, choice) {
  const count = await page.locator(".list .move").count();
  await square(page, from).click();
  await square(page, to).click();
  if (choice) await page.getByRole("button", { name: choice, exact: true }).click();
  for (const it of [page, other]) await waitFor(`${from}${to} is on the board`, async () => (await it.locator(".list .move").count()) === count + 1);
}

/** A finished game is reached by the API: `moves` in UCI, for both seats. */
export async function make(body, moves = []) {
  const made = await (await fetch(`${address}/api/v1/games`, { method: "POST", body: JSON.stringify({ seat: "both", ...body }) })).json();
  if (!made.id) throw new Error(JSON.stringify(made));
  for (const uci of moves) {
    const answer = await fetch(`${address}/api/v1/games/${made.id}/moves`, { method: "POST", headers: { authorization: `Bearer ${made.token}` }, body: JSON.stringify({ uci }) });
    if (!answer.ok) throw new Error(`${uci}: ${await answer.text()}`);
  }
  return made;
}

/** The lobby, with what it folds away. */
export async function lobby(page, query = "") {
  await page.goto(`${address}/${query}`);
  await page.locator(".quick").waitFor();
  await page.locator("details.fold:not(.tournaments)").evaluate((it) => { it.open = true; });
}

export async function sit(page, made) {
  await page.goto(`${address}/`);
  await page.evaluate(([id, token]) => localStorage.setItem(`seat:${id}`, token), [made.id, made.token]);
  await page.goto(`${address}/game/${made.id}`);
  await drawn(page);
}

/** Waits until a game is drawn. */
export async function drawn(page) {
  await page.locator("svg.board").waitFor();
  await page.locator(".moves .list").waitFor({ state: "attached" });
}

/** Two people at one game, made by the API: each has a seat. */
export async function pair(first, second, body) {
  const post = async (path, what) => (await fetch(`${address}/api/v1${path}`, { method: "POST", body: JSON.stringify(what) })).json();
  const made = await post("/games", { seat: "white", ...body, name: "Ann" });
  if (!made.id) throw new Error(JSON.stringify(made));
  const joined = await post(`/games/${made.id}/join`, { name: "Ben" });
  for (const [page, token] of [[first, made.token], [second, joined.token]]) await sit(page, { id: made.id, token });
  return made.id;
}

/** Plays moves by clicks, each on the page of whose turn it is, seen on both. */
export async function playAll(pages, moves) {
  for (const uci of moves.split(" ")) {
    const count = await pages[0].locator(".list .move").count();
    const white = (await verdict(pages[0])).startsWith("White");
    const page = pages[white ? 0 : 1];
    const [, from, to] = uci.match(/^([a-z]\d+)([a-z]\d+)/);
    await square(page, from).click();
    await square(page, to).click();
    for (const it of pages) await it.waitForFunction((want) => document.querySelectorAll(".list .move").length === want, count + 1, { timeout: 20000 });
  }
}

/** Axe finds nothing. */
export async function accessible(page, what) {
  await page.evaluate(require("axe-core").source);
  const found = await page.evaluate(() => window.axe.run());
  check(`${what}: ${found.violations.map((it) => it.id).join(", ") || "no violation"}`, found.violations.length === 0);
}

/** Where a square is in the window, which is scrolled to it if need be: read in one go, for squares are drawn anew. */
export const boxOf = (page, name) => page.evaluate((wanted) => {
  const cell = document.querySelector(`[data-square="${wanted}"]`);
  const seen = (box) => box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
  if (!seen(cell.getBoundingClientRect())) cell.scrollIntoView({ block: "center" });
  const { x, y, width, height } = cell.querySelector(".tile").getBoundingClientRect();
  return { x, y, width, height };
}, name);

/** The middle of a square in the window. */
export async function middle(page, name) {
  const box = await boxOf(page, name);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Drags with the mouse; `offset` of the place where it is picked up, in parts of a square. */
export async function drag(page, from, to, offset = [0, 0]) {
  const size = (await boxOf(page, from)).width;
  const [x, y] = await middle(page, from);
  const [u, v] = await middle(page, to);
  await page.mouse.move(x + offset[0] * size, y + offset[1] * size);
  await page.mouse.down();
  await page.mouse.move((x + u) / 2, (y + v) / 2, { steps: 3 });
  await page.mouse.move(u, v, { steps: 3 });
  await page.mouse.up();
}

/** Runs a test, ends all that was begun, and says how many checks passed. */
export async function run(name, main) {
  try {
    await main();
    check(`no script has failed${faults.length ? `: ${faults.join("; ")}` : ""}`, faults.length === 0);
    console.log(`${name}: ${passed} checks passed`);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    for (const it of browsers) await it.close();
    for (const it of servers) it.kill("SIGTERM");
  }
}
