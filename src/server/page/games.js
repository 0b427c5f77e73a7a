// The games of the catalogue, to choose one of them.

import { h } from "./dom.js";

/** What people ask for most. */
export const POPULAR = ["chess", "knightmate", "crazyhouse", "atomic", "cotulenh", "xiangqi"];

/** A field to choose one of the games, by their titles. */
export function gameField(id, catalogue, chosen) {
  const option = (it) => h("option", { value: it.game, selected: it.game === chosen }, it.title);
  const popular = POPULAR.flatMap((name) => catalogue.games.filter((it) => it.game === name));
  const others = catalogue.games.filter((it) => !popular.includes(it)).sort((one, other) => one.title.localeCompare(other.title));
  return h("select", { id },
    h("optgroup", { label: "Often played" }, popular.map(option)),
    h("optgroup", { label: "All others" }, others.map(option)));
}
