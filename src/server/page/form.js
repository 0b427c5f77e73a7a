// The form that makes a game of any game, presets, position and clock.

import { keepName, makeGame, myAccount, myName, post } from "./api.js";
import { DAY, announce, clear, h, spoken, words } from "./dom.js";
import { Editor } from "./editor.js";
import { gameField } from "./games.js";
import { Picker } from "./presets.js";

export class Form {
  constructor(catalogue, rules, added) {
    this.catalogue = catalogue;
    this.rules = rules;
    const isGame = catalogue.games.some((it) => it.game === added);
    const first = isGame ? added : added ? "chess" : "knightmate";
    this.game = gameField("game", catalogue, first);
    this.about = h("p", { class: "about" });
    this.more = h("p", { class: "hint" });
    this.presets = new Picker(catalogue.presets, ["white", "black"]);
    if (added && !isGame) this.presets.set([added]);
    this.fen = h("textarea", { id: "fen", rows: "1", autocomplete: "off", spellcheck: "false", placeholder: "the game's own", "aria-describedby": "fen-help" });
    this.minutes = h("input", { id: "minutes", type: "number", min: "0", max: "600", value: "0" });
    this.increment = h("input", { id: "increment", type: "number", min: "0", max: "180", value: "0" });
    this.delay = h("input", { id: "delay", type: "number", min: "0", max: "180", value: "0" });
    this.days = h("input", { id: "days", type: "number", min: "0", max: "14", value: "0" });
    this.seat = h("select", { id: "seat" },
      [["random", "either side"], ["white", "the first side"], ["black", "the second side"], ["both", "both sides myself"], ["", "an open board"]]
        .map(([value, text]) => h("option", { value }, text)));
    this.opponent = h("select", { id: "opponent" }, ["a person", ...Array.from({ length: 8 }, (_, at) => `the computer, level ${at + 1}`)].map((text, at) => h("option", { value: at }, text)));
    this.name = h("input", { id: "name", value: myName(), maxlength: "40", placeholder: "Anonymous" });
    this.listed = h("input", { id: "listed", type: "checkbox", checked: true });
    this.chat = h("input", { id: "chat", type: "checkbox" });
    this.rated = h("input", { id: "rated", type: "checkbox" });
    this.verdict = h("div", { class: "verdict", "aria-live": "polite" });
    this.create = h("button", {}, "Make the game");
    this.link = h("input", { readonly: true, hidden: true, class: "link", id: "setup-link", "aria-label": "Link to this setup", onfocus: (event) => event.target.select() });
    const label = (text, field) => h("label", {}, h("span", {}, text), field);
    this.root = h("form", { class: "panel make", onsubmit: (event) => { event.preventDefault(); this.make(); }, onchange: () => this.check() },
      h("h2", {}, "New game"),
      label("Game", this.game), this.about, this.more,
      h("fieldset", {}, h("legend", {}, "Presets on top"), this.presets.elements),
      label("Start from (FEN, facts, or a game as PGN)", this.fen),
      h("p", { class: "hint", id: "fen-help" }, "Put pieces on the board beside this, paste a text, or ",
        h("button", { type: "button", class: "row inline", onclick: () => this.editFacts() }, "edit the position's facts"), "."),
      h("div", { class: "pair" }, label("Minutes (0: none)", this.minutes), label("Seconds added a turn", this.increment), label("Seconds free a turn", this.delay), label("or days for a turn", this.days)),
      h("div", { class: "pair" }, label("I play", this.seat), label("against", this.opponent), label("My name", this.name)),
      h("label", { class: "tick" }, this.listed, h("span", {}, "Show it in the list below")),
      myAccount() ? h("label", { class: "tick" }, this.rated, h("span", {}, "Rated: its end changes the ratings of both")) : null,
      h("label", { class: "tick" }, this.chat, h("span", {}, "Let players write to each other")),
      this.verdict, this.create, h("button", { type: "button", class: "quiet", onclick: () => this.share() }, "Copy a link to this setup"), this.link);
    this.editor = new Editor((fen) => {
      this.fen.value = fen;
      this.check();
    });
  }

  /** An activation as people say it. */
  spoken(activation) {
    return spoken(activation, (preset) => this.catalogue.presets.find((it) => it.preset === preset)?.name);
  }

  /** Every fact of the position shown, to be changed: the game starts from what is left there. */
  editFacts() {
    if (!this.facts) return;
    this.fen.value = this.facts;
    this.fen.rows = 14;
    this.fen.focus();
    this.check();
  }

  /** What the text is: a save of facts, a game, or a position. */
  start() {
    const text = this.fen.value.trim();
    if (!text) return {};
    if (text.startsWith("{")) {
      try {
        return { facts: JSON.parse(text) };
      } catch (error) {
        throw new Error(`These facts are not JSON: ${error.message}`);
      }
    }
    return text.startsWith("[") || /^1\s*\./.test(text) ? { pgn: this.fen.value } : { fen: text };
  }

