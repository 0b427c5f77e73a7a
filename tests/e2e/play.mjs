// Two people play in two browsers, end to end, by clicks. Every game is played to the end that its rules give; pictures
// are left where the second argument says.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/play.mjs target/debug/rulemate target/e2e
//
// Ends with `e2e: N checks passed`, or with the first that did not.

import { readFileSync } from "node:fs";

import { address, check, lobby, make, move, pair, person, playAll, run, shot, sit, square, verdict, waitFor } from "./people.mjs";

/** Games of two people in two browsers, to the end that their rules give. */
async function wholeGames(ann, ben) {
  await pair(ann, ben, { game: "knightmate" });
  await playAll([ann, ben], "h2h3 e7e5 e1d3 c7c6 a2a4 e5e4 d3f4 d8g5");
  for (const it of [ann, ben]) await waitFor("knightmate ends by its rules", async () => /Black wins: checkmate/.test(await verdict(it)));
  await waitFor("the royal knight is shown attacked", async () => /attacked/.test(await square(ben, "f4").getAttribute("aria-label")));
  await shot(ben, "knightmate-over");

  await pair(ann, ben, { game: "coregal" });
  await playAll([ann, ben], "f2f3 e7e5 g2g4 d8h4");
  for (const it of [ann, ben]) await waitFor("coregal ends by its rules", async () => /Black wins: checkmate/.test(await verdict(it)));

  await pair(ann, ben, { game: "suicide" });
  await playAll([ann, ben], "c2c3 d7d5 d1c2 c8g4 c2h7 g4e2 h7g8 e2f1 g8f8 f1g2 f8g7 g2h1 g7f7 e8f7 a2a3 h8h2 g1e2 h2f2 e1f2 d8h8 e2d4 h8d4 c3d4 f7g6 f2g2 h1g2 a3a4 b8a6 b1c3 g6h5 c3d5 g2d5 a1a3 d5g2 a3h3 g2h3 a4a5 h3g2 d2d3 a8b8 b2b4 a6b4 c1e3 b4d3 e3d2 c7c5 d4c5 d3c5 d2h6 h5h6 a5a6 c5a6");
  for (const it of [ann, ben]) await waitFor("suicide ends by its rules", async () => /White wins/.test(await verdict(it)));
  await shot(ann, "suicide-over");
}

/** Hit points are switched on in the middle, by both. */
async function presetsInTheMiddle(ann, ben) {
  await pair(ann, ben, { game: "chess" });
  await playAll([ann, ben], "e2e4 d7d5");
  await ann.getByRole("button", { name: "Presets" }).click();
  const dialog = ann.locator("dialog");
  await dialog.getByLabel(/Double move/).first().check();
  await dialog.getByLabel(/^Monster/).first().check();
  await waitFor("a clash is explained", async () => /how many half-moves/.test(await dialog.locator(".error").first().innerText()));
  await shot(ann, "preset-clash");
  await dialog.getByLabel(/Double move/).first().uncheck();
  await dialog.getByLabel(/^Monster/).first().uncheck();
  await dialog.getByLabel(/^Hit points/).first().check();
  await waitFor("hit points alone go", async () => (await dialog.locator(".verdict .yes").count()) === 1);
  await shot(ann, "preset-picker");
  await dialog.getByRole("button", { name: "Ask for it" }).click();
  await waitFor("the opponent is asked", async () => /Hit points/.test(await ben.locator(".offer").innerText()));
  check("nothing has changed before", (await ben.locator(".badge").count()) === 0);
  await ben.getByRole("button", { name: "Accept" }).click();
  for (const it of [ann, ben]) await waitFor("hit points are on the board", async () => /, hp 2$/.test(await square(it, "e4").getAttribute("aria-label")));
  check("nothing is written on pieces that are as all others", (await ben.locator(".badge").count()) === 0);
  await playAll([ann, ben], "e4d5");
  await waitFor("the blow took one point", async () => (await square(ben, "d5").getAttribute("aria-label")) === "d5, black pawn, hp 1");
  for (const it of [ann, ben]) await waitFor("what it has lost is written on it", async () => (await it.locator(".badge").count()) === 1);
  check("the attacker stayed", (await square(ben, "e4").getAttribute("aria-label")).startsWith("e4, white pawn, hp 2"));
  await shot(ben, "hit-points");
}

