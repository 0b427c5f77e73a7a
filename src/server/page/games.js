// The games of the catalogue: a field to choose one, and the names of games and presets.

import { h, spoken, words } from "./dom.js";

/** The games that people ask for most. */
export const POPULAR = ["chess", "knightmate", "crazyhouse", "atomic", "cotulenh", "xiangqi"];

export const titleOf = (catalogue, game) => catalogue.games.find((it) => it.game === game)?.title ?? words(game);

/** An activation as people say it. */
export const spokenBy = (catalogue, activation) => spoken(activation, (preset) => catalogue.presets.find((it) => it.preset === preset)?.name);

/** A field to choose one of the games, by their titles. */
export function gameField(id, catalogue, chosen) {
  const option = (it) => h("option", { value: it.game, selected: it.game === chosen }, it.title);
  const popular = POPULAR.flatMap((name) => catalogue.games.filter((it) => it.game === name));
  const others = catalogue.games.filter((it) => !popular.includes(it)).sort((one, other) => one.title.localeCompare(other.title));
  return h("select", { id },
    h("optgroup", { label: "Often played" }, popular.map(option)),
    h("optgroup", { label: "All others" }, others.map(option)));
}
