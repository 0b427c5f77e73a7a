// Games that are not chess, each played to its end by two people in two browsers: ability chess with a draft, facings and a
// rewind; CoTuLenh with a deployment, a step undone and a recombination. Then what the page has for them: loadouts by link,
// cards, advice, moves ahead that a takeback forgets.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/families.mjs target/debug/rulemate target/e2e
//
// Ends with `families: N checks passed`, or with the first that did not.

import { address, check, drag, drawn, lobby, make, middle, pair, person, run, shot, sit, square, verdict, waitFor } from "./people.mjs";

const moves = (page) => page.locator(".list .move").count();
const label = (page, name) => square(page, name).getAttribute("aria-label");

/** Waits until both pages have so many actions. */
async function both(pages, count, what) {
  for (const it of pages) await waitFor(what, async () => (await moves(it)) === count);
}

/** Ability chess: a draft of two points each, a rook that faces north, and a mate that a pawn takes back once. */
async function abilities() {
  const [ann, ben] = [await person("ann"), await person("ben")];
  const pages = [ann, ben];
  await pair(ann, ben, { game: "ability-chess", presets: ["loadout-draft:both:points=2"] });
  await waitFor("each side has two points", async () => (await ann.locator(".counted").allInnerTexts()).join() === "draft points 2,draft points 2");
  let played = 0;
  const give = async (page, on, what) => {
    await square(page, on).click();
    await page.locator("dialog").getByRole("button", { name: what, exact: true }).click();
    played += 1;
    await both(pages, played, `${on} is given ${what}`);
  };
  await square(ann, "a1").click();
  await shot(ann, "draft");
  await ann.locator("dialog").getByRole("button", { name: "None" }).click();
  await give(ann, "a1", "Block piece");
  await give(ben, "f7", "Do over");
  await give(ann, "f1", "Air");
  await give(ben, "e7", "Fire");
  await waitFor("what was drafted is told", async () => (await label(ben, "f1")) === "f1, white bishop, Air" && (await label(ann, "f7")) === "f7, black pawn, Do-Over");
  await waitFor("and drawn", async () => (await ann.locator(".trait").count()) === 4);
  for (const page of pages) {
    await page.getByRole("button", { name: "done drafting" }).click();
    played += 1;
    await both(pages, played, "a side has drafted");
  }
  const go = async (page, from, to) => {
    await drag(page, from, to);
    played += 1;
    await both(pages, played, `${from}${to} is on both boards`);
  };
  await go(ann, "a2", "a4");
  await go(ben, "e7", "e5");
  // A piece with Block Piece is asked where it faces.
  await drag(ann, "a1", "a3");
  await ann.locator("dialog .compass").waitFor();
  await waitFor("eight facings to point at", async () => (await ann.locator("[data-facing]").count()) === 8);
  await shot(ann, "facing-dialog");
  await ann.locator('[data-facing="n"]').click();
  played += 1;
  await both(pages, played, "the rook has gone, and faces north");
  for (const it of pages) await waitFor("the facing is drawn", async () => (await it.locator(".facing").count()) === 1);
  await go(ben, "b8", "c6");
  await go(ann, "e2", "e4");
  await go(ben, "a7", "a6");
  await go(ann, "d1", "h5");
  await go(ben, "b7", "b6");
  await go(ann, "f1", "c4");
  await go(ben, "a6", "a5");
  await go(ann, "h5", "f7");
  for (const it of pages) {
    await waitFor("the pawn takes its loss back: two turns are undone", async () => (await label(it, "f7")).startsWith("f7, black pawn") && (await label(it, "a6")) === "a6, black pawn" && (await label(it, "h5")) === "h5, white queen");
    await waitFor("and the list says so", async () => (await it.locator(".note").allInnerTexts()).some((text) => /^do over:2$/.test(text)));
  }
  await shot(ben, "rewound");
  await go(ben, "a6", "a5");
  await go(ann, "h5", "f7");
  for (const it of pages) await waitFor("its copy is spent: mate", async () => /White wins: checkmate/.test(await verdict(it)));
  await shot(ann, "abilities-over");

  // A turn of several segments: they stay to be seen, and the turn is ended by a button.
  const page = await person("cid", { width: 1280, height: 800 });
  await sit(page, await make({ game: "ability-chess", fen: "4k3/8/8/8/8/8/8/4K1N1 w - - 0 1 element=-,g1:air tailwind=-,g1:true side-step=-,g1:true" }));
  await drag(page, "g1", "f3");
  await waitFor("steps that are left are told", async () => /goes on with the turn \(steps left 2\)/.test(await verdict(page)));
  await drag(page, "f3", "e5");
  await waitFor("both segments are drawn", async () => (await page.locator(".trail").count()) === 2);
  await shot(page, "segments");
  await page.getByRole("button", { name: "Undo step" }).click();
  await waitFor("a segment is undone", async () => (await moves(page)) === 1);
  await page.getByRole("button", { name: "end turn" }).click();
  await waitFor("the turn is ended", async () => /Black to move/.test(await verdict(page)));
  const [x, y] = await middle(page, "f3");
  await page.mouse.move(x, y);
  await waitFor("a card tells what a piece has", async () => /Tailwind: A piece of Air has two steps more/.test(await page.locator(".card.floating").innerText()));
  await page.mouse.move(5, 5);
  await waitFor("and goes with the pointer", async () => !(await page.locator(".card.floating").isVisible()));
}