/** A turn of two half-moves, whose first is undone. */
async function turnOfTwo(ann, ben) {
  await pair(ann, ben, { game: "double-move" });
  await playAll([ann, ben], "e2e4");
  await waitFor("the turn goes on", async () => /White goes on with the turn/.test(await verdict(ann)));
  check("the opponent cannot undo it", (await ben.getByRole("button", { name: "Undo" }).count()) === 0);
  await shot(ann, "double-move-undo");
  await ann.getByRole("button", { name: "Undo" }).click();
  for (const it of [ann, ben]) await waitFor("the first half is undone", async () => (await it.locator(".list .move").count()) === 0);
  await playAll([ann, ben], "d2d4 g1f3 d7d5 g8f6");
  for (const it of [ann, ben]) await waitFor("two turns of two are played", async () => /White to move/.test(await verdict(it)));
}

const GRIFFONS = `% griffons
.meta preset "griffons"
.meta name "Griffons"
.meta description "A piece that steps diagonally and goes on as a rook"
.domain Preset += { griffons }
`;

/** A preset from outside, with a piece of its own, set up and played. */
async function customPiece(page) {
  const griffon = readFileSync(new URL("../data/griffon/griffon.dl", import.meta.url), "utf8");
  await page.goto(`${address}/rules`);
  await page.locator("#rules").fill(GRIFFONS + griffon);
  await waitFor("the griffon compiles", async () => (await page.locator("#found .yes").count()) === 1);
  await page.getByRole("button", { name: "Set up a game with it" }).click();
  await page.waitForURL(/rules=/);
  await page.locator("svg.board").waitFor();
  await waitFor("the preset is chosen", async () => /Griffons/.test(await page.locator(".verdict .yes").innerText()));
  await page.locator("#fen").fill("4k3/8/8/8/3G4/8/8/4K3 w - - 0 1");
  await page.locator("#name").click();
  await waitFor("the griffon is drawn", async () => (await square(page, "d4").getAttribute("aria-label")) === "d4, white griffon");
  await page.locator("#seat").selectOption("both");
  await page.getByRole("button", { name: "Make the game" }).click();
  await page.waitForURL(/\/game\//);
  await square(page, "d4").click();
  await waitFor("its targets are shown", async () => (await page.locator(".dot").count()) > 8);
  await shot(page, "griffon");
  await square(page, "g5").click();
  await waitFor("the griffon has moved", async () => (await square(page, "g5").getAttribute("aria-label")) === "g5, white griffon");
}

/** A game that starts from facts, and one that is read from PGN. */
async function fromFactsAndPgn(page) {
  await lobby(page);
  await page.locator("svg.board").waitFor();
  await page.locator("#game").selectOption("piece-hp");
  await waitFor("the facts are there", async () => /, hp 2$/.test(await square(page, "a1").getAttribute("aria-label")));
  await page.getByRole("button", { name: "edit the position's facts" }).click();
  const facts = await page.locator("#fen").inputValue();
  check("facts are shown", facts.startsWith("{") && facts.includes('"hp"'));
  await page.locator("#fen").fill(facts.replace('"attribute":"hp","value":2', '"attribute":"hp","value":7'));
  await page.locator("#name").click();
  await waitFor("the changed fact is on the board", async () => (await page.locator(".badge", { hasText: /^hp: 7/ }).count()) === 1);
  await shot(page, "facts-editor");
  await page.locator("#seat").selectOption("both");
  await page.getByRole("button", { name: "Make the game" }).click();
  await page.waitForURL(/\/game\//);
  await waitFor("the game starts from it", async () => (await page.locator(".badge", { hasText: /^hp: 7/ }).count()) === 1);
  await lobby(page);
  await page.locator("#fen").fill('[Variant "Knightmate"]\n\n1. e4 e5 2. d4 exd4 *');
  await page.locator("#name").click();
  await waitFor("a PGN is read", async () => /tags say/.test(await page.locator(".verdict").innerText()));
  await page.locator("#seat").selectOption("both");
  await page.getByRole("button", { name: "Make the game" }).click();
  await page.waitForURL(/\/game\//);
  await waitFor("the game goes on from the PGN", async () => (await page.locator(".list .move").count()) === 4);
}

/** Answers that are lost or old, and a server that is not heard of: the page catches up, never goes back, and says so. */
async function badWeather() {
  const made = await make({ game: "chess" });
  const page = await person("flo");
  let silent = false;
  let resync = null;
  await page.routeWebSocket(/\/ws\/v1/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((said) => { if (!silent) server.send(said); });
    server.onMessage((said) => { if (!silent) socket.send(said); });
    resync = () => socket.send(JSON.stringify({ t: "resync", v: 0 }));
  });
  const play = (uci) => fetch(`${address}/api/v1/games/${made.id}/moves`, { method: "POST", headers: { authorization: `Bearer ${made.token}` }, body: JSON.stringify({ uci }) });
  const moves = () => page.locator(".list .move").count();
  const asked = new RegExp(`/api/v1/games/${made.id}(\\?|$)`);
  const old = await (await fetch(`${address}/api/v1/games/${made.id}`)).json();
  await play("e2e4");
  await sit(page, made);
  await waitFor("the page has the first move, and listens", async () => (await moves()) === 1 && resync !== null);
  // All that the page shows from here on, however shortly: how many moves its list has, and whether the first one
  // stands on the board.
  await page.evaluate(() => {
    window.shown = [];
    const stands = () => /pawn/.test(document.querySelector('[data-square="e4"]').getAttribute("aria-label"));
    const look = () => window.shown.push([document.querySelectorAll(".list .move").length, Number(stands())]);
    look();
    new MutationObserver(look).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true });
  });
  const onward = async (what) => {
    const shown = await page.evaluate(() => window.shown);
    const back = shown.findIndex((it, at) => at > 0 && it.some((value, which) => value < shown[at - 1][which]));
    check(back < 0 ? what : `${what}, but after ${shown[back - 1]} came ${shown[back]}`, shown.length > 1 && back < 0);
  };
  let [lost, stale, answered] = [0, 2, 0];
  await page.route(asked, (route) => {
    if (lost > 0) { lost -= 1; return route.abort(); }
    if (stale > 0) { stale -= 1; answered += 1; return route.fulfill({ json: old }); }
    return route.continue();
  });
  // A frame says that the page may have missed something. It has not, and what it asks for is older than what it has.
  resync();
  await waitFor("an old answer to a page that has all is asked for again", async () => answered === 2);
  lost = 3;
  await play("e7e5");
  await waitFor("a state that was lost is asked for again", async () => (await moves()) === 2);
  check("answers were lost", lost === 0);
  await onward("the page does not go back to what it was loaded after");
  stale = 3;
  await play("g1f3");
  await waitFor("an answer from before is asked for again", async () => (await moves()) === 3);
  check("old answers came", stale === 0 && answered === 5);
  await onward("the page never goes back");
  silent = true;
  await waitFor("a silent server is told of", async () => /Nothing has been heard/.test(await page.locator(".state").innerText()));
  await shot(page, "silence");
  // The first answers after the silence are lost and old, too.
  [lost, stale] = [1, 1];
  await play("b8c6");
  silent = false;
  await waitFor("what came meanwhile is there", async () => (await moves()) === 4);
  await waitFor("and the server is heard again", async () => (await page.locator(".silence").count()) === 0);
  check("answers were lost and old again", lost === 0 && stale === 0 && answered === 6);
  await onward("nor does it go back after a silence");
}