  /** What is set up here, as an address: others get the same form. */
  async share() {
    const start = this.fen.value.trim();
    const query = new URLSearchParams({ game: this.game.value, ...(this.rules ? { rules: this.rules } : {}), ...(start ? { start } : {}) });
    for (const it of this.presets.chosen()) query.append("preset", it);
    this.link.value = `${location.origin}/?${query}`;
    this.link.hidden = false;
    this.link.focus();
    await navigator.clipboard?.writeText(this.link.value).catch(() => {});
    announce("The link is copied.");
  }

  /** Sets up what a link says. */
  take(asked) {
    if (!this.catalogue.games.some((it) => it.game === asked.get("game"))) return false;
    this.game.value = asked.get("game");
    this.presets.set(asked.getAll("preset"));
    this.fen.value = asked.get("start") ?? "";
    return true;
  }

  wish() {
    const wish = { game: this.game.value, presets: this.presets.chosen(), ...this.start() };
    if (this.rules) wish.rules = this.rules;
    return wish;
  }

  async check() {
    const entry = this.catalogue.games.find((it) => it.game === this.game.value);
    clear(this.more, h("a", { href: `/about/${entry.game}${this.rules ? `?rules=${this.rules}` : ""}` }, `How ${entry.title} is played`));
    this.about.textContent = entry.description || entry.about.map((it) => `${it}.`).join(" ");
    this.presets.refresh();
    this.fen.rows = Math.min(14, Math.max(1, this.fen.value.split("\n").length));
    const asked = (this.asked = (this.asked || 0) + 1);
    try {
      const { pgn, ...wish } = this.wish();
      // A game as PGN says itself what it is played by; it is read when it is made.
      const found = await post("/presets/check", wish);
      if (asked !== this.asked) return;
      const names = found.sides.map(words);
      const chosen = this.seat.value;
      // The computer has to have a seat, and somebody to play against.
      const alone = Number(this.opponent.value) ? [] : [["both", names.length > 2 ? "all sides myself" : "both sides myself"], ["", "an open board"]];
      clear(this.seat, [["random", "any side"], ...found.sides.map((it, at) => [it, names[at]]), ...alone]
        .map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
      clear(this.verdict, h("p", { class: "yes" }, found.active.length ? `Active: ${found.active.map((it) => this.spoken(it)).join(", ")}` : "No presets."),
        found.conflicts.map((it) => h("p", { class: "hint" }, `Note: ${it}.`)),
        pgn ? h("p", { class: "hint" }, isTagged(pgn) ? "The game is read from the PGN: its tags say which game, presets and position." : "The PGN names no variant, so it is read as a game of chess.") : null);
      this.facts = found.facts;
      this.presets.sides(found.sides);
      this.editor.show(found.position, found.sides, this.game.value, found.fields, this.catalogue.presets);
      this.create.disabled = false;
    } catch (error) {
      if (asked !== this.asked) return;
      const more = (error.body?.diagnostics || []).map((it) => h("li", {}, h("code", {}, `${it.file}:${it.line}`), ` ${it.message}`));
      const clashes = this.presets.clashes();
      clear(this.verdict, clashes.map((it) => h("p", { class: "error" }, it)), h("p", { class: clashes.length ? "hint" : "error" }, error.message), more.length ? h("ul", {}, more) : null);
      this.create.disabled = true;
    }
  }

  async make() {
    let wish;
    try {
      wish = { ...this.wish(), listed: this.listed.checked, chat: this.chat.checked, rated: this.rated.checked };
    } catch (error) {
      clear(this.verdict, h("p", { class: "error" }, error.message));
      return;
    }
    // The tags of a PGN say what is played. One without is chess, as everywhere.
    if (wish.pgn && isTagged(wish.pgn)) delete wish.game;
    else if (wish.pgn) wish.game = "chess";
    const [initial, increment, delay] = [60 * this.minutes.value, +this.increment.value, +this.delay.value].map((it) => it * 1000);
    const days = Number(this.days.value);
    // Without minutes a side begins with what a turn adds.
    if (days) wish.clock = { initial: 0, increment: 0, delay: days * DAY };
    else if (initial || increment || delay) wish.clock = { initial: initial || increment || delay, increment, delay };
    if (this.seat.value) wish.seat = this.seat.value;
    if (Number(this.opponent.value)) wish.computer = Number(this.opponent.value);
    if (this.name.value.trim()) { wish.name = this.name.value.trim(); keepName(wish.name); }
    try {
      const made = await makeGame(wish);
      location.href = made.url;
    } catch (error) {
      clear(this.verdict, h("p", { class: "error" }, error.message));
      announce(error.message);
    }
  }
}

const isTagged = (pgn) => /^\[Variant /m.test(pgn);
