// How long it takes from a click to the move drawn on the other side, and until a newcomer sees the page and a game
// against the computer: browsers and the server on one machine.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/latency.mjs target/release/rulemate target/e2e
//
// Figures for a quiet machine, so they are not compared with anything.

import { address, drawn, pair, person, run, square } from "./people.mjs";

const MOVES = `e2e3 b8a6 d2d3 a6b8 b1a3 g8h6 a3c4 e7e6 b2b3 f7f5 c4d6 c7d6 a2a4 d8h4 d1g4 b7b5 e3e4 b8c6 g4h3 h4f2
  e1d1 f8e7 a4a5 e7f6 g1f3 f6e5 a1b1 f2g2 h1g1 c6a5`.split(/\s+/);

/** Notes when the number of moves that a page lists, and so its board, changes. */
const watch = () => {
  window.drawnAt = [];
  let count = document.querySelectorAll(".list .move").length;
  new MutationObserver(() => {
    const now = document.querySelectorAll(".list .move").length;
    if (now === count) return;
    count = now;
    // Drawn means on the screen: after the next frame.
    requestAnimationFrame(() => window.drawnAt.push(Date.now()));
  }).observe(document.body, { childList: true, subtree: true });
  document.addEventListener("pointerdown", () => { window.clickedAt = Date.now(); }, true);
};

const middleOf = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];

/** First paints, and two clicks to a game against the computer, with nothing in the browser's cache. */
async function newcomer() {
  const painted = (page) => page.evaluate(() => Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime));
  const [lobby, game, underWay] = [[], [], []];
  for (let at = 0; at < 5; at += 1) {
    const page = await person(`newcomer-${at}`);
    await page.goto(address);
    await page.locator(".quick button").first().waitFor();
    lobby.push(await painted(page));
    const begun = Date.now();
    await page.getByRole("button", { name: "Play the computer" }).click();
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await page.waitForURL(/\/game\//);
    await drawn(page);
    underWay.push(Date.now() - begun);
    await page.reload();
    await drawn(page);
    game.push(await painted(page));
    await page.close();
  }
  console.log(`a newcomer, medians of 5: first paint of the lobby ${middleOf(lobby)} ms, of a game ${middleOf(game)} ms; two clicks to a game against the computer, ${middleOf(underWay)} ms`);
}

await run("latency", async () => {
  await newcomer();
  const pages = [await person("Ann"), await person("Ben")];
  await pair(pages[0], pages[1], { game: "chess" });
  for (const it of pages) {
    await drawn(it);
    await it.evaluate(watch);
  }
  const took = [];
  for (const [turn, uci] of MOVES.entries()) {
    const [from, to] = [uci.slice(0, 2), uci.slice(2)];
    const [own, other] = turn % 2 ? [pages[1], pages[0]] : pages;
    await square(own, from).click();
    await square(own, to).click();
    await other.waitForFunction((want) => window.drawnAt.length === want, turn + 1, { timeout: 20000 });
    await own.waitForFunction((want) => window.drawnAt.length === want, turn + 1, { timeout: 20000 });
    took.push((await other.evaluate(() => window.drawnAt.at(-1))) - (await own.evaluate(() => window.clickedAt)));
  }
  console.log(`click to the move drawn on the other side, ${MOVES.length} moves: median ${middleOf(took)} ms, slowest ${took.at(-1)} ms`);
});
