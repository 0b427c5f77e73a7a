// Why a move is legal or a fact holds, or why not: the answer in a few sentences, with the proof behind a fold.

import { get } from "./api.js";
import { announce, clear, h } from "./dom.js";

export class Why {
  constructor(view) {
    this.view = view;
    this.unfolded = false; // whether the facts about a square are unfolded
    this.answer = h("div", {});
    this.root = h("div", { class: "why", tabindex: "0" });
    clear(this.root, this.form(), this.answer);
  }

  form() {
    const field = h("input", { id: "ask", "aria-label": "A move, a square or a fact", placeholder: "e2e4, e4, attacks(e4, d5)", autocomplete: "off" });
    return h("form", {
      class: "ask",
      onsubmit: (event) => {
        event.preventDefault();
        const text = field.value.trim();
        if (!text) return;
        if (text.includes("(")) this.ask({ fact: text });
        else if (this.view.board.layout?.at.has(text)) this.view.look(text);
        else this.ask({ move: text });
      },
    }, field, h("button", {}, "Why?"));
  }

  query(question) {
    const query = new URLSearchParams({ ...question, v: this.view.state.v });
    if (this.view.ply !== null) query.set("ply", this.view.ply);
    return get(`/games/${this.view.id}/explain?${query}`, this.view.token);
  }

  async ask(question) {
    try {
      this.explain(await this.query(question));
    } catch (error) {
      this.view.tell(error.message);
    }
  }

  /** The facts about a square, behind a fold, since most clicks are moves. */
  async about(square) {
    try {
      const { rows } = await this.query({ square });
      if (this.view.selected?.square !== square) return;
      const fold = h("details", { open: this.unfolded, ontoggle: () => { this.unfolded = fold.open; } }, h("summary", {}, `What holds of ${square}`),
        rows.length ? null : h("p", {}, "Nothing."),
        h("ul", { class: "rows" }, rows.map((it) => h("li", {},
          h("button", { class: "row", onclick: () => this.ask({ fact: it.fact }) }, it.sentence)))));
      clear(this.answer, fold);
    } catch (error) {
      // If the square is no longer selected, the error is about an earlier position.
      if (this.view.selected?.square === square) this.view.tell(error.message);
    }
  }

  explain(answer) {
    const { view } = this;
    const all = new Set(answer.lines.flatMap((it) => it.squares));
    view.light(all);
    const line = (it) => h("li", {
      class: `line depth${Math.min(it.depth, 9)}`,
      tabindex: "0",
      onmouseenter: () => view.light(new Set(it.squares)),
      onfocus: () => view.light(new Set(it.squares)),
      onmouseleave: () => view.light(all),
      onblur: () => view.light(all),
    }, it.text, " ", it.place || it.remark ? h("code", {}, it.place ?? it.remark) : null);
    clear(this.answer,
      h("h2", { class: answer.holds ? "yes" : "no" }, answer.holds ? "Why" : "Why not"),
      answer.sentences.map((it) => h("p", { class: "summary" }, it)),
      answer.lines.length ? h("details", { class: "proof" }, h("summary", {}, "The proof"), h("ol", { class: "lines" }, answer.lines.map(line))) : null);
    announce(answer.sentences.join(" "));
  }

  /** Drops the answer, which is about another position. */
  forget() {
    clear(this.answer, h("p", { class: "hint" }, "Choose a square to see what holds of it. Choose a piece and a square that it may not go to, and the rules say why not."));
  }
}
