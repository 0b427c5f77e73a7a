// The list of the moves that were played, and the buttons that step through it.

import { report } from "./account.js";
import { clear, h, words } from "./dom.js";

/** Scrolls a list, and nothing around it, until a line of it is visible. */
export function reveal(list, line) {
  if (!line) return;
  const top = line.getBoundingClientRect().top - list.getBoundingClientRect().top;
  const below = top + line.offsetHeight - list.clientHeight;
  if (top < 0) list.scrollTop += top;
  else if (below > 0) list.scrollTop += below;
}

/** The squares in the text of an action, in order. */
export function squaresOf(uci, position) {
  if (!position.points?.length) return uci.match(/[a-p]\d{1,2}/g) || [];
  // The longest names first: one name may begin with another.
  const names = position.points.map((it) => it.name).sort((one, other) => other.length - one.length);
  return uci.match(new RegExp(names.join("|"), "g")) || [];
}

export class Moves {
  constructor(view) {
    this.view = view;
    this.root = h("div", { class: "moves" });
    this.steps = h("div", { class: "steps" });
    this.drawSteps();
  }

  draw() {
    const { state, ply, id } = this.view;
    const shown = ply ?? state.ply;
    let number = 0;
    const items = state.history.map((it, at) => {
      const starts = at === 0 || !state.history[at - 1].turn_goes_on;
      const round = starts && (it.side === 0 || at === 0);
      if (round) number += 1;
      const count = round ? h("span", { class: "number" }, it.side === 0 ? `${number}.` : `${number}…`) : null;
      return h("li", { class: `side${it.side}${starts ? "" : " goes-on"}` }, count, h("button", {
        class: at + 1 === shown ? "move current" : "move",
        "aria-current": at + 1 === shown ? "step" : null,
        title: it.uci,
        onclick: () => this.view.show(at + 1),
      }, it.san),
      (it.notes || []).map((note) => h("span", { class: "note" }, words(note))));
    });
    // The list takes the focus, so that it can be scrolled without a mouse.
    const list = h("ol", { class: "list", "aria-label": "Moves", tabindex: "0" }, items);
    const exports = ["pgn", "fen", "facts"].map((it) => [h("a", { href: `/api/v1/games/${id}/export?format=${it}` }, it.toUpperCase()), " "]);
    const before = this.root.querySelector(".list")?.scrollTop ?? 0;
    clear(this.root, list, h("p", { class: "exports" }, "Export: ", exports, " · ", h("button", { class: "inline", onclick: () => report(id) }, "Report")));
    list.scrollTop = shown ? before : 0;
    reveal(list, list.querySelector(".current"));
  }

  /** Draws the buttons once, at a place that nothing moves: a second click must not hit another button. */
  drawSteps() {
    const shown = () => this.view.ply ?? this.view.state.ply;
    const go = (text, label, ply) => h("button", { class: "quiet", "aria-label": label, onclick: () => this.view.show(ply()) }, text);
    clear(this.steps, go("|◀", "First position", () => 0), go("◀", "One back", () => shown() - 1), go("▶", "One on", () => shown() + 1), go("▶|", "Current position", () => null),
      h("button", { class: "quiet", "aria-label": "Turn board", title: "Turn board", onclick: () => this.view.turnBoard() }, "⇅"),
      h("button", { class: "quiet", "aria-label": "Settings", title: "Settings", onclick: () => this.view.openSettings() }, "⚙"));
  }
}
