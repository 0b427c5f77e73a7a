// The board as people expect it: drags and touches, moves ahead of time, arrows, stacks, other geometries; what the page
// says of a game; accessibility (axe), and how much the page weighs.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/board.mjs target/debug/rulemate target/e2e
//
// Ends with `board: N checks passed`, or with the first that did not.

import { readFileSync } from "node:fs";

import { address, check, drag, drawn, lobby, make, middle, pair, person, require, run, shot, sit, square, verdict, waitFor } from "./people.mjs";

const PHONE = { width: 390, height: 664 };
const LYING = { width: 844, height: 390 };
const moves = (page) => page.locator(".list .move").count();

/** Drags with a finger. */
async function touchDrag(page, from, to) {
  const [x, y] = await middle(page, from);
  const [u, v] = await middle(page, to);
  const session = (page.touches ??= await page.context().newCDPSession(page));
  const touch = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points });
  await touch("touchStart", [{ x, y }]);
  for (const part of [0.3, 0.7, 1]) await touch("touchMove", [{ x: x + (u - x) * part, y: y + (v - y) * part }]);
  await touch("touchEnd", []);
}

async function tap(page, from, to) {
  for (const name of [from, to]) {
    const [x, y] = await middle(page, name);
    await page.touchscreen.tap(x, y);
  }
}

