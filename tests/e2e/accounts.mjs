// Accounts in browsers: made and logged in by clicks, one seat played from two devices, a rated game to its end, logging
// out; what keeps a chat civil; games in frames of other pages. Guests play as before, which the other browser tests show.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/accounts.mjs target/debug/rulemate target/e2e
//
// Ends with `accounts: N checks passed`, or with the first that did not.

import { createServer } from "node:http";

import { accessible, address, check, drawn, faults, pair, person, run, serve, shot, square, verdict, waitFor } from "./people.mjs";

/** Makes an account by clicks; its codes. */
async function join(page, name) {
  await page.goto(`${address}/`);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("#account-name").fill(name);
  await page.getByRole("button", { name: "Go on" }).click();
  const codes = (await page.locator(".codes").innerText()).split("\n");
  if (name === "Ann") await shot(page, "account-codes");
  await page.getByRole("button", { name: "I have kept them" }).click();
  await page.locator("#me").waitFor();
  return codes;
}

/** One move by clicks. */
async function step(page, from, to) {
  const count = await page.locator(".list .move").count();
  await square(page, from).click();
  await square(page, to).click();
  await page.waitForFunction((want) => document.querySelectorAll(".list .move").length === want, count + 1, { timeout: 20000 });
}

const seen = (page, count) => page.waitForFunction((want) => document.querySelectorAll(".list .move").length === want, count, { timeout: 20000 });

/** Two guests: one switches the chat off, and reports the game. */
async function civility(ann, ben) {
  await pair(ann, ben, { game: "chess", chat: true });
  await ben.getByLabel("Message").fill("something rude");
  await ben.getByRole("button", { name: "Send" }).click();
  await waitFor("a message comes", async () => /rude/.test(await ann.locator(".said").innerText()));
  await ann.getByRole("button", { name: "Report" }).click();
  await ann.locator("#report").fill("The other one is rude.");
  await ann.getByRole("button", { name: "Send to those who run this server" }).click();
  await waitFor("a report is taken", async () => /a person will read it/.test(await ann.locator("dialog").innerText()));
  await ann.getByRole("button", { name: "Done" }).click();
  await ann.getByRole("button", { name: "Chat off" }).click();
  await ann.getByRole("button", { name: "Switch the chat off" }).click();
  for (const it of [ann, ben]) await waitFor("the chat is off for both", async () => /The chat is off/.test(await it.locator(".talk").innerText()) && (await it.getByLabel("Message").count()) === 0);
  await shot(ann, "chat-off");
}

/** A game in a frame of another page: it is seen live, and lets nobody act. */
async function framed(page) {
  let [inside, element] = ["", ""];
  const host = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(`<!doctype html><title>A club</title><h1>Our games</h1><iframe id="plain" title="Game" src="${inside}" width="420" height="640"></iframe>${element}`));
  await new Promise((done) => host.listen(0, "127.0.0.1", done));
  const club = `http://127.0.0.1:${host.address().port}`;
  const listed = await serve("--embed", club);
  const post = async (path, body, token) => (await fetch(`${listed.address}/api/v1${path}`, { method: "POST", headers: token ? { authorization: `Bearer ${token}` } : {}, body: JSON.stringify(body) })).json();
  const open = await post("/games", { game: "chess" });
  inside = `${listed.address}/embed/game/${open.id}`;
  element = `<script src="${listed.address}/page/embed.js" async></script><rulemate-game game="${open.id}" label="The final" height="500"></rulemate-game>`;
  await page.goto(club);
  const frame = page.frameLocator("#plain");
  await frame.locator("svg.board").waitFor();
  await frame.locator('[data-square="e2"]').click();
  await frame.locator('[data-square="e4"]').click();
  await post(`/games/${open.id}/moves`, { uci: "d2d4" });
  await waitFor("a game in a frame is live", async () => /pawn/.test(await frame.locator('[data-square="d4"]').getAttribute("aria-label")));
  check("and nobody acts there, not even on an open board", (await fetch(`${listed.address}/api/v1/games/${open.id}`).then((it) => it.json())).ply === 1 && (await frame.getByRole("button", { name: /Resign|Draw|Takeback|Presets/ }).count()) === 0);
  await shot(page, "framed");
  const inElement = page.frameLocator("rulemate-game iframe");
  await inElement.locator('[data-square="d4"]').waitFor();
  await waitFor("it stands there as an element, too", async () => (await page.locator("rulemate-game iframe").getAttribute("title")) === "The final");
  [inside, element] = [`${listed.address}/game/${open.id}`, ""];
  await page.goto(club);
  await page.waitForTimeout(500);
  check("what lets people act stands in no frame", (await frame.locator("svg.board").count()) === 0);
  inside = `${address}/embed/game/${open.id}`;
  await page.goto(club);
  await page.waitForTimeout(500);
  check("nor does a game of a server that does not list the page", (await frame.locator("main").count()) === 0);
  // That the browser says so is what was wanted.
  const wanted = faults.filter((it) => !it.includes("frame-ancestors"));
  faults.splice(0, faults.length, ...wanted);
  host.close();
}

