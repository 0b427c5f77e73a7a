// Games that ask more of a page than chess does: pieces of every kind are told apart by how they are drawn; stones that are
// put beside stones, pieces that are turned over as they are dropped, that rise where they stand, that are left behind by
// others; turns of two actions; squares that are no part of the board.
//
//   NODE_PATH=/tmp/e2e/node_modules node tests/e2e/variants.mjs target/debug/rulemate target/e2e
//
// Ends with `variants: N checks passed`, or with the first that did not.

import { address, check, lobby, make, person, run, shot, sit, square, verdict, waitFor } from "./people.mjs";

const label = (page, name) => square(page, name).getAttribute("aria-label");
const inHand = (page, letter) => page.locator(`[data-hand="${letter}"]:not([disabled])`);
const choice = (page, name) => page.locator("dialog.pick").getByRole("button", { name, exact: true });

/** No two kinds of a game look alike, drawn or as letters, and none is blank. */
async function drawings(page) {
  await page.goto(`${address}/about/chess`);
  await page.locator("svg.board").first().waitFor();
  const alike = await page.evaluate(async () => {
    const { picture } = await import("/page/pieces.js");
    const { games } = await (await fetch("/api/v1/catalogue")).json();
    const found = [];
    for (const { game } of games) {
      const answer = await fetch("/api/v1/presets/check", { method: "POST", body: JSON.stringify({ game, presets: [] }) });
      const { position, sides } = await answer.json();
      const seen = new Map();
      for (const kind of position.kinds) {
        const drawn = picture({ ...kind, side: 0 }, sides).innerHTML;
        if (!drawn || seen.has(drawn)) found.push(`${game}: ${kind.kind} and ${seen.get(drawn)}`);
        seen.set(drawn, kind.kind);
      }
    }
    return found;
  });
  check(`all kinds are told apart${alike.length ? `: ${alike.join(", ")}` : ""}`, alike.length === 0);
}

/** What is put down. */
async function putDown(page) {
  await sit(page, await make({ game: "ataxx" }));
  await square(page, "b6").click();
  await waitFor("a stone is put beside another one by a click", async () => (await label(page, "b6")) === "b6, white stone");
  await square(page, "a1").click();
  await square(page, "b2").click();
  await waitFor("also while that one is selected", async () => (await label(page, "b2")) === "b2, black stone");
  await square(page, "b6").click();
  await square(page, "d6").click();
  await waitFor("a stone moves two squares", async () => (await label(page, "d6")) === "d6, white stone" && (await label(page, "b6")) === "b6, empty");
  await sit(page, await make({ game: "ataxx", fen: "Ppppppp/ppppppp/ppppppp/7/7/7/7 w 1" }));
  await page.getByRole("button", { name: "pass" }).click();
  await waitFor("a side that can do nothing passes", async () => /Black to move/.test(await verdict(page)));

  await sit(page, await make({ game: "kyotoshogi", fen: "p1nk1/5/5/5/2K1P[Ss] w - - 0 1" }));
  await inHand(page, "s").click();
  await square(page, "c3").click();
  await choice(page, "bishop").click();
  await waitFor("a piece is turned over and dropped", async () => (await label(page, "c3")) === "c3, white bishop");
  await inHand(page, "s").click();
  await square(page, "b4").click();
  await choice(page, "silver").click();
  await waitFor("or dropped as it is", async () => (await label(page, "b4")) === "b4, black silver");

  await sit(page, await make({ game: "sittuyin", fen: "8/8/8/3P4/4P3/8/8/K6k[] w - - 0 1" }));
  await square(page, "d5").click();
  await square(page, "d5").click();
  await shot(page, "rises");
  await choice(page, "None").click();
  check("a second click only asks", (await label(page, "d5")).startsWith("d5, white pawn"));
  await square(page, "d5").click();
  await square(page, "d5").click();
  await choice(page, "general").click();
  await waitFor("a pawn rises where it stands", async () => (await label(page, "d5")) === "d5, white general");

  await sit(page, await make({ game: "janggi" }));
  const general = await page.locator('[aria-label$="white king"]').getAttribute("data-square");
  await square(page, general).click();
  await square(page, general).click();
  await choice(page, "pass").click();
  await waitFor("a side passes by a second click on its general", async () => /to move/.test(await verdict(page)) && (await page.locator(".list .move").count()) === 1);

  await sit(page, await make({ game: "placement" }));
  await inHand(page, "k").click();
  await square(page, "e1").click();
  await waitFor("a king is put on the board", async () => (await label(page, "e1")) === "e1, white king");

  await sit(page, await make({ game: "shouse" }));
  await square(page, "g1").click();
  await square(page, "f3").click();
  await choice(page, "hawk").click();
  await waitFor("a hawk is left behind", async () => (await label(page, "g1")) === "g1, white hawk" && (await label(page, "f3")) === "f3, white knight");
}

/** Turns of two actions, and squares that are gone. */
async function gone(page) {
  await sit(page, await make({ game: "isolation" }));
  await square(page, "c1").click();
  await square(page, "c2").click();
  await waitFor("the turn goes on", async () => /White goes on/.test(await verdict(page)));
  await square(page, "c2").click();
  await square(page, "d7").click();
  await waitFor("a square is taken out, whatever was selected", async () => (await label(page, "d7")) === "d7, empty, wall" && /Black to move/.test(await verdict(page)));
  await shot(page, "isolation");

  await lobby(page);
  await page.locator("#game").selectOption("omicron");
  await waitFor("what the game is", async () => /twelve files and ten ranks/i.test(await page.locator(".make .about").innerText()));
  await waitFor("its pieces can be put down", async () => (await page.locator("#brush option", { hasText: "white wizard" }).count()) === 1);
  await page.locator("#brush").selectOption("N");
  await square(page, "d5").click();
  await waitFor("squares that are no part of the board stay out of it", async () => (await page.locator("#fen").inputValue()).startsWith("w**********w/*crnbqkbnrc*/*pppppppppp*/*10*/*10*/*2N7*/"));

  await page.goto(`${address}/about/pocketknight`);
  await waitFor("its page says what is in hand", async () => (await page.locator(".in-hand").allInnerTexts()).join() === "White has in hand: 1 knight.,Black has in hand: 1 knight.");
  await page.goto(`${address}/about/omicron`);
  await waitFor("its page says what it is", async () => /There wizards stand/.test(await page.locator(".description").innerText()));
  await waitFor("a rook is drawn", async () => (await page.locator('[data-kind="rook"]').count()) === 1);
  const told = await page.locator('[data-kind="rook"] svg').getAttribute("aria-label");
  check(`no piece goes off the board: ${told}`, !/\b(?:[a-l](?:1|10)|[al]\d)\b/.test(told.replace(/^From \S+/, "")));
}

await run("variants", async () => {
  const page = await person("vic");
  await drawings(page);
  await putDown(page);
  await gone(page);
});