/** A random walk, always the same: by a generator of its own. */
function random(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** A game after so many actions at least: of several nodes, one may hear of an action a little later than the other. */
async function stateOf(id, ply = 0) {
  for (;;) {
    const state = await (await fetch(`${address}/api/v1/games/${id}`)).json();
    if (!(state.ply < ply)) return state;
  }
}

/** Answers the question which of several is meant. */
async function answer(page, action, position) {
  const dialog = page.locator("dialog.pick");
  const kind = position.kinds.find((it) => action.choice?.includes(it.kind));
  const name = kind ? kind.name.replaceAll("_", " ") : action.says;
  await dialog.getByRole("button", { name, exact: true }).first().click();
}

/**
 * Plays on in a game by what is legal, each move on the page of whose turn it is, until the game is over or `limit`
 * actions are played. After each, both pages show the position that the server has.
 */
async function playOn(pages, id, limit, seed, mover) {
  const choose = random(seed);
  let [played, ply] = [0, 0];
  for (; played < limit; played += 1) {
    const state = await stateOf(id, ply);
    ply = state.ply + 1;
    if (state.result) break;
    const page = pages[state.turn % pages.length];
    const { legal } = state.position;
    const action = legal[choose(legal.length)];
    await mover(page, action, state);
    for (const it of pages) {
      await it.waitForFunction((want) => document.querySelectorAll(".list .move").length === want, ply, { timeout: 20000 });
    }
    const after = await stateOf(id, ply);
    for (const it of pages) {
      const shown = await it.evaluate(() => [...document.querySelectorAll("[data-square]")].map((cell) => cell.getAttribute("aria-label")).filter((text) => !/, empty/.test(text)).length);
      const stands = new Set(after.position.pieces.map((one) => one.square)).size;
      if (shown !== stands) check(`after ${action.uci} the page shows ${stands} squares with pieces, not ${shown}`, false);
    }
  }
  check(`${played} actions were played, and each was on both pages`, played > 0);
}

/** How an action is made with a drag or a tap. */
const by = (dragged) => async (page, action, state) => {
  const { position } = state;
  if (!action.from && !action.to) {
    await page.locator(".acts").getByRole("button", { name: action.says ?? action.uci.replaceAll("_", " "), exact: true }).click();
    return;
  }
  if (!action.from) {
    const letter = action.uci.slice(0, action.uci.indexOf("@")).toLowerCase();
    await page.locator(`[data-hand="${letter}"]:not([disabled])`).first().click();
    const [x, y] = await middle(page, action.to);
    if (page.isTouch) await page.touchscreen.tap(x, y);
    else await page.mouse.click(x, y);
    return;
  }
  const stack = position.pieces.filter((it) => it.square === action.from);
  const others = position.legal.filter((it) => it.from === action.from);
  const byOthers = new Set(others.filter((it) => it.piece !== stack[0].id).map((it) => it.action));
  const isWhole = stack.length === 1 || !byOthers.has(action.action);
  if (isWhole) await dragged(page, action.from, action.to);
  else {
    // A piece of a stack: the stack is chosen, then the piece, then where it goes.
    const [x, y] = await middle(page, action.from);
    const press = async (u, v) => (page.isTouch ? page.touchscreen.tap(u, v) : page.mouse.click(u, v));
    await press(x, y);
    const kind = stack.find((it) => it.id === action.piece).kind.replaceAll("_", " ");
    const order = stack.filter((it) => it.kind.replaceAll("_", " ") === kind).findIndex((it) => it.id === action.piece);
    await page.getByRole("button", { name: `${kind} alone` }).nth(order).click();
    const [u, v] = await middle(page, action.to);
    await press(u, v);
  }
  const rivals = others.filter((it) => it.to === action.to && (isWhole ? stack.length === 1 || !byOthers.has(it.action) : it.piece === action.piece && byOthers.has(it.action)));
  if (rivals.length > 1) await answer(page, action, position);
};

/** Whole games by drag on a desk, by touch on a phone that stands or lies. */
async function dragsAndTouches() {
  // `RULEMATE_FULL=1` plays long games; in CI they are short.
  const count = process.env.RULEMATE_FULL ? 200 : 24;
  const games = [["knightmate", count], ["crazyhouse", count], ["piece-hp", count], ["cotulenh", count, "red"]];
  const [ann, ben] = [await person("ann", { width: 1280, height: 800 }), await person("ben", { width: 1920, height: 1080 })];
  for (const [game, limit, seat = "white"] of games) {
    const id = await pair(ann, ben, { game, seat });
    await playOn([ann, ben], id, limit, 7, by(drag));
    await shot(ann, `drag-${game}`);
    await shot(ben, `wide-${game}`);
  }
  const touch = { hasTouch: true, isMobile: true };
  const [cem, dora] = [await person("cem", PHONE, touch), await person("dora", LYING, touch)];
  for (const page of [cem, dora]) page.isTouch = true;
  for (const [game, limit, seat = "white"] of games) {
    const id = await pair(cem, dora, { game, seat });
    let turn = 0;
    await playOn([cem, dora], id, limit, 11, by((page, from, to) => ((turn += 1) % 2 ? touchDrag : tap)(page, from, to)));
    await shot(cem, `phone-${game}`);
    await shot(dora, `lying-${game}`);
    for (const page of [cem, dora]) {
      await waitFor(`nothing is wider than the window in ${game}`, async () => await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.evaluate(() => scrollTo(0, 0));
      const box = await page.locator("svg.board").boundingBox();
      const { width, height } = page.viewportSize();
      check(`the whole board of ${game} is in the window`, box.x >= -1 && box.y >= -1 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1);
    }
  }
}

/** A drag during which the other side moves. */
async function dragOverAMove(page, from, to, move) {
  await waitFor("the turn is the other's", async () => (await verdict(page)).startsWith("White"));
  const count = await moves(page);
  const [[x, y], [u, v]] = [await middle(page, from), await middle(page, to)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move((x + u) / 2, (y + v) / 2, { steps: 2 });
  await move();
  await waitFor("the other side has moved meanwhile", async () => (await moves(page)) === count + 1);
  await waitFor("and the piece is held still", async () => (await page.locator(".piece.held").count()) === 1);
  await page.mouse.move(u, v, { steps: 2 });
  await page.mouse.up();
}

/** Pieces in hand are dropped ahead of one's turn, by clicks and by drags. */
async function dropsAhead() {
  const [ann, ben] = [await person("cat"), await person("dan")];
  await pair(ann, ben, { game: "crazyhouse", fen: "4k3/8/8/8/8/8/8/4K3[pp] w - - 0 1" });
  const hand = ben.locator('[data-hand="p"]');
  await hand.click();
  await square(ben, "d5").click();
  await waitFor("a drop ahead is shown", async () => (await ben.locator(".square.ahead").count()) === 1 && (await moves(ben)) === 0);
  await drag(ann, "e1", "e2");
  await waitFor("and made when its time has come", async () => (await moves(ann)) === 2);
  const [x, y] = await middle(ben, "c5");
  await hand.hover();
  await ben.mouse.down();
  await ben.mouse.move(x, y, { steps: 5 });
  await ben.mouse.up();
  await waitFor("one that is dragged, too", async () => (await ben.locator(".square.ahead").count()) === 1);
  await drag(ann, "e2", "e3");
  await waitFor("is made", async () => (await moves(ann)) === 4);
}

/** Moves ahead of one's turn, drags that lead nowhere, what is drawn by hand, what is kept. */
async function boardManners() {
  const [ann, ben] = [await person("ann"), await person("ben")];
  await pair(ann, ben, { game: "chess", clock: { initial: 300000, increment: 0, delay: 0 } });
  await drag(ben, "e7", "e5");
  await waitFor("a move ahead is shown", async () => (await ben.locator(".square.ahead").count()) === 2 && (await moves(ben)) === 0);
  await waitFor("and read out", async () => /to be moved when it is your turn/.test(await square(ben, "e5").getAttribute("aria-label")));
  await shot(ben, "premove");
  await drag(ann, "e2", "e4");
  for (const it of [ann, ben]) await waitFor("it is played when its time has come", async () => (await moves(it)) === 2);
  check("and is shown no more", (await ben.locator(".square.ahead").count()) === 0);
  await drag(ben, "e5", "e4");
  await drag(ann, "g1", "f3");
  await waitFor("one that is not legal by then is told", async () => /not legal any more/.test(await ben.locator(".state").innerText()));
  await waitFor("and the game goes on", async () => (await moves(ben)) === 3 && /Black to move/.test(await verdict(ben)));
  await dropsAhead();
  await ben.getByRole("button", { name: "Settings" }).click();
  await ben.locator("#set-premove").uncheck();
  await ben.locator("#set-board").selectOption("green");
  await ben.locator("#set-pieces").selectOption("letters");
  await ben.getByRole("button", { name: "Done" }).click();
  await ben.reload();
  await drawn(ben);
  await waitFor("what is set is kept", async () => (await ben.locator("html").getAttribute("data-board")) === "green" && (await ben.locator(".piece circle").count()) === 32);
  await ben.evaluate(() => localStorage.removeItem("settings"));
  await ben.reload();
  await drawn(ben);

  // Beside the board, and back to where it was.
  const place = () => ben.evaluate(() => document.querySelectorAll(".piece.held").length);
  const [x, y] = await middle(ben, "d7");
  await ben.mouse.move(x, y);
  await ben.mouse.down();
  await ben.mouse.move(x + 20, y + 20, { steps: 2 });
  check("a piece follows the pointer", (await place()) === 1);
  await waitFor("where it may go is shown without a question to the server", async () => (await ben.locator(".dot").count()) === 2);
  await ben.mouse.move(5, 5);
  await ben.mouse.up();
  check("beside the board nothing is played", (await place()) === 0 && (await moves(ben)) === 3 && (await ben.locator(".dot").count()) === 0);
  await drag(ben, "d7", "d4");
  await waitFor("a drag that is not legal is told why", async () => (await ben.locator(".why .no").count()) === 1);
  const told = await ben.locator(".why .summary").allInnerTexts();
  check("in three sentences at most", told.length >= 1 && told.length <= 3 && told.every((it) => it.endsWith(".")));
  check("the proof is folded away", !(await ben.locator(".why .lines").isVisible()));
  await ben.locator(".proof summary").click();
  await waitFor("and can be looked at", async () => await ben.locator(".why .lines").isVisible());

  // The right button puts back what is dragged.
  await ben.mouse.move(x, y);
  await ben.mouse.down();
  await ben.mouse.move(x + 20, y + 20, { steps: 2 });
  await ben.mouse.down({ button: "right" });
  await waitFor("a drag is broken off by the right button", async () => (await place()) === 0);
  await ben.mouse.up({ button: "right" });
  await ben.mouse.up();
  check("and nothing is played or drawn", (await moves(ben)) === 3 && (await ben.locator(".drawn").count()) === 0);

  // Arrow keys go through the moves after a click on the board; over its squares for those who came by keyboard.
  await square(ben, "d7").click();
  for (const at of [2, 1]) {
    await ben.keyboard.press("ArrowLeft");
    await waitFor(`an arrow key leads to move ${at} after a click on the board`, async () => new RegExp(`after ${at} of 3`).test(await ben.locator(".state").innerText()));
  }
  await ben.keyboard.press("End");
  await waitFor("and another one back", async () => !/You look at/.test(await ben.locator(".state").innerText()));
  await ben.locator('[data-square][tabindex="0"]').focus();
  await ben.keyboard.press("Shift+Tab");
  await ben.keyboard.press("Tab");
  const on = () => ben.evaluate(() => document.activeElement.dataset.square);
  const came = await on();
  await ben.keyboard.press("ArrowLeft");
  check("by keyboard they lead over the squares", came === "d7" && (await on()) === "e7");

  // Arrows and circles, gone with the next click.
  const [a, b] = await middle(ben, "d7");
  const [u, v] = await middle(ben, "d5");
  await ben.mouse.move(a, b);
  await ben.mouse.down({ button: "right" });
  await ben.mouse.move(u, v, { steps: 2 });
  await ben.mouse.up({ button: "right" });
  await ben.mouse.click(u, v, { button: "right" });
  await waitFor("an arrow and a circle are drawn", async () => (await ben.locator(".drawn-arrow").count()) === 1 && (await ben.locator(".drawn").count()) === 1);
  await shot(ben, "arrows");
  await square(ben, "d7").click();
  check("a click takes them away", (await ben.locator(".drawn-arrow, .drawn").count()) === 0);
  await square(ben, "d5").click();
  await waitFor("clicks play, too", async () => (await moves(ben)) === 4);
  await drag(ann, "e4", "d5");
  await waitFor("what was captured is shown", async () => (await ann.locator(".captured").first().getAttribute("aria-label")) === "captured: 1 pawn; 1 ahead");
  await drag(ben, "d8", "d5");
  await dragOverAMove(ben, "g8", "f6", () => drag(ann, "b1", "c3"));
  for (const it of [ann, ben]) await waitFor("what is held while the other moves is played where it is dropped", async () => (await moves(it)) === 8);
  await waitFor("who is there is shown", async () => (await ann.locator(".presence.there").count()) === 2);
  await ben.goto(address);
  await waitFor("and who is not", async () => (await ann.locator(".presence.there").count()) === 1);
  await waitFor("both clocks are in the window", async () => await ann.evaluate(() => [...document.querySelectorAll(".clock")].every((it) => it.getBoundingClientRect().bottom <= innerHeight && it.getBoundingClientRect().top >= 0)));
  for (const size of [PHONE, LYING, { width: 1280, height: 800 }, { width: 1920, height: 1080 }]) {
    await ann.setViewportSize(size);
    await ann.evaluate(() => scrollTo(0, 0));
    const box = await ann.locator("svg.board").boundingBox();
    check(`the board fills a window of ${size.width}x${size.height}`, Math.max(box.width / size.width, box.height / size.height) > 0.72);
    await waitFor("with both clocks in sight", async () => await ann.evaluate(() => [...document.querySelectorAll(".clock")].every((it) => it.getBoundingClientRect().bottom <= innerHeight && it.getBoundingClientRect().top >= 0)));
  }
}

/** Stacks: a piece is dragged out of one, a step is undone, the deployment committed. */
async function deploys() {
  const page = await person("eva", { width: 1280, height: 800 });
  await sit(page, await make({ game: "cotulenh", fen: "6c4/11/11/11/11/11/11/4(FTI)6/11/11/11/2C8 r - - 0 1" }));
  await waitFor("the ground is drawn", async () => (await page.locator(".mark-sea").count()) === 24 && (await page.locator(".mark-coast").count()) === 16 && (await page.locator(".mark-river").count()) > 10);
  // The second of the stack is drawn at its upper right.
  await drag(page, "e5", "c5", [0.24, -0.25]);
  await waitFor("the tank has stepped out", async () => (await square(page, "c5").getAttribute("aria-label")).startsWith("c5, red tank"));
  await waitFor("the others have not", async () => (await square(page, "e5").getAttribute("aria-label")).startsWith("e5, red air-force, red infantry"));
  await shot(page, "deploy");
  await page.getByRole("button", { name: "Undo step" }).click();
  await waitFor("the step is undone", async () => (await moves(page)) === 0);
  await square(page, "e5").click();
  await page.getByRole("button", { name: "air-force alone" }).click();
  await square(page, "g7").click();
  await waitFor("a piece that is chosen steps out", async () => (await moves(page)) === 1);
  await page.getByRole("button", { name: "commit", exact: true }).click();
  await waitFor("the deployment is committed", async () => /Blue to move/.test(await verdict(page)));
  await sit(page, await make({ game: "cotulenh" }));
  await square(page, "h3").hover();
  await square(page, "b2").hover();
  await waitFor("what a ship defends is shown", async () => (await page.locator(".zone").count()) >= 4);
  await shot(page, "zones");

  // The editor keeps stacks and heroes that it does not touch.
  await lobby(page);
  await page.locator("#game").selectOption("cotulenh");
  const fen = "6c4/11/11/11/11/11/4(+T+I)6/4(FTI)+A5/11/11/11/2C8 r - - 0 1";
  await page.locator("#fen").fill(fen);
  await page.locator("#name").click();
  await waitFor("the position is drawn", async () => /red air-force, red tank, red infantry/.test(await square(page, "e5").getAttribute("aria-label")));
  await page.locator("#brush").selectOption("M");
  await square(page, "h4").click();
  await waitFor("a piece is put down, and nothing is lost", async () => (await page.locator("#fen").inputValue()).startsWith("6c4/11/11/11/11/11/4(+T+I)6/4(FTI)+A5/7M3/11/11/2C8 r"));
}

/** Boards of lines and of hexagons, and a game of three sides. */
async function otherBoards() {
  const page = await person("fay");
  await sit(page, await make({ game: "nine-mens-morris" }));
  await waitFor("the lines of a mill are drawn", async () => (await page.locator(".join").count()) === 32);
  for (const [at, name] of ["a1", "b2", "d1", "b4", "g1"].entries()) {
    await square(page, name).click();
    await waitFor(`a man is put on ${name}`, async () => (await moves(page)) === at + 1);
  }
  await waitFor("three in a row: the turn goes on", async () => /goes on/.test(await verdict(page)));
  await square(page, "b2").click();
  await waitFor("a man is taken by a click", async () => (await square(page, "b2").getAttribute("aria-label")) === "b2, empty");
  await shot(page, "mill");
  check("no name of a point runs past the board", await page.evaluate(() => {
    const board = document.querySelector("svg.board").getBoundingClientRect();
    const isWithin = ({ right, bottom }) => right <= board.right + 1 && bottom <= board.bottom + 1;
    return [...document.querySelectorAll(".point")].every((it) => isWithin(it.getBoundingClientRect()));
  }));
  await sit(page, await make({ game: "kalah" }));
  await waitFor("each bowl says how many seeds it has, though all have as many", async () => (await page.locator(".badge").count()) === 12);
  await sit(page, await make({ game: "hex" }));
  await waitFor("hexagons are drawn", async () => (await page.locator("svg.board").getAttribute("data-shape")) === "hexagon");
  await square(page, "f6").click();
  await waitFor("a stone is put down", async () => (await square(page, "f6").getAttribute("aria-label")) === "f6, white stone");
  await shot(page, "hex");
  await sit(page, await make({ game: "duck" }, ["e2e4"]));
  await waitFor("where the duck may go is shown at once", async () => (await page.locator(".dot").count()) === 32);
  await square(page, "e5").click();
  await waitFor("and a click puts it there", async () => /Black to move/.test(await verdict(page)));
  await drag(page, "d7", "d6");
  await waitFor("Black moves", async () => (await moves(page)) === 3);
  await drag(page, "e5", "a6");
  await waitFor("it is dragged from where it stands", async () => (await moves(page)) === 4 && /duck/.test(await square(page, "a6").getAttribute("aria-label")));
  await drag(page, "b1", "c3");
  await waitFor("White moves", async () => (await moves(page)) === 5);
  await drag(page, "c3", "a5");
  await waitFor("or from whoever has moved, which stays", async () => (await moves(page)) === 6 && /knight/.test(await square(page, "c3").getAttribute("aria-label")));

  const nim = await make({ game: "nim" });
  await page.goto(`${address}/game/${nim.id}`);
  await waitFor("heaps are told where there is no board", async () => /^Heap: a 3, b 4, c 5$/.test((await page.locator(".stock").innerText()).trim()));
  check("and so are the sides", await page.locator(".who").first().isVisible());
  await shot(page, "no-board");

  // Three sides, by rules of one's own, each a person of its own.
  const text = readFileSync(new URL("../data/sides/three-in-a-row.dl", import.meta.url), "utf8");
  const post = async (path, body, token) => (await fetch(`${address}/api/v1${path}`, { method: "POST", headers: token ? { authorization: `Bearer ${token}` } : {}, body: JSON.stringify(body) })).json();
  const { rules, diagnostics } = await post("/rules", { text, keep: true });
  check(`the rules of three sides compile ${JSON.stringify(diagnostics)}`, Boolean(rules));
  const made = await post("/games", { game: "three-in-a-row", rules, seat: "red", name: "Rita", clock: { initial: 60000, increment: 0, delay: 0 } });
  const green = await post(`/games/${made.id}/join`, { seat: "green", name: "Gus" });
  const blue = await post(`/games/${made.id}/join`, { seat: "blue", name: "Bea" });
  await sit(page, { id: made.id, token: blue.token });
  const who = (await page.locator(".who").allInnerTexts()).join("|");
  check(`each of three has a seat: ${who}`, ["Red: Rita", "Green: Gus", "Blue: Bea (you)"].every((it) => who.includes(it)));
  await waitFor("and a clock", async () => (await page.locator(".clock").count()) === 3);
  for (const [at, [token, to]] of [[made.token, "a1"], [green.token, "b1"]].entries()) {
    const played = await post(`/games/${made.id}/moves`, { uci: to }, token);
    check(`a move of side ${at} is played ${JSON.stringify(played)}`, played.ply === at + 1);
  }
  await waitFor("it is the third side's turn", async () => /Blue to move/.test(await verdict(page)));
  await square(page, "c1").click();
  await waitFor("and then the first side's again", async () => /Red to move/.test(await verdict(page)) && (await moves(page)) === 3);
  await shot(page, "three-sides");
}

/** Two clicks from the lobby to a game; what a game says of itself. */
async function gamesInWords() {
  const page = await person("gus", { width: 1280, height: 800 });
  await page.goto(address);
  await page.locator(".quick").waitFor();
  await shot(page, "lobby-quick");
  await waitFor("eight quick buttons", async () => (await page.locator(".quick button").count()) === 8);
  check("all else is folded away", !(await page.locator("#game").isVisible()));
  await page.locator('[data-game="knightmate"]').click();
  await page.waitForURL(/\/game\//);
  await page.locator("svg.board").waitFor();
  await waitFor("one click leads to a game", async () => /Knightmate/.test(await page.locator("h1").innerText()));
  await page.locator("h1 a").click();
  await page.waitForURL(/\/about\//);
  await page.locator(".kinds-of figure").first().waitFor();
  await waitFor("six kinds are drawn", async () => (await page.locator(".kinds-of figure").count()) === 6);
  const goes = (kind) => page.locator(`[data-kind="${kind}"] .dot`).count();
  check("a king that is not royal goes to eight squares", (await goes("king")) === 8);
  await waitFor("a knight, too", async () => (await goes("knight")) === 8);
  await waitFor("a pawn captures aslant", async () => (await page.locator('[data-kind="pawn"] .cross').count()) === 2);
  await shot(page, "about");
  await page.locator("#what-if").selectOption("knights-leap-twice");
  await waitFor("what a preset would change is drawn", async () => (await page.locator("[aria-live] figure").count()) >= 1);
  await shot(page, "what-if");
  await page.goto(`${address}/about/cotulenh`);
  await page.locator(".kinds-of figure").first().waitFor();
  await waitFor("ten kinds of eleven go somewhere", async () => (await page.locator(".kinds-of figure").count()) >= 10);
  await page.goto(address);
  await page.getByRole("button", { name: "Play a friend" }).click();
  await page.locator("#quick-time").selectOption("2");
  await page.getByRole("button", { name: "Make the link" }).click();
  await page.waitForURL(/\/game\//);
  await waitFor("a game with a clock, and a link to send", async () => (await page.locator(".clock").count()) === 2 && (await page.locator(".link").count()) === 1);

  // Two clicks to a game against the computer, which plays.
  await page.goto(address);
  await page.getByRole("button", { name: "Play the computer" }).click();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForURL(/\/game\//);
  await drawn(page);
  if (/White \(you\)|White: [^|]*\(you\)/.test((await page.locator(".who").allInnerTexts()).join("|"))) {
    await drag(page, "e2", "e4");
    await waitFor("the computer answers", async () => (await moves(page)) === 2);
  } else await waitFor("the computer begins", async () => (await moves(page)) === 1);
  await page.getByRole("button", { name: "Offer draw" }).click();
  await waitFor("the computer says that it declines a draw", async () => /declines the draw\.$/.test(await page.locator(".state .error").innerText()));
  const url = page.url();
  await page.getByRole("button", { name: /Resign|Call off/ }).click();
  await page.getByRole("button", { name: /^Yes/ }).click();
  await page.getByRole("button", { name: "Rematch" }).click();
  await waitFor("and a rematch with it is gone to", async () => page.url() !== url && (await moves(page)) < 2);
}

/** Two tabs of one seat: what is played in one is seen in the other; of two moves at once one counts, and the other is told. */
async function twoTabs() {
  const [ann, ben] = [await person("ann"), await person("ben")];
  await pair(ann, ben, { game: "chess" });
  const tab = await ann.context().newPage();
  await tab.goto(ann.url());
  await drawn(tab);
  const all = [ann, tab, ben];
  const played = (count, what) => Promise.all(all.map((page) => waitFor(what, async () => (await moves(page)) === count)));
  await waitFor("both tabs have the seat", async () => (await Promise.all([ann, tab].map((it) => it.locator(".seats.bottom").innerText()))).every((it) => it.includes("(you)")));
  await square(ann, "e2").click();
  await square(tab, "d2").click();
  // Neither move leaves its tab before both are made: one that came later would be a move ahead of the next turn.
  const ofMoves = "**/api/v1/games/*/moves";
  let both = () => {};
  const made = new Promise((done) => { both = done; });
  let asked = 0;
  for (const page of [ann, tab]) {
    await page.route(ofMoves, async (route) => {
      asked += 1;
      if (asked === 2) both();
      await made;
      await route.continue();
    }, { times: 1 });
  }
  await Promise.all([square(ann, "e4").click(), square(tab, "d4").click()]);
  await played(1, "of two moves at once one is played");
  const lists = await Promise.all(all.map((page) => page.locator(".list .move").innerText()));
  check("the same one everywhere", new Set(lists).size === 1 && /^[ed]4$/.test(lists[0]));
  const told = () => Promise.all([ann, tab].map((it) => it.locator(".state .error").allInnerTexts().then((texts) => texts.join(" "))));
  await waitFor("the other tab is told", async () => (await told()).some((it) => it.length > 10));
  await drag(ben, "e7", "e6");
  await played(2, "the game goes on");
  await drag(tab, "g1", "f3");
  await played(3, "in the other tab as well");
  await tab.close();
  await drag(ben, "b8", "c6");
  await waitFor("the first tab still hears of moves", async () => (await moves(ann)) === 4);
  await drag(ann, "f3", "g1");
  await waitFor("and in the first when the other is closed", async () => (await moves(ben)) === 5);

  // A move ahead does not wait until whoever has made it has looked at the positions before.
  await drag(ann, "b1", "c3");
  await waitFor("a move ahead is made", async () => (await ann.locator(".square.ahead").count()) === 2);
  await ann.getByRole("button", { name: "First position" }).click();
  await waitFor("and the first position looked at", async () => /after 0 of 5/.test(await ann.locator(".state").innerText()));
  await drag(ben, "g8", "f6");
  for (const it of [ann, ben]) await waitFor("it is played all the same", async () => (await moves(it)) === 7);
  check("and nothing of it is left", (await ann.locator(".square.ahead").count()) === 0 && !/You look at/.test(await ann.locator(".state").innerText()));
}

/** No violation that axe knows, light and dark. */
async function accessible() {
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  for (const colorScheme of ["light", "dark"]) {
    const page = await person(`axe-${colorScheme}`, { width: 1280, height: 800 }, { colorScheme, bypassCSP: true });
    const game = await make({ game: "crazyhouse", chat: true, clock: { initial: 60000, increment: 0, delay: 0 } }, ["e2e4", "d7d5", "e4d5", "d8d5"]);
    const abilities = await make({ game: "ability-chess", fen: "4k3/8/8/3p4/8/8/8/R3K1N1 w - - 0 1 element=-,g1:air,d5:fire tailwind=-,g1:true block-piece=-,a1:true facing=-,a1:ne do-over=-,d5:1" });
    const stack = await make({ game: "cotulenh", fen: "6c4/11/11/11/11/11/11/4(FTI)6/11/11/11/2C8 r - - 0 1" });
    const views = [
      ["lobby", () => lobby(page)],
      ["game", () => sit(page, game)],
      ["why", async () => { await square(page, "b1").click(); await square(page, "b4").click(); await page.locator(".why .no").waitFor(); }],
      ["settings", () => page.getByRole("button", { name: "Settings" }).click()],
      ["stack", async () => { await sit(page, stack); await square(page, "e5").click(); await page.locator(".member").first().waitFor(); }],
      ["abilities", async () => { await sit(page, abilities); await square(page, "g1").click(); await page.locator(".card:not([hidden])").first().waitFor(); }],
      ["advice", async () => { await page.getByRole("button", { name: "Best moves" }).click(); await page.locator(".advice li").first().waitFor(); }],
      ["loadout", async () => { await lobby(page, "?game=ability-chess"); await square(page, "g1").click(); await page.locator(".loadout label").first().waitFor(); }],
      ["about", async () => { await page.goto(`${address}/about/atomic`); await page.locator(".kinds-of figure").first().waitFor(); }],
      ["rules", async () => { await page.goto(`${address}/rules`); await page.locator("#found .yes").waitFor(); }],
    ];
    for (const [name, go] of views) {
      await go();
      await page.evaluate(axe);
      const found = await page.evaluate(async () => (await window.axe.run(document)).violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(" ; ")}`));
      check(`axe finds nothing in ${name}, ${colorScheme}${found.length ? `: ${found.join(" | ")}` : ""}`, found.length === 0);
      await shot(page, `axe-${name}-${colorScheme}`);
    }
  }
}

/** All that a game loads before it is drawn, in bytes. */
async function weight() {
  const made = await make({ game: "chess" });
  const page = await person("weigher");
  const answers = [];
  page.on("response", (answer) => answers.push(answer));
  await page.goto(`${address}/game/${made.id}`);
  await waitFor("the board is drawn", async () => (await page.locator(".piece").count()) === 32);
  const sizes = await Promise.all(answers.map(async (it) => (await it.body().catch(() => "")).length));
  const bytes = sizes.reduce((sum, it) => sum + it, 0);
  check(`a game weighs ${bytes} bytes, below 300 KB`, bytes > 50_000 && bytes < 300_000);
}

// What is drawn is the same whichever node is asked.
const drawnAlike = [deploys, otherBoards, gamesInWords, accessible, weight];
await run("board", async () => {
  for (const part of [boardManners, twoTabs, ...(process.env.NODES ? [] : drawnAlike), dragsAndTouches]) await part();
});