/** A game with variations in variations, comments and glyphs. */
const NOTED = `[Event "Lessons of a short game"]

{White opens the king's side.} 1. e4 e5 2. Nf3 Nc6 (2... d6 {Solid.} 3. d4 exd4 (3... Nf6!? 4. dxe5) 4. Nxd4)
3. Bc4 Nd4?! {Black lays a trap.} 4. Nxe5?? (4. Nxd4! exd4 5. O-O $16 {White is better.}) 4... Qg5 5. Nxf7 Qxg2
6. Rf1 Qxe4+ 7. Be2 Nf3# {Smothered.} 0-1`;

/** A study is made of a PGN by pasting it: a broken one is refused with its place, a whole one is gone through. */
async function pasted(owner, guest) {
  await owner.getByText("Make a study of a PGN").click();
  const field = owner.locator("#study-pgn");
  const refused = async (what, pgn, sentence) => {
    await field.fill(pgn);
    await owner.getByRole("button", { name: "Make the study" }).click();
    await waitFor(what, async () => sentence.test(await owner.locator('[aria-label="My studies"] .error').innerText()));
  };
  await refused("an illegal move is refused with its line", NOTED.replace("5. Nxf7", "5. Nxf8"), /^Line 4, column \d+: Nxf8: not legal: the white knight on \w+ does not reach f8$/);
  await refused("a variation without an end is refused with its line", NOTED.replace("4. Nxd4)\n", "4. Nxd4\n"), /^Line 3, column \d+: .*has no end/);
  await refused("nothing is refused", " ", /\w/);
  await shot(owner, "study-pgn");
  await accessible(owner, "a PGN that is refused");
  await field.fill(NOTED);
  await owner.getByRole("button", { name: "Make the study" }).click();
  await owner.waitForURL(/\/study\//);
  await owner.locator(".tree .move").first().waitFor();
  await waitFor("it has its title", async () => (await owner.locator(".title h1").innerText()) === "Lessons of a short game");
  const tree = await owner.locator(".tree").innerText();
  check("its comments and glyphs are shown", ["Solid.", "Black lays a trap.", "Smothered.", "Nd4?!", "Nxe5??", "Nf6!?", "Nf3#"].every((it) => tree.includes(it)) && /O-O ±/.test(tree));
  await waitFor("its variations are within each other", async () => (await owner.locator(".tree .variation").count()) === 3 && (await owner.locator(".tree .variation .variation").count()) === 1);
  await waitFor("and what is said at the start", async () => /opens the king/.test(await owner.locator("#comment").inputValue()));

  // By keys down the main line, and by a click into a variation.
  await owner.locator(".tree").focus();
  const current = () => owner.locator(".tree .current").innerText();
  for (const san of ["e4", "e5", "Nf3", "Nc6", "Bc4", "Nd4?!"]) {
    await owner.keyboard.press("ArrowRight");
    await waitFor(`the next is ${san}`, async () => (await owner.locator(".tree .current").count()) === 1 && (await current()) === san);
  }
  const alt = { key: "ArrowLeft", altKey: true, bubbles: true, cancelable: true };
  await waitFor("Alt and an arrow are the browser's", () => owner.evaluate((it) => document.body.dispatchEvent(new KeyboardEvent("keydown", it)), alt));
  await owner.keyboard.press("End");
  await waitFor("the last of the main line", async () => (await current()) === "Nf3#" && /checkmate/i.test(await verdict(owner)));
  await owner.locator(".tree .variation .variation .move").first().click();
  await waitFor("a variation in a variation", async () => (await current()) === "Nf6!?" && /knight/.test(await square(owner, "f6").getAttribute("aria-label")));
  await owner.keyboard.press("ArrowLeft");
  await waitFor("goes back to where it leaves", async () => (await current()) === "d4");
  await shot(owner, "study-of-pgn");
  await accessible(owner, "a study of a PGN");
  await guest.goto(owner.url());
  await waitFor("others see it", async () => (await guest.locator(".tree .current").count()) === 1);
  await waitFor("on a phone, all of it", async () => await guest.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await shot(guest, "study-of-pgn-phone");
  await owner.emulateMedia({ colorScheme: "dark" });
  await guest.emulateMedia({ colorScheme: "dark" });
  await shot(owner, "study-of-pgn-dark");
  await shot(guest, "study-of-pgn-phone-dark");
  await accessible(owner, "a study in the dark");
  await owner.emulateMedia({ colorScheme: "light" });
  await guest.emulateMedia({ colorScheme: "light" });
  const pgn = await (await fetch(new URL(await owner.locator(".title a", { hasText: "PGN" }).getAttribute("href"), address))).text();
  check("it is given away as it came", ["(2... d6 {Solid.}", "3... Nf6", "$16", "{Smothered.}"].every((it) => pgn.replace(/\s+/g, " ").includes(it)));
}

/** A game that is over becomes a study, with a variation and a comment; others see it by its link, and change nothing. */
async function study(owner, guest) {
  await owner.getByRole("button", { name: "Study this game" }).click();
  await owner.locator(".tree .move").first().waitFor();
  await waitFor("a study has what was played", async () => (await owner.locator(".tree .move").allInnerTexts()).join(" ") === "f3 e5 g4 Qh4#");
  await owner.locator(".tree .move").nth(1).click();
  await waitFor("a position of it is shown", async () => /White to move/.test(await verdict(owner)));
  await square(owner, "g1").click();
  await square(owner, "h3").click();
  await waitFor("what is played is a variation", async () => (await owner.locator(".tree .variation").innerText()).includes("Nh3"));
  await owner.locator("#comment").fill("This holds.");
  await owner.getByRole("button", { name: "Keep the comment" }).click();
  await waitFor("a comment is kept", async () => /This holds/.test(await owner.locator(".tree").innerText()));
  await shot(owner, "study");
  await accessible(owner, "a study");
  await guest.goto(owner.url());
  await waitFor("others see it at the same place", async () => /This holds/.test(await guest.locator(".comment").innerText()) && /knight/.test(await square(guest, "h3").getAttribute("aria-label")));
  await guest.getByRole("button", { name: "One back" }).click();
  await waitFor("and go through it", async () => (await guest.locator(".tree .current").innerText()) === "e5");
  await square(guest, "d2").click();
  await square(guest, "d4").click();
  check("but change nothing", (await guest.locator("#comment").count()) === 0 && !(await guest.locator(".tree").innerText()).includes("d4"));
  await shot(guest, "study-phone");
  await owner.getByRole("button", { name: "Remove from here" }).click();
  await owner.getByRole("button", { name: "Remove it" }).click();
  await waitFor("a variation is removed", async () => !(await owner.locator(".tree").innerText()).includes("Nh3"));
}

/** Presets are called by their names, and long words break. */
async function wording(owner, guest) {
  const { token } = await owner.evaluate(() => JSON.parse(localStorage.getItem("account")));
  const post = async (path, body) => (await fetch(`${address}/api/v1${path}`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(body) })).json();
  const word = "Donaudampfschifffahrtsgesellschaft".repeat(2);
  const made = await post("/studies", { game: "chess", presets: ["coregal:white", "piece-hp:both:hp=3"], title: word.slice(0, 60) });
  const game = await post("/games", { game: "chess", presets: ["coregal:white"], seat: "both" });
  for (const page of [owner, guest]) {
    await page.goto(`${address}/study/${made.id}`);
    await waitFor("a study calls its presets by their names", async () => (await page.locator(".title .hint").innerText()).startsWith("Chess with Coregal for white, Hit points, by "));
    await waitFor("a long word is not wider than the window", () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  }
  await owner.locator("#comment").fill(word);
  await owner.getByRole("button", { name: "Keep the comment" }).click();
  await waitFor("a comment is kept", () => owner.evaluate(() => document.getElementById("status").textContent === "The comment is kept."));
  check("and the focus stays", await owner.evaluate(() => document.activeElement.textContent === "Keep the comment"));
  await owner.goto(`${address}/user/Ann`);
  await waitFor("so do one's own games", async () => (await owner.locator(`[href="/game/${game.id}"]`).innerText()) === "Chess with Coregal for white");
  await waitFor("the window is called by the player", async () => (await owner.title()) === "Ann – Rulemate");
  const short = await post("/games", { game: "chess", presets: ["coregal", "piece-hp:both:turns=1"], seat: "both" });
  await owner.goto(`${address}/game/${short.id}`);
  await waitFor("a game's title has its presets", async () => /Coregal.*Hit points/.test(await owner.locator(".title").innerText()));
  for (const uci of ["e2e4", "e7e5"]) await post(`/games/${short.id}/moves`, { uci });
  await waitFor("until they end", async () => /Coregal/.test(await owner.locator(".title").innerText()) && !/Hit points/.test(await owner.locator(".title").innerText()));
}

/** Two who look for an opponent for the same game find each other; who stops looking leaves no game behind. */
async function opponents(ann, ben) {
  const look = async (page) => {
    await page.goto(`${address}/`);
    await page.getByRole("button", { name: "Find an opponent" }).click();
    await page.locator("#quick-game").selectOption("knightmate");
    await page.getByRole("button", { name: "Look for an opponent" }).click();
  };
  const waiting = async () => (await (await fetch(`${address}/api/v1/games?state=waiting`)).json()).filter((it) => it.game === "knightmate");
  await look(ann);
  await waitFor("who looks for an opponent waits in a game", async () => (await waiting()).length === 1);
  await shot(ann, "looking");
  await accessible(ann, "looking for an opponent");
  await ann.getByRole("button", { name: "Stop looking" }).click();
  await waitFor("who stops looking leaves no game behind", async () => (await waiting()).length === 0);
  await look(ann);
  await look(ben);
  for (const it of [ann, ben]) await drawn(it);
  await waitFor("two who look for the same meet", async () => ann.url() === ben.url() && /rated/.test(await ann.locator(".title").innerText()));
}

/** Correspondence: days for every turn, and a list of games that says where one is to move. */
async function byPost(ann, ben) {
  await ann.goto(`${address}/`);
  await ann.getByRole("button", { name: "Play a friend" }).click();
  await ann.locator("#quick-game").selectOption("chess");
  await ann.locator("#quick-time").selectOption({ label: "3 days a turn" });
  await ann.getByRole("button", { name: "Make the link" }).click();
  await drawn(ann);
  await waitFor("a game says how long a turn may take", async () => /3 days a turn/.test(await ann.locator(".title").innerText()));
  await ben.goto(ann.url());
  await ben.getByRole("button", { name: /^Play (white|black)/ }).click();
  await waitFor("both have three days", async () => (await ben.locator(".clock").allInnerTexts()).join() === "3 d 0 h,3 d 0 h");
  const [white, black] = /you/.test(await ann.locator(".seats", { hasText: "White" }).innerText()) ? [ann, ben] : [ben, ann];
  await waitFor("the other side is there", async () => (await white.locator(".square").count()) === 64 && !(await white.locator(".offer").count()));
  await step(white, "e2", "e4");
  await seen(black, 1);
  await waitFor("a turn's time runs", async () => (await black.locator(".clock.runs").innerText()) === "2 d 23 h");
  for (const [page, name, says] of [[white, white === ann ? "Ann" : "Ben", /1 move, black to move/], [black, white === ann ? "Ben" : "Ann", /1 move, your move, 2 d 23 h left/]]) {
    await page.goto(`${address}/user/${name}`);
    await waitFor("one's own games say whose turn it is", async () => says.test(await page.locator('[aria-label="My games"] tbody').innerText()));
  }
  await shot(black, "by-post");
  // It was Ann who stopped looking for an opponent; Ben has no such game.
  const called = await ann.locator('[aria-label="My games"]').innerText();
  check("a game that was called off says no more", /aborted/.test(called) && !/none by/.test(called));
}

/** A link may ask for a colour, and rules that are written on the page are kept for the account. */
async function coloured(ann) {
  const made = await (await fetch(`${address}/api/challenge/open`, { method: "POST" })).json();
  const offered = ann.getByRole("button", { name: /^Play (white|black)/ });
  for (const [url, names] of [[`/game/${made.id}`, ["Play white", "Play black"]], [made.urlBlack, ["Play black"]], [made.urlWhite, ["Play white"]]]) {
    await ann.goto(address + url);
    await drawn(ann);
    await waitFor(`${names.join(" and ")} is offered`, async () => (await offered.allInnerTexts()).join() === names.join());
  }
  await ann.goto(`${address}/rules`);
  await waitFor("the example compiles", async () => (await ann.locator("#found .yes").count()) === 1);
  await ann.getByRole("button", { name: "Set up a game with it" }).click();
  await ann.waitForURL(/rules=/);
  const kept = await ann.evaluate(async () => (await fetch("/api/v1/rules", { headers: { authorization: `Bearer ${JSON.parse(localStorage.getItem("account")).token}` } })).json());
  check("rules are the account's", kept.length === 1 && kept[0].name === "archbishops");
  await ann.goto(`${address}/`);
}

run("accounts", async () => {
  const [ann, desk, ben, guest] = [await person("ann"), await person("ann at her desk"), await person("ben"), await person("guest", { width: 390, height: 664 })];
  const codes = await join(ann, "Ann");
  check("an account has eight codes", codes.length === 8 && codes.every((it) => /^\w{5}-\w{5}-\w{5}$/.test(it)));
  await waitFor("the head of the page says who is logged in", async () => (await ann.locator("#me").innerText()) === "Ann");
  await join(ben, "Ben");
  await coloured(ann);

  // A rated game, by a link.
  await ann.getByRole("button", { name: "Play a friend" }).click();
  await ann.locator("#quick-rated").check();
  await ann.getByRole("button", { name: "Make the link" }).click();
  await drawn(ann);
  const link = ann.url();
  await waitFor("the game says that it is rated", async () => /rated/.test(await ann.locator(".title").innerText()));
  await guest.goto(link);
  await drawn(guest);
  check("a guest is asked to log in", await guest.getByRole("button", { name: "Log in to play" }).isVisible() && (await guest.getByRole("button", { name: /^Play (white|black)/ }).count()) === 0);
  await shot(guest, "rated-guest");
  await ben.goto(link);
  await drawn(ben);
  await waitFor("who joins is told that it is rated", async () => /rated/.test(await ben.locator(".offers").innerText()));
  await ben.getByRole("button", { name: /^Play (white|black)/ }).click();
  await waitFor("Ben sits", async () => /Ben/.test(await ben.locator(".seats.bottom").innerText()));

  // The same seat from another device.
  await desk.goto(`${address}/`);
  await desk.getByRole("button", { name: "Log in" }).click();
  await desk.locator("#account-name").fill("ann");
  await desk.locator("#account-code").fill("aaaaa-aaaaa-aaaaa");
  await desk.getByRole("button", { name: "Go on" }).click();
  await waitFor("a wrong code is refused with a sentence", async () => /No account of this name/.test(await desk.locator("dialog .error").innerText()));
  await desk.locator("#account-code").fill(codes[0]);
  await desk.getByRole("button", { name: "Go on" }).click();
  await desk.locator("#me").click();
  await desk.locator(".mine a").first().click();
  await drawn(desk);
  await waitFor("it is her game there, too", async () => /Ann.*\(you\)/.test(await desk.locator(".seats").allInnerTexts().then((it) => it.join(" "))));

  // Fool's mate: White loses, whoever of the two has it, and Ann plays from two devices by turns.
  const white = (await verdict(ann)).startsWith("White") && await ann.evaluate(() => document.querySelector(".seats.bottom").innerText.startsWith("White"));
  const own = [ann, desk];
  let hers = 0;
  for (const [at, [from, to]] of [["f2", "f3"], ["e7", "e5"], ["g2", "g4"], ["d8", "h4"]].entries()) {
    const isAnn = (at % 2 === 0) === white;
    await step(isAnn ? own[hers++ % 2] : ben, from, to);
    for (const it of [ann, desk, ben]) await seen(it, at + 1);
  }
  for (const it of [ann, desk, ben]) await waitFor("the end is seen", async () => /Black wins: checkmate/.test(await verdict(it)));
  for (const it of [ann, ben]) await waitFor("what became of ratings is told", async () => /\+162/.test(await it.locator(".rated").innerText()) && /−162/.test(await it.locator(".rated").innerText()));
  await shot(ann, "rated-over");
  await study(ann, guest);
  await ann.locator("#me").click();
  await waitFor("her page leads to her studies", async () => /A study of Chess/.test(await ann.locator('[aria-label="My studies"]').innerText()));
  await waitFor("her page has her rating", async () => /1662|1338/.test(await ann.locator('[aria-label="Ratings"]').innerText()));
  await waitFor("and her devices", async () => (await ann.locator(".devices li").count()) === 2);
  await shot(ann, "account");
  await pasted(ann, guest);
  await ann.locator("#me").click();
  await ann.locator('[aria-label="My studies"]').waitFor();
  await accessible(ann, "one's own page");
  await guest.goto(`${address}/user/Ann`);
  await waitFor("all see the rating", async () => /1662|1338/.test(await guest.locator('[aria-label="Ratings"]').innerText()));
  check("and nothing of the devices", (await guest.locator(".devices").count()) === 0);
  await shot(guest, "player-phone");

  await wording(ann, guest);
  await opponents(ann, ben);
  await byPost(ann, ben);
  await ann.goto(`${address}/user/Ann`);

  await ben.goto(`${address}/user/Ann`);
  await ben.getByRole("button", { name: "Block this player" }).click();
  await waitFor("a player is blocked", () => ben.getByRole("button", { name: "Play with this player again" }).isVisible());

  // The other device is logged out: it goes on as a guest.
  await ann.getByRole("button", { name: "Log it out" }).click();
  await waitFor("it is gone from the list", async () => (await ann.locator(".devices li").count()) === 1);
  await desk.reload();
  await drawn(desk);
  await desk.goto(`${address}/`);
  await waitFor("who was logged out elsewhere is a guest", () => desk.getByRole("button", { name: "Log in" }).isVisible());
  await ann.getByRole("button", { name: "Log out", exact: true }).click();
  await waitFor("who logs out is a guest", () => ann.getByRole("button", { name: "Log in" }).isVisible());

  await civility(ann, guest);
  await framed(desk);
});
