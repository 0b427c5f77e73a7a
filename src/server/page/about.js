// The page about a game: its rules in words, where its pieces go, and what presets would change.

import { get, makeGame, post } from "./api.js";
import { Board } from "./board.js";
import { handOf } from "./choose.js";
import { diagram } from "./diagrams.js";
import { begin, clear, h, table, withAll, words } from "./dom.js";
import { spokenBy } from "./games.js";

/** @param {URLSearchParams} asked `rules`: the id of uploaded rules; `presets`: presets on top, with spaces between */
export async function showAbout(main, name, asked) {
  const rules = asked.get("rules");
  const presets = (asked.get("presets") || "").split(" ").filter(Boolean);
  const catalogue = await get(rules ? `/catalogue?rules=${rules}` : "/catalogue");
  const game = catalogue.games.find((it) => it.game === name || it.aliases.includes(name));
  if (!game) throw new Error(`There is no game ${name}.`);
  const wish = (more) => ({ game: game.game, presets: [...presets, ...more], rules: catalogue.rules, diagrams: true });
  const rated = [game.game, ...[...presets].sort()].join(" ");
  const [found, leaders] = await Promise.all([post("/presets/check", wish([])), rules ? [] : get(`/leaders?rules=${encodeURIComponent(rated)}`)]);
  document.title = `${game.title} – Rulemate`;
  const board = new Board({ onSquare: () => {} });
  board.draw(found.position, { sides: found.sides });
  clear(main, h("article", { class: "about-page" },
    h("h1", {}, game.title, h("small", {}, withAll(presets.map((it) => spokenBy(catalogue, it))))),
    h("p", {}, h("button", { onclick: () => play(main, { game: game.game, presets, rules }) }, "Play it with a friend")),
    rulesInWords(catalogue, found, game),
    h("h2", {}, "How it starts"), h("div", { class: "start" }, board.root), inHand(found),
    found.diagrams?.length ? [h("h2", {}, "Where the pieces go"),
      h("p", { class: "hint" }, "Dots: where a piece goes on an empty board. Crosses: where it goes to capture only. A piece that its side depends on is royal."),
      h("div", { class: "kinds-of" }, found.diagrams.map((it) => diagram(it, found.position, found.sides)))] : null,
    best(leaders), changes(catalogue, found, wish)));
}

/** The pieces that the sides have in hand at the start. */
function inHand({ position, sides }) {
  const row = (side, at) => {
    const counts = [...(handOf(position, at) ?? [])].map(([letter, count]) => [position.kinds.find((it) => it.letter === letter), count]);
    const told = counts.filter(([kind]) => kind).map(([kind, count]) => `${count} ${words(kind.name).toLowerCase()}`);
    return told.length ? h("p", { class: "in-hand" }, `${begin(words(side))} has in hand: ${told.join(", ")}.`) : null;
  };
  return sides.map(row);
}

/** The players with the highest ratings, if there are any. */
function best(leaders) {
  if (!leaders.length) return null;
  const row = (it, at) => h("tr", {}, h("td", {}, `${at + 1}`), h("td", {}, h("a", { href: `/user/${it.id}` }, it.id)), h("td", {}, `${it.rating}`), h("td", {}, `${it.games}`));
  return [h("h2", {}, "Who plays it best"), h("div", { class: "games" }, table(["Place", "Player", "Rating", "Rated games"], leaders.map(row)))];
}

/** The descriptions of the game and of each active preset, with the side that it is for. */
function rulesInWords(catalogue, found, game) {
  const told = found.active.map((activation) => {
    const [preset, scope] = activation.split(":");
    const entry = catalogue.presets.find((it) => it.preset === preset);
    if (!entry) return null;
    const whom = scope && scope !== "both" && scope !== "all" ? ` (${words(scope)} only)` : "";
    return h("li", {}, h("b", {}, `${entry.name}${whom}: `), `${entry.description}.`);
  }).filter(Boolean);
  const sides = found.sides.map(words);
  return [h("h2", {}, "The rules"),
    game.description ? h("p", { class: "description" }, game.description) : null,
    h("p", {}, `${begin(sides.slice(0, -1).join(", "))} and ${sides.at(-1)} play; ${words(found.sides[found.position.turn])} begins.`),
    told.length ? h("ul", {}, told) : h("p", {}, "The pieces go as drawn below.")];
}

/** What a preset would change: its description, and the diagrams that differ. */
function changes(catalogue, found, wish) {
  const active = new Set(found.active.map((it) => it.split(":")[0]));
  const free = catalogue.presets.filter((it) => !active.has(it.preset));
  const answer = h("div", { "aria-live": "polite" });
  const choose = h("select", { id: "what-if", "aria-label": "A preset", onchange: async () => {
    const entry = free.find((it) => it.preset === choose.value);
    if (!entry) return clear(answer);
    try {
      const other = await post("/presets/check", wish([entry.preset]));
      const same = new Map((found.diagrams || []).map((it) => [it.kind, JSON.stringify([it.goes, it.captures])]));
      const changed = (other.diagrams || []).filter((it) => same.get(it.kind) !== JSON.stringify([it.goes, it.captures]));
      clear(answer, h("p", {}, `${entry.description}.`), other.conflicts.map((it) => h("p", { class: "hint" }, `Note: ${it}.`)),
        h("div", { class: "kinds-of" }, changed.map((it) => diagram(it, other.position, other.sides))),
        changed.length ? null : h("p", { class: "hint" }, "Where the pieces go on an empty board stays as it is."));
    } catch (error) {
      clear(answer, h("p", { class: "error" }, error.message));
    }
  } }, h("option", { value: "" }, "a preset"), free.map((it) => h("option", { value: it.preset }, it.name)));
  return [h("h2", {}, "What if?"), h("p", {}, "What would change with ", choose), answer];
}

async function play(main, { game, presets, rules }) {
  try {
    const made = await makeGame({ game, presets, seat: "random", listed: true, ...(rules ? { rules } : {}) });
    location.href = made.url;
  } catch (error) {
    main.prepend(h("p", { class: "error" }, error.message));
  }
}
