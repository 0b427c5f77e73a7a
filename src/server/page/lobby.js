// The lobby: make a game of any game and presets, or sit down at one.

import { get, keepName, keepToken, myName, post } from "./api.js";
import { Board } from "./board.js";
import { announce, clear, h, words } from "./dom.js";
import { Picker } from "./presets.js";

/** How many games are listed at a time. */
const LISTED = 30;

/** The lobby; with the id of uploaded rules, and the name of what they add. */
export async function showLobby(main, rules = null, added = null) {
  const [catalogue, games] = await Promise.all([get(rules ? `/catalogue?rules=${rules}` : "/catalogue"), get(`/games?limit=${LISTED}`)]);
  const lobby = new Lobby(catalogue, rules, added);
  clear(main, h("h1", {}, "Play by your rules"), h("div", { class: "table" }, lobby.form, lobby.preview), list(games));
  // Others make games meanwhile.
  setInterval(async () => {
    const old = main.querySelector(".games");
    if (document.hidden || !old || old.dataset.older || old.contains(document.activeElement)) return;
    try {
      old.replaceWith(list(await get(`/games?limit=${LISTED}`)));
    } catch {
      // The server is away for a moment: the list stays as it was.
    }
  }, 5000);
  await lobby.check();
}

class Lobby {
  constructor(catalogue, rules, added) {
    this.catalogue = catalogue;
    this.rules = rules;
    const isGame = catalogue.games.some((it) => it.game === added);
    const first = isGame ? added : added ? "chess" : "knightmate";
    const option = (it) => h("option", { value: it.game, selected: it.game === first }, it.title);
    this.game = h("select", { id: "game" }, catalogue.games.map(option));
    this.about = h("p", { class: "about" });
    this.presets = new Picker(catalogue.presets, ["white", "black"]);
    if (added && !isGame) this.presets.set([added]);
    this.fen = h("textarea", { id: "fen", rows: "1", autocomplete: "off", spellcheck: "false", placeholder: "the game's own", "aria-describedby": "fen-help" });
    this.minutes = h("input", { id: "minutes", type: "number", min: "0", max: "600", value: "0" });
    this.increment = h("input", { id: "increment", type: "number", min: "0", max: "180", value: "0" });
    this.delay = h("input", { id: "delay", type: "number", min: "0", max: "180", value: "0" });
    this.seat = h("select", { id: "seat" },
      [["random", "either side"], ["white", "the first side"], ["black", "the second side"], ["both", "both sides myself"], ["", "an open board"]]
        .map(([value, text]) => h("option", { value }, text)));
    this.name = h("input", { id: "name", value: myName(), maxlength: "40", placeholder: "Anonymous" });
    this.listed = h("input", { id: "listed", type: "checkbox", checked: true });
    this.chat = h("input", { id: "chat", type: "checkbox" });
    this.verdict = h("div", { class: "verdict", "aria-live": "polite" });
    this.create = h("button", {}, "Make the game");
    const label = (text, field) => h("label", {}, h("span", {}, text), field);
    this.form = h("form", { class: "panel make", onsubmit: (event) => { event.preventDefault(); this.make(); }, onchange: () => this.check() },
      h("h2", {}, "New game"),
      label("Game", this.game), this.about,
      h("fieldset", {}, h("legend", {}, "Presets on top"), this.presets.elements),
      label("Start from (FEN, facts, or a game as PGN)", this.fen),
      h("p", { class: "hint", id: "fen-help" }, "Put pieces on the board beside this, paste a text, or ",
        h("button", { type: "button", class: "row inline", onclick: () => this.editFacts() }, "edit the position's facts"), "."),
      h("div", { class: "pair" }, label("Minutes (0: none)", this.minutes), label("Seconds added a turn", this.increment), label("Seconds free a turn", this.delay)),
      h("div", { class: "pair" }, label("I play", this.seat), label("My name", this.name)),
      h("label", { class: "tick" }, this.listed, h("span", {}, "Show it in the list below")),
      h("label", { class: "tick" }, this.chat, h("span", {}, "Let players write to each other")),
      this.verdict, this.create);
    this.board = new Board({ onSquare: (square) => this.put(square) });
    this.brush = h("select", { id: "brush", "aria-label": "What a click on a square does" });
    this.turn = h("select", { id: "turn", "aria-label": "Side to move", onchange: () => this.compose() });
    this.preview = h("section", { class: "panel", "aria-label": "Start position" }, h("h2", {}, "Start position"),
      h("div", { class: "board" }, this.board.root),
      h("p", { class: "edit" }, "A click on a square ", this.brush, " ", this.turn));
  }

