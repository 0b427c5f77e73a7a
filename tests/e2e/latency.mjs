// How long it takes from a click to the move drawn on the other side: two browsers and the server on one machine.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/latency.mjs target/release/rulemate target/e2e
//
// A figure for a quiet machine, so it checks nothing; ends with the median.

import { drawn, pair, person, run, square } from "./people.mjs";

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

await run("latency", async () => {
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
  took.sort((a, b) => a - b);
  console.log(`click to the move drawn on the other side, ${MOVES.length} moves: median ${took[MOVES.length / 2]} ms, slowest ${took.at(-1)} ms`);
});