/** What players and watchers of a board expect, each once seen to be otherwise. */
async function smallThings() {
  // On a phone the window stays where it is while a move is chosen, however long the list of moves is.
  const phone = await person("hal", { width: 390, height: 664 });
  const dance = Array.from({ length: 30 }, () => ["g1f3", "g8f6", "f3g1", "f6g8"]).flat();
  await sit(phone, await make({ game: "chess", pgn: `1. ${dance.slice(0, 8).join(" ")} *` }));
  await phone.evaluate(() => document.querySelector(".board").scrollIntoView());
  const place = () => phone.evaluate(() => [window.scrollY, document.querySelector("svg.board").getBoundingClientRect().top]);
  const before = await place();
  await square(phone, "e2").click();
  await waitFor("a piece is chosen on a phone", async () => (await phone.locator(".dot").count()) === 2);
  check("and nothing jumps", String(await place()) === String(before));
  await square(phone, "e4").click();
  await waitFor("the move is played", async () => (await phone.locator(".list .move").count()) === 9);
  check("nor then", String(await place()) === String(before));
  await shot(phone, "phone");

  // Stepping back twice finds the same button twice.
  const page = await person("ida", { width: 1200, height: 700 });
  await sit(page, await make({ game: "chess" }, ["e2e4", "e7e5", "d1h5", "b8c6"]));
  const back = page.getByRole("button", { name: "One back" });
  const where = async () => JSON.stringify(await back.boundingBox());
  const at = await where();
  await back.click();
  await waitFor("one back", async () => /after 3 of 4/.test(await page.locator(".state").innerText()));
  check("the button stays where it is", (await where()) === at);
  await back.click();
  await waitFor("two back", async () => /after 2 of 4/.test(await page.locator(".state").innerText()));
  check("no draw is offered", (await page.locator(".offer").count()) === 0);
  await page.locator("h1").click();
  await page.keyboard.press("ArrowRight");
  await waitFor("an arrow key goes on", async () => /after 3 of 4/.test(await page.locator(".state").innerText()));
  await page.keyboard.press("End");
  await waitFor("another to the game", async () => !/You look at/.test(await page.locator(".state").innerText()));
  const seen = async (what) => {
    const box = await page.locator(what).boundingBox();
    return box.y >= 0 && box.y + box.height <= 700;
  };
  await waitFor("both sides are on a screen of 700 pixels", async () => (await seen(".top")) && (await seen(".bottom")));
  await page.setViewportSize({ width: 1920, height: 1080 });
  await waitFor("a large screen has a large board", async () => (await page.locator("svg.board").boundingBox()).height > 800);

  // An attacked king is told by a shape, also while it is chosen.
  await square(page, "h5").click();
  await square(page, "f7").click();
  await waitFor("a shape tells an attacked king", async () => (await page.locator(".square.check").count()) === 1 && (await page.locator(".alarm").count()) === 1);

  // What a pawn becomes is chosen by its picture, the queen first.
  await sit(page, await make({ game: "chess", fen: "8/P6k/8/8/8/8/7K/8 w - - 0 1" }));
  await square(page, "a7").click();
  await square(page, "a8").click();
  await page.locator("dialog .kind svg .shape").first().waitFor();
  await waitFor("the queen comes first", async () => (await page.locator("dialog button").allInnerTexts()).join().startsWith("queen,rook,bishop,knight"));
  await shot(page, "promotion");
  await page.locator("dialog").getByRole("button", { name: "knight" }).click();
  await waitFor("a knight is made", async () => (await square(page, "a8").getAttribute("aria-label")) === "a8, white knight");

  // Poisoned squares are seen.
  await sit(page, await make({ game: "chess", presets: ["piece-hp", "poisoned-squares"] }));
  await waitFor("poisoned squares are seen", async () => (await page.locator(".square.mark").count()) === 4);
  await waitFor("and read out", async () => /poisoned/.test(await square(page, "d4").getAttribute("aria-label")));

  // Who joins may write at once, and what is typed stays.
  const post = async (path, what, token) => (await fetch(`${address}/api/v1${path}`, { method: "POST", headers: token ? { authorization: `Bearer ${token}` } : {}, body: JSON.stringify(what) })).json();
  const made = await post("/games", { game: "chess", seat: "white", name: "Kim", chat: true });
  await page.goto(`${address}/game/${made.id}`);
  await page.locator("#name").fill("Lou");
  await page.locator("#ask").fill("e2e4");
  await post(`/games/${made.id}/moves`, { uci: "e2e4" }, made.token);
  await waitFor("a move comes in", async () => (await page.locator(".list .move").count()) === 1);
  check("a name that is typed stays", (await page.locator("#name").inputValue()) === "Lou");
  await waitFor("and a question", async () => (await page.locator("#ask").inputValue()) === "e2e4");
  await page.getByRole("button", { name: "Play black" }).click();
  await page.getByLabel("Message").fill("hello");
  await page.getByRole("button", { name: "Send" }).click();
  await waitFor("who joins may write", async () => (await page.locator(".said li").allInnerTexts()).join() === "black: hello");

  // The editor has the kinds that there are, and keeps what is chosen.
  await lobby(page);
  await page.locator("#game").selectOption("chess");
  // Knightmate, which is chosen at first, has presets, and as many kinds.
  await waitFor("chess has no presets", async () => /No presets/.test(await page.locator(".verdict .yes").innerText()));
  check("the kinds of chess can be put down", (await page.locator("#brush option").count()) === 14);
  await page.locator("#brush").selectOption("Q");
  const cannon = page.locator(".preset", { hasText: "Cannons move as rooks" }).getByRole("checkbox");
  await cannon.check();
  await waitFor("another kind can be put down, too", async () => (await page.locator("#brush option").count()) === 16);
  check("what was chosen stays chosen", (await page.locator("#brush").inputValue()) === "Q");
  await cannon.uncheck();
  await waitFor("and not any more when its preset is off", async () => (await page.locator("#brush option").count()) === 14);

  // The editor keeps castling rights, and knows games that have none; a clock may be of added seconds alone.
  await lobby(page);
  await page.locator("#game").selectOption("chess");
  await waitFor("the start is drawn", async () => (await page.locator(".piece").count()) === 32);
  await page.locator("#brush").selectOption("-");
  await square(page, "e2").click();
  await waitFor("rights are kept", async () => /PPPP1PPP\/RNBQKBNR w KQkq - 0 1$/.test(await page.locator("#fen").inputValue()));
  await page.locator("#fen").fill("");
  await page.locator("#game").selectOption("hex");
  await waitFor("an empty board", async () => (await page.locator(".piece").count()) === 0);
  await page.locator("#brush").selectOption("O");
  await square(page, "e5").click();
  await waitFor("a stone is put down", async () => (await page.locator(".piece").count()) === 1 && (await page.locator("form .error").count()) === 0);
  await page.locator("#fen").fill("");
  await page.locator("#increment").fill("5");
  await page.getByRole("button", { name: "Make the game" }).click();
  await page.waitForURL(/\/game\//);
  await waitFor("there is a clock", async () => (await page.locator(".clock").first().innerText()) === "0:05");
}

/** Offers, a rematch, and what is said when something does not work. */
async function mannersOfThePage() {
  const [ann, ben] = [await person("joy"), await person("kai")];
  await pair(ann, ben, { game: "chess", chat: true });
  await move(ann, ben, "e2", "e4");
  await ann.getByRole("button", { name: "Offer draw" }).click();
  for (const it of [ann, ben]) await waitFor("an offer is a sentence", async () => (await it.locator(".offer").innerText()).startsWith("White offers a draw."));
  check("it cannot be made twice", (await ann.getByRole("button", { name: "Offer draw" }).count()) === 0);
  await ben.getByRole("button", { name: "Decline" }).click();
  await waitFor("who has made it is told that it is declined", async () => (await ann.locator(".state .error").innerText()) === "Black declines the draw.");
  check("who declines it is not", (await ben.locator(".state .error").count()) === 0);
  await waitFor("and it can be made again", () => ann.getByRole("button", { name: "Offer draw" }).isVisible());

  // What was typed into is not lost, nor is the focus when something is drawn anew.
  await ann.route("**/chat", (route) => route.fulfill({ status: 409, json: { error: "chat_off", message: "the chat is off" } }), { times: 1 });
  await ann.getByLabel("Message").fill("well played");
  await ann.getByRole("button", { name: "Send" }).click();
  await waitFor("a refusal is told as a sentence", async () => (await ann.locator(".state .error").innerText()) === "The chat is off");
  await waitFor("and the message is still there", async () => (await ann.getByLabel("Message").inputValue()) === "well played");
  await ann.route("**/explain*", (route) => route.abort(), { times: 1 });
  await ann.locator("#ask").fill("e4e5");
  await ann.locator("#ask").press("Enter");
  await waitFor("a net that is gone is told in words", async () => /The server cannot be reached/.test(await ann.locator(".state .error").innerText()));
  await ann.getByRole("button", { name: "Presets" }).focus();
  await move(ben, ann, "e7", "e5");
  check("a move of the other side leaves the focus on a button", await ann.evaluate(() => document.activeElement.textContent === "Presets"));
  await ann.locator(".list .move").first().focus();
  await ann.keyboard.press("Enter");
  await waitFor("a move is looked at by keyboard", async () => /after 1 of 2/.test(await ann.locator(".state").innerText()));
  check("and has the focus still", await ann.evaluate(() => document.activeElement.textContent === "e4" && document.activeElement.classList.contains("current")));
  await ann.keyboard.press("End");

  // Both go to the rematch: who agrees to it, and who has asked for it.
  await move(ann, ben, "g1", "f3");
  const over = ann.url();
  await ann.getByRole("button", { name: "Resign" }).click();
  await ann.getByRole("button", { name: "Yes, resign" }).click();
  await ann.getByRole("button", { name: "Rematch" }).click();
  await ben.getByRole("button", { name: "Accept" }).click();
  for (const it of [ann, ben]) {
    await waitFor("each is taken to the rematch", async () => it.url() !== over && /\(you\)/.test(await it.locator(".seats.bottom").innerText()));
  }
  check("to the same one", ann.url() === ben.url());

  // Without places there is an address all the same.
  await ann.goto(`${address}/game/No-such-place`);
  await waitFor("an address of nothing is told", async () => /There is nothing at this address/.test(await ann.locator("main").innerText()));

  // How long a preset lasts, and what the computer needs, in the form.
  await lobby(ann);
  await ann.locator("#game").selectOption("chess");
  const coregal = ann.locator(".preset", { hasText: "King and queens are royal" });
  await coregal.getByRole("checkbox").check();
  await coregal.getByLabel("Coregal: for whom").selectOption("black");
  await coregal.getByLabel(/^turns/).fill("2");
  await ann.locator("#opponent").selectOption("1");
  await waitFor("a preset for some turns is told", async () => (await ann.locator("form .verdict").innerText()) === "Active: Coregal for black (2 turns)");
  await waitFor("nobody plays all sides against the computer", async () => (await ann.locator("#seat option").allInnerTexts()).join() === "any side,white,black");
}

/** Nothing is cut off, or wider than a small window: hands, names and words of any length. */
async function narrowWindows() {
  const page = await person("liv", { width: 360, height: 640 });
  const fits = async (what) => {
    for (const width of [360, 320]) {
      await page.setViewportSize({ width, height: 640 });
      await waitFor(`${what} fits in ${width} pixels`, () => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
    }
  };
  const fen = "r1bqk2r/pppp1ppp/8/8/8/8/PPPP1PPP/R1BQK2R[QQRRBBNNPPPPPPPPPPPPqrrbbnpppp] w KQkq - 0 1";
  await sit(page, await make({ game: "crazyhouse", fen, name: "Rindfleischetikettierung", clock: { initial: 3600000, increment: 0, delay: 0 } }));
  await fits("a full hand beside a clock");
  check("and covers no clock", await page.evaluate(() => [...document.querySelectorAll(".seat")].every((it) => it.querySelector(".man:last-child").getBoundingClientRect().right <= it.querySelector(".clock").getBoundingClientRect().left)));
  await page.setViewportSize({ width: 320, height: 256 });
  await waitFor("a page at 400 % has its whole board", () => page.evaluate(() => {
    const { left, right } = document.querySelector("svg.board").getBoundingClientRect();
    return left >= 0 && right <= innerWidth && right - left > 200;
  }));
  await make({ game: "knightmate", name: "Rindfleischetikettierungsaufgabenstelle", listed: true });
  await page.goto(address);
  await page.locator("main > .games td", { hasText: "Rindfleisch" }).first().waitFor();
  await fits("a list of games");
  check("and breaks no name of a game", (await page.locator("main > .games td a", { hasText: "Knightmate" }).first().evaluate((it) => it.getClientRects().length)) === 1);
}

/** A game of 260 half-moves, of which the state tells the last 200; and a chat of 620 messages. */
async function longGame() {
  const dance = [["g1f3", "g8f6", "f3g1", "f6g8"], ["g8f6", "g1f3", "f6g8", "f3g1"]];
  const white = "a2a3 b2b3 c2c3 d2d3 e2e3 g2g3 h2h3 a3a4 b3b4 h3h4".split(" ");
  const black = "a7a6 b7b6 c7c6 d7d6 e7e6 g7g6 h7h6 a6a5 b6b5 h6h5".split(" ");
  const moves = white.flatMap((push, at) => [[0, push], [1, black[at]]]).flatMap(([side, push]) => [...dance[side], ...dance[side], ...dance[side], push]);
  const pgn = `[Variant "chess"]\n\n${moves.map((it, at) => (at % 2 ? it : `${at / 2 + 1}. ${it}`)).join(" ")} *`;
  const made = await make({ pgn, chat: true });
  const say = (text) => fetch(`${address}/api/v1/games/${made.id}/chat`, { method: "POST", headers: { authorization: `Bearer ${made.token}` }, body: JSON.stringify({ text }) });
  for (let at = 0; at < 290; at += 1) await say(`message ${at}`);
  await (await fetch(`${address}/api/v1/games/${made.id}/moves`, { method: "POST", headers: { authorization: `Bearer ${made.token}` }, body: JSON.stringify({ uci: "g1f3" }) })).json();
  for (let at = 290; at < 580; at += 1) await say(`message ${at}`);
  const page = await person("gil");
  await sit(page, made);
  await waitFor("all moves of a long game are listed", async () => (await page.locator(".list .move").count()) === 261);
  await waitFor("the first one, too", async () => (await page.locator(".list .move").first().innerText()) === "Nf3");
  await waitFor("the last messages are there", async () => (await page.locator(".said li").last().innerText()).endsWith("message 579"));
  check("not all at once", (await page.locator(".said li").count()) < 520);
  await page.getByRole("button", { name: "First position" }).click();
  await waitFor("at the first position the list is at its top", async () => /after 0 of/.test(await page.locator(".state").innerText()) && (await page.locator(".list").evaluate((it) => it.scrollTop)) === 0);
  await page.getByRole("button", { name: "Current position" }).click();
  await page.getByRole("button", { name: "Earlier messages" }).click();
  await waitFor("earlier ones are asked for", async () => (await page.locator(".said li").count()) === 580);
  await waitFor("in order", async () => (await page.locator(".said li").first().innerText()).endsWith("message 0"));
  await square(page, "g8").click();
  await square(page, "f6").click();
  await waitFor("the long game goes on", async () => (await page.locator(".list .move").count()) === 262);
}

async function main() {
  const ann = await person("ann");
  const ben = await person("ben");

  // The lobby: a preset on top of a game, and one that does not fit.
  await lobby(ann);
  await waitFor("the start position is drawn", async () => (await ann.locator(".piece").count()) === 32);
  await shot(ann, "lobby");
  await waitFor("the lobby lists games", async () => (await ann.locator("#game option").count()) >= 6);
  await ann.locator("#fen").fill("nonsense");
  await ann.locator("#name").click();
  await waitFor("a position that is none is told", async () => /FEN/.test(await ann.locator("form .error").innerText()));
  await ann.locator("#fen").fill("");
  await ann.locator("#game").selectOption("knightmate");
  await ann.locator("#seat").selectOption({ index: 1 });
  await ann.locator("#name").fill("Ann");
  await waitFor("the combination is checked", async () => (await ann.getByText("Active: Knightmate").count()) === 1);
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
  await waitFor("squares of the proof are lit", async () => (await ann.locator(".glow").count()) > 0);
  await shot(ann, "why-not");
  await square(ann, "e1").click();
  await square(ann, "e1").click();

  // Reload in the middle: the seat and the position are still there.
  await ben.reload();
  await ben.locator("svg.board").waitFor();
  await waitFor("a reload keeps the seat", async () => (await ben.locator(".who").allInnerTexts()).some((it) => it.includes("Ben (you)")));
  await waitFor("a reload keeps the moves", async () => (await ben.locator(".list .move").count()) === 2);
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
  await ben.getByRole("button", { name: "Resign", exact: true }).click();
  await ben.getByRole("button", { name: "No", exact: true }).click();
  check("nothing is given up by one click", !/resignation/.test(await verdict(ben)));
  await ben.getByRole("button", { name: "Resign", exact: true }).click();
  await ben.getByRole("button", { name: "Yes, resign" }).click();
  await waitFor("who gives up has lost", async () => /White wins: resignation/.test(await verdict(ann)));

  await wholeGames(ann, ben);
  await presetsInTheMiddle(ann, ben);
  await turnOfTwo(ann, ben);
  await badWeather();
  await longGame();
  await smallThings();
  await mannersOfThePage();
  await narrowWindows();

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
  await lobby(over);
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
  const odd = "<img src=x onerror=window.hit=1>";
  const named = await over.context().newPage();
  await sit(named, await make({ game: "chess", name: odd }));
  await waitFor("a name is text, not markup", () => named.evaluate((name) => document.body.innerText.includes(name) && document.querySelectorAll("main img").length === 0 && window.hit === undefined, odd));
  await named.close();

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
  await waitFor("a board of 11 by 12 has all its squares", async () => (await over.locator("[data-square]").count()) === 132);
  await waitFor("a stack is read out", async () => (await square(over, "c4").getAttribute("aria-label")) === "c4, red infantry, red tank");
  await waitFor("numbers are read out", async () => /queen, hp 12, stamina 2, rage.level 4/.test(await square(over, "e6").getAttribute("aria-label")));
  await shot(over, "any-board");

  // By keyboard alone.
  await sit(over, await make({ game: "chess" }));
  await over.locator('[data-square="a1"]').focus();
  for (const key of ["ArrowUp", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "Enter", "ArrowUp", "ArrowUp", "Enter"]) await over.keyboard.press(key);
  await waitFor("e2e4 by keyboard", async () => (await over.locator(".list .move").first().innerText()) === "e4");
  await waitFor("squares have names to be read out", async () => (await square(over, "e4").getAttribute("aria-label")) === "e4, white pawn");

  // Rules of one's own: a mistake is shown, then it compiles and is played.
  await over.goto(`${address}/rules`);
  await waitFor("the example compiles", async () => (await over.locator("#found .yes").count()) === 1);
  for (const [name, title] of [["the language", "# The rule language"], ["the relations there are", "# "]]) {
    const link = await over.getByRole("link", { name, exact: true }).getAttribute("href");
    check(`${name} can be read`, (await (await fetch(`${address}${link}`)).text()).startsWith(title));
  }
  const text = await over.locator("#rules").inputValue();
  await over.locator("#rules").fill(text.replaceAll("leap(", "leep("));
  await waitFor("a mistake is shown", async () => (await over.locator(".diagnostics li").count()) > 0);
  await shot(over, "rules-mistake");
  await over.locator("#rules").fill(text);
  await waitFor("it compiles again", async () => (await over.locator("#found .yes").count()) === 1);
  const stones = `.meta preset "pebbles"\n.meta family "stones"\n.meta name "Pebbles"\n.domain Preset += { pebbles }\n`;
  await over.locator("#rules").fill(stones);
  await waitFor("a preset for other games than chess compiles", async () => /pebbles/.test(await over.locator("#found .yes").innerText()));
  await over.getByRole("button", { name: "Set up a game with it" }).click();
  await waitFor("it is set up with a game that it is for", async () => /Pebbles/.test(await over.locator(".verdict .yes").innerText()));
  await over.goto(`${address}/rules`);
  await over.locator("#rules").fill(text);
  await waitFor("the first text compiles", async () => /archbishops/.test(await over.locator("#found .yes").innerText()));
  await over.getByRole("button", { name: "Play it" }).click();
  await over.waitForURL(/\/game\//);
  await square(over, "f1").click();
  await square(over, "g3").click();
  await waitFor("a bishop leaps like a knight", async () => (await over.locator(".list .move").count()) === 1);
  await shot(over, "archbishops");
  await customPiece(over);
  await fromFactsAndPgn(over);
}

await run("e2e", main);