  // --- the editor: what it makes is the text of the position above ---------------------------------

  /** The kinds of piece that this game has been seen with, of every side. */
  brushes(position, sides) {
    const letters = new Map(position.kinds.map((it) => [it.letter, it.name]));
    if (this.brushGame === this.game.value && letters.size <= this.brushCount) return;
    this.brushGame = this.game.value;
    this.brushCount = letters.size;
    const option = (value, text) => h("option", { value }, text);
    this.sides = sides;
    const pieces = sides.flatMap((side, at) => [...letters].map(([letter, kind]) =>
      option(this.written({ side: at, letter }), `puts a ${words(side)} ${words(kind)} there`)));
    clear(this.brush, option("", "does nothing"), option("-", "clears it"), pieces);
    clear(this.turn, sides.map((side) => option(side[0], `${words(side)} to move`)));
  }

  put(square) {
    if (!square || !this.position || !this.brush.value) return;
    const others = this.position.pieces.filter((it) => it.square !== square);
    const brush = this.brush.value;
    const meant = this.sides.flatMap((_, side) => this.position.kinds.map(({ letter }) => ({ square, letter, side })));
    this.position = { ...this.position, pieces: brush === "-" ? others : [...others, ...meant.filter((it) => this.written(it) === brush).slice(0, 1)] };
    this.compose();
  }

  /** A piece as a FEN has it: of two sides, capitals tell the first; of more, each writes its initial before. */
  written({ side, letter }) {
    if (this.sides.length > 2) return this.sides[side][0].toUpperCase() + letter.toLowerCase();
    return side === 0 ? letter.toUpperCase() : letter.toLowerCase();
  }

  compose() {
    const { files, ranks, pieces, fen, points } = this.position;
    const at = new Map(pieces.map((it) => [it.square, this.written(it)]));
    const rows = [];
    const isGrid = !points && files > 0;
    if (!isGrid) rows.push(pieces.map((it) => `${it.square}:${this.written(it)}`).join(",") || "-");
    for (let rank = isGrid ? ranks : 0; rank >= 1; rank -= 1) {
      let row = "";
      let empty = 0;
      for (let file = 0; file < files; file += 1) {
        const letter = at.get(`${String.fromCharCode(97 + file)}${rank}`);
        if (letter && empty) row += empty;
        empty = letter ? 0 : empty + 1;
        if (letter) row += letter;
      }
      rows.push(empty ? row + empty : row);
    }
    // Castling rights stay, and the server says which of them the position has no rook for. A square that was
    // passed does not: it was in another position.
    const [, turn, ...rest] = fen.split(" ");
    const fields = rest.map((it) => (/^[a-p]\d{1,2}$/.test(it) ? "-" : it));
    // Pieces in hand stay in hand.
    const hand = fen.match(/^[^ ]*(\[[^\] ]*\])/)?.[1] ?? "";
    this.fen.value = [rows.join("/") + hand, this.turn.value || turn, ...fields].join(" ");
    this.check();
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

  wish() {
    const wish = { game: this.game.value, presets: this.presets.chosen(), ...this.start() };
    if (this.rules) wish.rules = this.rules;
    return wish;
  }

