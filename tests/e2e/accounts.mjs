// Accounts in browsers: made and logged in by clicks, one seat played from two devices, a rated game to its end, logging
// out. Guests play as before, which the other browser tests show.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/accounts.mjs target/debug/rulemate target/e2e
//
// Ends with `accounts: N checks passed`, or with the first that did not.

import { address, check, drawn, person, require, run, shot, square, verdict, waitFor } from "./people.mjs";

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

/** Axe finds nothing. */
async function accessible(page, what) {
  await page.evaluate(require("axe-core").source);
  const found = await page.evaluate(() => window.axe.run());
  check(`${what}: ${found.violations.map((it) => it.id).join(", ") || "no violation"}`, found.violations.length === 0);
}

/** One move by clicks. */
async function step(page, from, to) {
  const count = await page.locator(".list .move").count();
  await square(page, from).click();
  await square(page, to).click();
  await page.waitForFunction((want) => document.querySelectorAll(".list .move").length === want, count + 1, { timeout: 20000 });
}

const seen = (page, count) => page.waitForFunction((want) => document.querySelectorAll(".list .move").length === want, count, { timeout: 20000 });

run("accounts", async () => {
  const [ann, desk, ben, guest] = [await person("ann"), await person("ann at her desk"), await person("ben"), await person("guest", { width: 390, height: 664 })];
  const codes = await join(ann, "Ann");
  check("an account has eight codes", codes.length === 8 && codes.every((it) => /^\w{5}-\w{5}-\w{5}$/.test(it)));
  check("the head of the page says who is logged in", (await ann.locator("#me").innerText()) === "Ann");
  await join(ben, "Ben");

  // A rated game, by a link.
  await ann.getByRole("button", { name: "Play a friend" }).click();
  await ann.locator("#quick-rated").check();
  await ann.getByRole("button", { name: "Make the link" }).click();
  await drawn(ann);
  const link = ann.url();
  check("the game says that it is rated", /rated/.test(await ann.locator(".title").innerText()));
  await guest.goto(link);
  await drawn(guest);
  check("a guest is asked to log in", await guest.getByRole("button", { name: "Log in to play" }).isVisible() && (await guest.getByRole("button", { name: /^Play (white|black)/ }).count()) === 0);
  await shot(guest, "rated-guest");
  await ben.goto(link);
  await drawn(ben);
  check("who joins is told that it is rated", /rated/.test(await ben.locator(".offers").innerText()));
  await ben.getByRole("button", { name: /^Play (white|black)/ }).click();
  await waitFor("Ben sits", async () => /Ben/.test(await ben.locator(".seats.bottom").innerText()));

  // The same seat from another device.
  await desk.goto(`${address}/`);
  await desk.getByRole("button", { name: "Log in" }).click();
  await desk.locator("#account-name").fill("ann");
  await desk.locator("#account-code").fill("aaaaa-aaaaa-aaaaa");
  await desk.getByRole("button", { name: "Go on" }).click();
  await waitFor("a wrong code is refused with a sentence", async () => /no account of this name/.test(await desk.locator("dialog .error").innerText()));
  await desk.locator("#account-code").fill(codes[0]);
  await desk.getByRole("button", { name: "Go on" }).click();
  await desk.locator("#me").click();
  await desk.locator(".mine a").first().click();
  await drawn(desk);
  check("it is her game there, too", /Ann.*\(you\)/.test(await desk.locator(".seats").allInnerTexts().then((it) => it.join(" "))));

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
  await ann.locator("#me").click();
  await waitFor("her page has her rating", async () => /1662|1338/.test(await ann.locator('[aria-label="Ratings"]').innerText()));
  check("and her devices", (await ann.locator(".devices li").count()) === 2);
  await shot(ann, "account");
  await accessible(ann, "one's own page");
  await guest.goto(`${address}/user/Ann`);
  await waitFor("all see the rating", async () => /1662|1338/.test(await guest.locator('[aria-label="Ratings"]').innerText()));
  check("and nothing of the devices", (await guest.locator(".devices").count()) === 0);
  await shot(guest, "player-phone");

  // The other device is logged out: it goes on as a guest.
  await ann.getByRole("button", { name: "Log it out" }).click();
  await waitFor("it is gone from the list", async () => (await ann.locator(".devices li").count()) === 1);
  await desk.reload();
  await drawn(desk);
  await desk.goto(`${address}/`);
  await waitFor("who was logged out elsewhere is a guest", () => desk.getByRole("button", { name: "Log in" }).isVisible());
  await ann.getByRole("button", { name: "Log out", exact: true }).click();
  await waitFor("who logs out is a guest", () => ann.getByRole("button", { name: "Log in" }).isVisible());
});
