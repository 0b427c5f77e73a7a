// The form that makes a game: any game with any presets, position and clock.

import { keepName, makeGame, myAccount, myName, post } from "./api.js";
import { DAY, announce, clear, h, labelled, linkField, words } from "./dom.js";
import { Editor } from "./editor.js";
import { gameField, spokenBy } from "./games.js";
import { Picker } from "./presets.js";

export class Form {
  constructor(catalogue, rules) {
    this.catalogue = catalogue;
    this.rules = rules;
    this.game = gameField("game", catalogue, "knightmate");
    this.about = h("p", { class: "about" });
    this.more = h("p", { class: "hint" });
    this.presets = new Picker(catalogue.presets, ["white", "black"]);
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
    this.link = linkField("Link to this setup");
    Object.assign(this.link, { id: "setup-link", hidden: true });
    this.root = h("form", { class: "panel make", onsubmit: (event) => { event.preventDefault(); this.make(); }, onchange: () => this.check() },
      h("h2", {}, "New game"),
      labelled("Game", this.game), this.about, this.more,
      h("fieldset", {}, h("legend", {}, "Presets on top"), this.presets.elements),
      labelled("Start from (FEN, facts, or a game as PGN)", this.fen),
      h("p", { class: "hint", id: "fen-help" }, "Put pieces on the board beside this, paste a text, or ",
        h("button", { type: "button", class: "row inline", onclick: () => this.editFacts() }, "edit the position's facts"), "."),
      h("div", { class: "pair" }, labelled("Minutes (0: none)", this.minutes), labelled("Seconds added a turn", this.increment), labelled("Seconds free a turn", this.delay), labelled("or days for a turn", this.days)),
      h("div", { class: "pair" }, labelled("I play", this.seat), labelled("against", this.opponent), labelled("My name", this.name)),
      h("label", { class: "tick" }, this.listed, h("span", {}, "Show it in the list below")),
      myAccount() ? h("label", { class: "tick" }, this.rated, h("span", {}, "Rated: its end changes the ratings of both")) : null,
      h("label", { class: "tick" }, this.chat, h("span", {}, "Let players write to each other")),
      this.verdict, this.create, h("button", { type: "button", class: "quiet", onclick: () => this.share() }, "Copy a link to this setup"), this.link);
    this.editor = new Editor((fen) => {
      this.fen.value = fen;
      this.check();
    });
  }

  /** Puts all facts of the position into the field, where they can be changed. */
  editFacts() {
    if (!this.facts) return;
    this.fen.value = this.facts;
    this.fen.rows = 14;
    this.fen.focus();
    this.check();
  }

  /** The start that the text describes: by facts, a game as PGN, or a FEN. */
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

  /** Shows and copies a link to the form as it is filled in. */
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

  /** Fills in the form from a link: a `game`, each `preset` and a `start`. Returns whether the link has a setup. */
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
      // A PGN is not checked: it names its own game and position, and is read when the game is made.
      const found = await post("/presets/check", wish);
      if (asked !== this.asked) return;
      const names = found.sides.map(words);
      const chosen = this.seat.value;
      // The computer needs a seat and an opponent.
      const alone = Number(this.opponent.value) ? [] : [["both", names.length > 2 ? "all sides myself" : "both sides myself"], ["", "an open board"]];
      clear(this.seat, [["random", "any side"], ...found.sides.map((it, at) => [it, names[at]]), ...alone]
        .map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
      clear(this.verdict, h("p", { class: "yes" }, found.active.length ? `Active: ${found.active.map((it) => spokenBy(this.catalogue, it)).join(", ")}` : "No presets."),
        found.conflicts.map((it) => h("p", { class: "hint" }, `Note: ${it}.`)),
        pgn ? h("p", { class: "hint" }, isTagged(pgn) ? "The game is read from the PGN: its tags say which game, presets and position." : "The PGN names no variant, so it is read as a game of chess.") : null);
      this.facts = found.facts;
      this.presets.setSides(found.sides);
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
    // The tags of a PGN say what is played. A PGN without them is chess.
    if (wish.pgn && isTagged(wish.pgn)) delete wish.game;
    else if (wish.pgn) wish.game = "chess";
    const [initial, increment, delay] = [60 * this.minutes.value, +this.increment.value, +this.delay.value].map((it) => it * 1000);
    const days = Number(this.days.value);
    // Without minutes, a side begins with the seconds of one turn.
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