  async check() {
    const entry = this.catalogue.games.find((it) => it.game === this.game.value);
    const uses = entry.uses.length ? `Built from ${entry.uses.join(", ")}. ` : "";
    this.about.textContent = entry.description || `${uses}${entry.about.join(". ")}`;
    this.presets.refresh();
    this.fen.rows = Math.min(14, Math.max(1, this.fen.value.split("\n").length));
    const asked = (this.asked = (this.asked || 0) + 1);
    try {
      const { pgn, ...wish } = this.wish();
      // A game as PGN says itself what it is played by; it is read when it is made.
      const found = await post("/presets/check", wish);
      if (asked !== this.asked) return;
      const names = found.sides.map(words);
      const options = this.seat.options;
      if (names.length >= 2) { options[1].textContent = names[0]; options[2].textContent = names[1]; options[1].value = found.sides[0]; options[2].value = found.sides[1]; }
      clear(this.verdict, h("p", { class: "yes" }, found.active.length ? `Active: ${found.active.join(", ")}` : "No presets."),
        found.conflicts.map((it) => h("p", { class: "hint" }, `Note: ${it}.`)),
        pgn ? h("p", { class: "hint" }, isTagged(pgn) ? "The game is read from the PGN: its tags say which game, presets and position." : "The PGN names no variant, so it is read as a game of chess.") : null);
      this.facts = found.facts;
      this.position = found.position;
      this.presets.sides(found.sides);
      this.brushes(found.position, found.sides);
      this.turn.value = found.sides[found.position.turn]?.[0] ?? this.turn.value;
      this.board.draw(found.position, { flipped: false, selected: null, targets: new Map(), last: [], lit: new Set(), effects: new Map(), sides: found.sides });
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
      wish = { ...this.wish(), listed: this.listed.checked, chat: this.chat.checked };
    } catch (error) {
      clear(this.verdict, h("p", { class: "error" }, error.message));
      return;
    }
    // The tags of a PGN say what is played. One without is chess, as everywhere.
    if (wish.pgn && isTagged(wish.pgn)) delete wish.game;
    else if (wish.pgn) wish.game = "chess";
    const [initial, increment, delay] = [60 * this.minutes.value, +this.increment.value, +this.delay.value].map((it) => it * 1000);
    // Without minutes a side begins with what a turn adds.
    if (initial || increment || delay) wish.clock = { initial: initial || increment || delay, increment, delay };
    if (this.seat.value) wish.seat = this.seat.value;
    if (this.name.value.trim()) { wish.name = this.name.value.trim(); keepName(wish.name); }
    try {
      const made = await post("/games", wish);
      if (made.token) keepToken(made.id, made.token);
      location.href = made.url;
    } catch (error) {
      clear(this.verdict, h("p", { class: "error" }, error.message));
      announce(error.message);
    }
  }
}

const isTagged = (pgn) => /^\[Variant /m.test(pgn);

/** A page of games; `older` than the last ones, or the last ones. */
function list(games, older = false) {
  const turn = async (query) => {
    const old = document.querySelector(".games");
    try {
      old.replaceWith(list(await get(`/games?limit=${LISTED}${query}`), query !== ""));
    } catch (error) {
      announce(error.message);
    }
  };
  const button = (text, query) => h("button", { class: "quiet", onclick: () => turn(query) }, text);
  const row = (it) => h("tr", {},
    h("td", {}, h("a", { href: `/game/${it.id}` }, words(it.game)), it.presets.length ? ` with ${it.presets.join(", ")}` : ""),
    h("td", {}, it.players.map((who) => who ?? "free seat").join(" – ")),
    h("td", {}, it.result ?? (it.state === "waiting" ? "waiting for a player" : `${it.ply} moves`)));
  return h("section", { class: "panel games", "aria-label": "Games", "data-older": older ? "yes" : null }, h("h2", {}, "Games"),
    games.length
      ? h("table", {}, h("thead", {}, h("tr", {}, ["Game", "Players", "State"].map((it) => h("th", { scope: "col" }, it)))), h("tbody", {}, games.map(row)))
      : h("p", {}, older ? "No older games." : "None yet. Make one, and send its link to a friend."),
    older ? button("Newest games", "") : null,
    games.length === LISTED ? button("Older games", `&before=${games.at(-1).id}`) : null);
}
