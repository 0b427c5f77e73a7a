// The computer's best moves, with reasons: in games against oneself or the computer, and in games that are over.

import { get } from "./api.js";
import { announce, clear, h } from "./dom.js";
import { squaresOf } from "./moves.js";

export class Advice {
  constructor(view) {
    this.view = view;
    this.root = h("div", { class: "advice" });
    this.answer = h("div", { "aria-live": "polite" });
    this.button = h("button", { class: "quiet", onclick: () => this.ask() }, "Best moves");
    clear(this.root, this.button, this.answer);
  }

  /** Whether advice is fair: no two people play against each other. The server checks that, too. */
  mayAsk() {
    const { state } = this.view;
    const alone = state.sides.every((_, side) => state.you.includes(side) || state.computers?.[side]);
    return Boolean(state.result) || state.open || (state.you.length > 0 && alone);
  }

  draw() {
    this.root.hidden = !this.mayAsk();
    const key = `${this.view.ply ?? this.view.state.ply} ${this.view.state.ply}`;
    if (key !== this.key) clear(this.answer);
    this.key = key;
  }

  async ask() {
    const { view } = this;
    const key = this.key;
    this.button.disabled = true;
    clear(this.answer, h("p", { class: "hint" }, "The computer thinks."));
    try {
      const found = await get(`/games/${view.id}/advice${view.ply === null ? "" : `?ply=${view.ply}`}`, view.token);
      if (key !== this.key) return;
      const line = (it) => h("li", { onmouseenter: () => view.light(new Set(squaresOf(it.uci, view.position))), onmouseleave: () => view.light(new Set()) },
        h("b", {}, it.san), h("span", { class: "chance" }, it.decided > 0 ? " wins" : it.decided < 0 ? " loses" : ` ${it.chance} %`),
        it.reasons.length ? ` ${it.reasons.join(" ")}` : "");
      clear(this.answer, found.length ? [h("ol", {}, found.map(line)), h("p", { class: "hint" }, "In percent: how likely the side to move wins, as the computer sees it.")] : h("p", {}, "There is nothing to do here."));
      announce(found.length ? `The best move is ${found[0].san}. ${found[0].reasons.join(" ")}` : "There is nothing to do here.");
    } catch (error) {
      clear(this.answer, h("p", { class: "error" }, error.message));
    } finally {
      this.button.disabled = false;
    }
  }
}