/** CoTuLenh: tank and aircraft leave their stack, the infantry joins the aircraft, and the commander is mated. */
async function cotulenh() {
  const [ann, ben] = [await person("ada"), await person("bob", { width: 1280, height: 800 }, { colorScheme: "dark" })];
  const pages = [ann, ben];
  await pair(ann, ben, { game: "cotulenh", seat: "red", fen: "6c4/11/11/5A5/11/7T3/4(FTI)6/6F4/11/11/11/2C8 r - - 0 1" });
  let played = 0;
  const done = async (what) => { played += 1; await both(pages, played, what); };
  const ground = await ann.locator(".mark-sea").count();
  await waitFor("sea, coast and river are drawn", async () => ground === 24 && (await ann.locator(".mark-coast").count()) > 0 && (await ann.locator(".mark-river").count()) > 0);
  check("the eleven kinds have pictures of their own", await ann.evaluate(async () => {
    const { shapeOf } = await import("/page/shapes.js");
    return ["commander", "infantry", "militia", "tank", "engineer", "artillery", "anti-air", "missile", "air-force", "navy", "headquarter"].every(shapeOf);
  }));
  // The tank is the second of three: at the upper right.
  await drag(ann, "e6", "e8", [0.24, -0.25]);
  await done("the tank has left its stack");
  await square(ann, "e6").click();
  await ann.getByRole("button", { name: "air-force alone" }).click();
  await square(ann, "e9").click();
  await done("the aircraft has left, too");
  await shot(ann, "deploy-two");
  await ann.getByRole("button", { name: "Undo step" }).click();
  played -= 1;
  await both(pages, played, "its step is undone");
  await square(ann, "e6").click();
  await ann.getByRole("button", { name: "air-force alone" }).click();
  await square(ann, "e9").click();
  await done("and made again");
  await waitFor("the turn can be committed", async () => (await ann.getByRole("button", { name: "commit", exact: true }).count()) === 1);
  await drag(ann, "e6", "e9");
  await done("the infantry joins the aircraft");
  for (const it of pages) {
    await waitFor("they are a stack again", async () => (await label(it, "e9")).startsWith("e9, red air-force, red infantry"));
    await waitFor("and the deployment is over", async () => /Blue to move/.test(await verdict(it)));
  }
  await shot(ben, "recombined-dark");
  for (const [page, from, to] of [[ben, "g12", "j12"], [ann, "h7", "f7"], [ben, "j12", "j11"], [ann, "g5", "g9"], [ben, "j11", "k11"], [ann, "c1", "c10"], [ben, "k11", "j11"], [ann, "e9", "g11"]]) {
    await drag(page, from, to);
    await done(`${from} to ${to} is on both boards`);
  }
  for (const it of pages) await waitFor("the commander is mated", async () => /Red wins: checkmate/.test(await verdict(it)));
  await shot(ann, "cotulenh-over");
}

/** A loadout is chosen by clicks, and shared by a link. */
async function loadouts() {
  const page = await person("dot", { width: 1280, height: 900 });
  await lobby(page, "?game=ability-chess");
  await waitFor("a link chooses the game", async () => (await page.locator("#game").inputValue()) === "ability-chess");
  await square(page, "g1").click();
  await page.locator('[data-field="tailwind"]').check();
  await waitFor("an ability is given", async () => (await label(page, "g1")) === "g1, white knight, Tailwind");
  await page.locator('[data-field="element"]').selectOption("air");
  await waitFor("and an element", async () => /Air/.test(await label(page, "g1")));
  await page.locator('[data-field="do-over"]').fill("2");
  await page.locator('[data-field="do-over"]').press("Tab");
  await waitFor("and two copies of another", async () => /do-over=-,g1:2/.test(await page.locator("#fen").inputValue()));
  await shot(page, "loadout-editor");
  await page.getByRole("button", { name: "Copy a link" }).click();
  const link = await page.locator("#setup-link").inputValue();
  await page.goto(link);
  await waitFor("the link has all of it", async () => /Air/.test(await label(page, "g1")) && /Tailwind/.test(await label(page, "g1")) && /Do-Over/.test(await label(page, "g1")));
  await page.locator("#seat").selectOption("both");
  await page.getByRole("button", { name: "Make the game" }).click();
  await page.waitForURL(/\/game\//);
  await drawn(page);
  await waitFor("and the game begins with it", async () => /Tailwind/.test(await label(page, "g1")));
}

/** The computer's advice, with reasons: in a game alone. And a move ahead that a takeback forgets. */
async function adviceAndTakebacks() {
  const page = await person("eli", { width: 1280, height: 800 });
  await sit(page, await make({ game: "chess", fen: "4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1" }));
  await page.getByRole("button", { name: "Best moves" }).click();
  await waitFor("the best move comes with its reason", async () => /^exd5.*It takes the black queen on d5\./.test(await page.locator(".advice li").first().innerText()));
  await shot(page, "advice");
  const [ann, ben] = [await person("fred"), await person("greg")];
  await pair(ann, ben, { game: "chess" });
  check("none while two people play", !(await ann.getByRole("button", { name: "Best moves" }).isVisible()));
  await drag(ann, "e2", "e4");
  await both([ann, ben], 1, "one move is played");
  await drag(ann, "d2", "d4");
  await waitFor("a move ahead is shown", async () => (await ann.locator(".ahead").count()) === 2);
  await ann.getByRole("button", { name: "Take back" }).click();
  await ben.getByRole("button", { name: "Accept" }).click();
  await waitFor("the move is taken back", async () => (await moves(ann)) === 0);
  check("and the move ahead is forgotten", (await ann.locator(".ahead").count()) === 0);
  await drag(ann, "c2", "c4");
  await both([ann, ben], 1, "another one is played");
  await drag(ben, "e7", "e5");
  await both([ann, ben], 2, "and answered");
  await new Promise((wake) => setTimeout(wake, 300));
  check("what was meant before is not played", (await moves(ann)) === 2);
}

await run("families", async () => {
  await abilities();
  await cotulenh();
  await loadouts();
  await adviceAndTakebacks();
});
