// A tournament in browsers: made by clicks, joined by its link, a Swiss of two rounds with four accounts who are taken to
// their games as they begin; its standings; the list in the lobby; and the page of an arena.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/tournament.mjs target/debug/rulemate target/e2e
//
// Ends with `tournament: N checks passed`, or with the first that did not.

import { accessible, address, check, drawn, person, run, shot, square, verdict, waitFor } from "./people.mjs";

const post = async (path, body, token) => (await fetch(`${address}/api/v1${path}`, { method: "POST", headers: token ? { authorization: `Bearer ${token}` } : {}, body: JSON.stringify(body) })).json();

/** A person who is logged in. */
async function player(name, ...more) {
  const page = await person(name, ...more);
  const account = await post("/accounts", { name });
  await page.goto(`${address}/rules`);
  await page.evaluate((it) => localStorage.setItem("account", it), JSON.stringify({ name, token: account.token }));
  return { name, page, token: account.token };
}

const standings = (page) => page.locator('[aria-label="Standings"] tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((it) => it.innerText.split(" ")[0])));
const state = (page) => page.locator("#tournament-state").innerText();

/** All are taken to their games; who comes later in the alphabet resigns. */
async function round(players, number) {
  for (const { page, name } of players) {
    await page.waitForURL(/\/game\//, { timeout: 30000 });
    await drawn(page);
    await waitFor(`${name} sits at a board of round ${number}`, async () => (await page.locator(".seats.bottom").innerText()).includes("(you)"));
  }
  const games = new Map();
  for (const it of players) games.set(it.page.url(), [...(games.get(it.page.url()) || []), it]);
  check(`round ${number} has two boards`, games.size === 2 && [...games.values()].every((it) => it.length === 2));
  for (const pair of games.values()) {
    const loser = pair[1];
    check("a game of a tournament is not called off", (await loser.page.getByRole("button", { name: /Call off|Take back|Presets/ }).count()) === 0);
    await loser.page.getByRole("button", { name: "Resign" }).click();
    await loser.page.getByRole("button", { name: "Yes, resign" }).click();
    for (const it of pair) await waitFor(`${it.name} sees the end`, async () => /resign/.test(await verdict(it.page)));
  }
  return [...games.keys()];
}

run("tournament", async () => {
  const phone = { width: 390, height: 664 };
  const [ann, ben, cyd, dee] = [await player("Ann"), await player("Ben", phone, { colorScheme: "dark" }), await player("Cyd"), await player("Dee", { width: 1400, height: 900 }, { colorScheme: "dark" })];
  const all = [ann, ben, cyd, dee];

  // Made by clicks.
  await ann.page.goto(`${address}/`);
  const fold = ann.page.locator("details.tournaments");
  await fold.waitFor();
  await waitFor("where there are no tournaments, they are folded away", async () => (await fold.getAttribute("open")) === null);
  await fold.locator("summary").click();
  await ann.page.getByRole("button", { name: "Make a tournament" }).click();
  await ann.page.locator("#tournament-title").fill("Club evening");
  await ann.page.locator("#tournament-length").fill("2");
  await ann.page.locator("#tournament-rated").check();
  await shot(ann.page, "tournament-make");
  await accessible(ann.page, "the form of a tournament");
  await ann.page.getByRole("button", { name: "Make it" }).click();
  await ann.page.waitForURL(/\/tournament\//);
  const link = ann.page.url();
  await ann.page.getByRole("button", { name: "Join", exact: true }).click();
  await waitFor("who joins is on the list", async () => (await standings(ann.page)).length === 1);

  // Joined by its link; a guest is asked to log in.
  const guest = await person("guest", phone);
  await guest.goto(link);
  await waitFor("a guest is asked to log in", () => guest.getByRole("button", { name: "Log in to join" }).isVisible());
  for (const { page } of [ben, cyd, dee]) {
    await page.goto(link);
    await page.getByRole("button", { name: "Join", exact: true }).click();
    await page.getByRole("button", { name: "Withdraw" }).waitFor();
  }
  check("only its maker starts it", (await ben.page.getByRole("button", { name: "Start now" }).count()) === 0);
  await waitFor("others are seen to join", async () => (await standings(ann.page)).length === 4);
  await shot(ann.page, "tournament-open");
  await shot(ben.page, "tournament-open-phone-dark");
  await accessible(ann.page, "a tournament that is open");
  await guest.goto(`${address}/`);
  await waitFor("the lobby shows what can be joined", async () => /Club evening[\s\S]*Swiss of 2 rounds[\s\S]*4[\s\S]*can be joined/.test(await guest.locator("details.tournaments").innerText()));
  await guest.locator("details.tournaments").scrollIntoViewIfNeeded();
  await guest.evaluate(() => window.scrollTo(0, document.querySelector("details.tournaments").offsetTop));
  await shot(guest, "lobby-tournaments-phone");
  // Longer than it takes the lists to be drawn anew.
  await guest.waitForTimeout(6000);
  await waitFor("and goes on to, above the games", async () => /Club evening/.test(await guest.locator("details.tournaments").innerText()) && (await guest.locator('section[aria-label="Games"]').count()) === 1 && (await guest.locator('main > section[aria-label="Games"]').count()) === 1);
  await waitFor("a phone shows all of it", async () => await guest.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await ann.page.getByRole("button", { name: "Start now" }).click();

  const first = await round(all, 1);
  await shot(ann.page, "tournament-game-over");
  await guest.goto(link);
  await waitFor("others see the round", async () => /Round [12] of 2/.test(await state(guest)));
  for (const { page } of all) await page.waitForURL((it) => !first.includes(String(it)), { timeout: 30000 });
  await guest.reload();
  await waitFor("and the next one", async () => /under way/.test(await guest.locator('[aria-label="Games"]').innerText()) && /Round 2 of 2/.test(await state(guest)));
  await shot(guest, "tournament-round-phone");
  await waitFor("a game under way is shown, with its pieces", async () => (await guest.locator(".stage svg.board [data-square]").count()) === 64 && /Watch this game/.test(await guest.locator(".stage").innerText()));
  await guest.setViewportSize({ width: 1280, height: 800 });
  await shot(guest, "tournament-round");
  await guest.emulateMedia({ colorScheme: "dark" });
  await shot(guest, "tournament-round-dark");
  await accessible(guest, "a tournament under way, in the dark");
  await guest.emulateMedia({ colorScheme: "light" });
  const second = await round(all, 2);
  check("each round has games of its own", second.every((it) => !first.includes(it)));

  for (const { page } of all) await page.getByRole("link", { name: "Back to the tournament" }).click();
  for (const { page, name } of all) await waitFor(`${name} sees who has won`, async () => (await state(page)) === "Ann has won");
  const rows = await standings(ann.page);
  check("the standings are right", JSON.stringify(rows.map((it) => [it[1], it[2], it[4]])) === JSON.stringify([["Ann", "2", "2"], ["Ben", "1", "2"], ["Cyd", "1", "2"], ["Dee", "0", "2"]].sort((one, other) => rows.findIndex((it) => it[1] === one[0]) - rows.findIndex((it) => it[1] === other[0]))) && rows[0][1] === "Ann" && rows[3][1] === "Dee");
  await waitFor("every game is told", async () => (await ann.page.locator('[aria-label="Games"] tbody tr').count()) === 4);
  await shot(ann.page, "tournament-over");
  await waitFor("and on a phone all of it", async () => await ben.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await shot(dee.page, "tournament-over-dark");
  await shot(ben.page, "tournament-over-phone-dark");
  await accessible(ann.page, "a tournament that is over");
  await accessible(dee.page, "a tournament in the dark");

  // A Swiss that its maker ends: who does not play on says so, comes back, and what is under way counts.
  const early = await post("/tournaments", { title: "Ended early", clock: { initial: 180000, increment: 2000 }, rounds: 5 }, ann.token);
  for (const it of [ann, ben]) await post(`/tournaments/${early.id}/join`, {}, it.token);
  const { playing } = await post(`/tournaments/${early.id}/start`, {}, ann.token);
  for (const it of [ann, cyd, dee]) await it.page.goto(`${address}/tournament/${early.id}`);
  await ann.page.waitForURL(/\/game\//);
  await drawn(ann.page);
  await ann.page.goBack();
  await waitFor("others are not asked whether it ends", async () => /Round 1 of 5/.test(await state(cyd.page)) && (await cyd.page.getByRole("button", { name: "End it early" }).count()) === 0);
  await ann.page.getByRole("button", { name: "End it early" }).click();
  await ann.page.getByRole("button", { name: "End it", exact: true }).click();
  for (const { page } of [ann, cyd]) await waitFor("all see that it ends", async () => (await state(page)) === "The last games are played to their end");
  check("nobody joins any more", (await cyd.page.getByRole("button", { name: "Join", exact: true }).count()) === 0);
  await shot(ann.page, "tournament-ending");
  await post(`/games/${playing[0].game}/resign`, {}, ben.token);
  for (const { page } of [ann, cyd]) await waitFor("and that it is over", async () => (await state(page)) === "Ann has won");

  // An arena that goes on; who is there is paired.
  const arena = await post("/tournaments", { title: "Knights at noon", game: "knightmate", clock: { initial: 180000, increment: 2000 }, minutes: 30 }, ann.token);
  for (const it of [ann, ben, cyd]) await post(`/tournaments/${arena.id}/join`, {}, it.token);
  await post(`/tournaments/${arena.id}/start`, {}, ann.token);
  await dee.page.goto(`${address}/tournament/${arena.id}`);
  await waitFor("an arena tells how long it goes on", async () => /^(30:00|29:\d\d) left$/.test(await state(dee.page)));
  await dee.page.getByRole("button", { name: "Join", exact: true }).click();
  await dee.page.waitForURL(/\/game\//, { timeout: 30000 });
  await drawn(dee.page);
  await waitFor("who comes late is paired with who is free", async () => /Knightmate/.test(await dee.page.locator(".title").innerText()));
  await square(dee.page, "e2").waitFor();
  await dee.page.goBack();
  await waitFor("who comes back from a game stays", async () => (await dee.page.getByRole("link", { name: "To my game" }).count()) === 1);
  await shot(dee.page, "tournament-arena-dark");
  // Who calls a game off, as who does not come to it, is left out until he comes back.
  const missed = (await dee.page.getByRole("link", { name: "To my game" }).getAttribute("href")).split("/").pop();
  await post(`/games/${missed}/abort`, {}, dee.token);
  await waitFor("who does not play is left out", () => dee.page.getByRole("button", { name: "Come back" }).isVisible());
  await waitFor("and is told so", async () => /not paired until you come back/.test(await dee.page.locator(".acts").first().innerText()));
  await waitFor("the game is lost", async () => /did not come/.test(await dee.page.locator('[aria-label="Games"]').innerText()));
  await shot(dee.page, "tournament-away-dark");
  await dee.page.getByRole("button", { name: "Come back" }).click();
  await dee.page.waitForURL(/\/game\//, { timeout: 60000 });
  await dee.page.goBack();
  await dee.page.getByRole("link", { name: "To my game" }).waitFor();
  await accessible(dee.page, "an arena");
});
