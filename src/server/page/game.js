// The page of a game: what a player does on the board, and how it is drawn. Seats, moves, acts, chat and reasons draw
// themselves.

import { ratingsAfter } from "./account.js";
import { Acts } from "./acts.js";
import { Advice } from "./advice.js";
import { get, keepName, keepToken, myAccount, newId, post, postSurely } from "./api.js";
import { Board } from "./board.js";
import { Chat } from "./chat.js";
import { actionsOf, actionsOn, isWhole, membersOf, pick, sourceOf, strongest } from "./choose.js";
import { DAY, announce, begin, clear, h, plural, spoken, withAll, words } from "./dom.js";
import { Moves, squaresOf } from "./moves.js";
import { notice } from "./notice.js";
import { SIZE, icon, kindOf, usualNumbers } from "./pieces.js";
import { Seats } from "./seats.js";
import { openSettings, settings } from "./settings.js";
import * as sound from "./sound.js";
import { Sync } from "./sync.js";
import { Card } from "./traits.js";
import { Why } from "./why.js";

/** Shows a game; in a frame of another page only to watch it. */
export async function showGame(main, id, isFramed = false) {
  const view = new GameView(main, id);
  if (isFramed) view.token = null;
  await view.load();
  await view.chat.listen();
  view.connect();
}

/** A time control in words. */
function timeOf(clock) {
  if (!clock) return "";
  if (!clock.initial && clock.delay >= DAY) return `, ${plural(Math.floor(clock.delay / DAY), "day")} a turn`;
  const minutes = Math.round(clock.initial / 6000) / 10;
  const more = [clock.increment ? `${clock.increment / 1000} s added a turn` : "", clock.delay ? `${clock.delay / 1000} s free a turn` : ""];
  return `, ${[`${minutes} min`, ...more].filter(Boolean).join(", ")}`;
}

/** How long the pointer rests on a piece before its card is shown, in milliseconds. */
const REST = 450;

class GameView extends Sync {
  constructor(main, id) {
    super(id);
    this.main = main;
    this.selected = null; // a selection, see `choose.js`
    this.ahead = null; // a move to be played when it is one's turn: `{selected, to}`
    this.ply = null; // the ply of the position shown; null for the current one
    this.lit = new Set();
    this.effects = new Map();
    this.flip = null;
    this.board = new Board({
      onSquare: (square) => this.choose(square),
      canDrag: (square, piece) => this.canDrag(square, piece),
      onTake: (square, piece) => this.select({ square, piece }),
      onDrag: (square, to) => this.drop(square, to),
      onHover: (square) => this.tellOf(square),
      hasSteps: true,
    });
    this.hovered = new Card(true);
    this.chosen = new Card(false);
    this.title = h("div", { class: "title" });
    this.status = h("div", { class: "state", "aria-live": "polite" });
    this.members = h("div", { class: "members" });
    this.stock = h("div", { class: "stock" });
    this.seats = new Seats(this);
    this.moves = new Moves(this);
    this.acts = new Acts(this);
    this.chat = new Chat(this);
    this.why = new Why(this);
    this.advice = new Advice(this);
    document.body.classList.add("playing");
    clear(main, h("div", { class: "table game" },
      h("section", { class: "side", "aria-label": "Board" }, this.seats.top, h("div", { class: "board" }, this.board.root, this.stock, this.hovered.root), h("div", { class: "below" }, this.seats.bottom, this.members)),
      h("section", { class: "panel play", "aria-label": "Game" }, this.title, this.moves.steps, this.status, this.acts.offers, this.acts.root, this.moves.root, this.chat.root),
      h("section", { class: "panel reasons", "aria-label": "Why" }, this.chosen.root, this.advice.root, this.why.root)));
    this.why.forget();
    document.addEventListener("keydown", (event) => this.key(event));
    setInterval(() => this.seats.drawClocks(), 250);
    setInterval(() => this.watchOver(), 1000);
  }

  /** An activation as people say it, without its options. */
  spoken(activation) {
    return spoken(activation, (it) => this.state.named?.[it]);
  }

  // --- the server ------------------------------------------------------------------------------

  /** Draws a new state; `before` is the state before it, if there was one. */
  async changed(before) {
    const { state } = this;
    this.came = before && state.ply > before.ply;
    const isOther = before && String(state.active) !== String(before.active);
    // A move ahead that was meant for another position or other rules is not played.
    if (before && (state.ply < before.ply || isOther) && this.ahead) {
      this.ahead = null;
      this.tell("Your move ahead is forgotten: the position is another one.");
    }
    const start = before || !this.first ? [] : this.first.pieces;
    this.usual = usualNumbers(state.position.pieces, isOther ? new Map() : usualNumbers(start, this.usual));
    if (this.ply === null) this.position = state.position;
    if (before && state.ply !== before.ply) {
      if (!this.isStillThere(this.selected, before)) this.selected = null;
      this.lit = new Set();
      this.board.arrows.clear();
      this.why.forget();
      const last = state.history.at(-1);
      if (last && this.came) announce(`${state.sides[last.side]} played ${last.san}`);
    }
    if (before) this.sounds(before, state);
    if (before && state.ply < before.ply && this.ply >= state.ply) await this.show(null);
    this.draw();
    this.playAhead();
    // The player who asked for a rematch is taken to it, like the player who agrees.
    if (before && state.rematch && !before.rematch && (this.acts.wantsRematch || this.mine().includes(before.offers.rematch))) this.enter(state.rematch);
  }

  /** Whether the selection is still valid after a move of others: they must not take a piece out of a player's hand. */
  isStillThere(selected, before) {
    if (!selected || this.ply !== null || this.state.ply < before.ply) return false;
    const there = ({ position }) => position.pieces.filter((it) => it.square === selected.square).map((it) => it.id).join();
    return Boolean(selected.hand) || there(this.state) === there(before);
  }

  /** A message of the socket. */
  hear(frame) {
    if (frame.t === "pong" && frame.d && this.seats.notePresence(frame.d)) this.drawSeats();
    if (frame.t === "played") {
      this.glideAhead(frame);
      if (frame.d.effects) this.showEffects(frame.d.effects);
    }
    if (frame.t === "said") this.chat.said(frame);
    if (frame.t === "hushed") this.chat.off();
    this.acts.hear(frame);
    if (frame.t === "resync") this.chat.hearAnew(frame.v);
  }

  /** Shows the move of another player at once, before the state after it comes. */
  glideAhead({ v, d }) {
    if (this.ply !== null || v <= this.state.v || !this.board.layout || this.board.isHeld()) return;
    const [from, to] = squaresOf(d.uci ?? "", this.position);
    const here = this.position.pieces.filter((it) => it.square === from);
    if (to && to !== from && here.length === 1) this.board.glide({ from, to, piece: here[0].id }, true);
  }

  lastHeard() {
    return this.chat.spoken;
  }

  silent(isSilent) {
    this.main.classList.toggle("away", isSilent);
    if (this.state) this.drawState();
  }

  sounds(before, state) {
    if (state.result && !before.result) sound.play("end");
    else if (state.ply <= before.ply) return;
    else if (document.hidden && this.isWaitedFor()) sound.play("turn");
    else if (state.position.checks.length) sound.play("check");
    else if (state.position.pieces.length < before.position.pieces.length) sound.play("capture");
    else sound.play("move");
  }

  /** Whether others wait for a move of the player here. */
  isWaitedFor() {
    const { result, open, you, turn, seats, sides } = this.state;
    return !result && !open && you.includes(turn) && !seats.includes(null) && you.length < sides.length;
  }

  /** Lights the squares of effects for as long as each of them says, five seconds at most. */
  showEffects(effects) {
    for (const { name, args } of effects) {
      if (!args.square) continue;
      this.effects.set(args.square, name);
      setTimeout(() => { this.effects.delete(args.square); this.draw(); }, Math.min(Number(args.ttl) || 1000, 5000));
    }
    this.draw();
  }

  async join(seat, name) {
    const account = myAccount();
    if (name && !account) keepName(name);
    let v;
    try {
      const answer = await post(`/games/${this.id}/join`, { seat, name: name || undefined, rated: this.state.rated }, account?.token);
      this.token = answer.token ?? account.token;
      if (answer.token) keepToken(this.id, answer.token);
      this.socket?.send(JSON.stringify({ t: "auth", d: { token: this.token } }));
      v = answer.v;
    } catch (error) {
      this.tell(error.message);
    }
    await this.refresh(v);
    // A player may write in the chat.
    if (v !== undefined) await this.chat.listen();
  }

  async play(action) {
    const move = { uci: action.uci + this.acts.given(), expected_ply: this.state.ply, client_move_id: newId() };
    this.selected = null;
    this.board.glide(action, isWhole(action, this.position));
    let v;
    try {
      v = (await postSurely(`/games/${this.id}/moves`, move, this.token)).v;
    } catch (error) {
      this.tell(error.message);
      this.draw();
    }
    await this.refresh(v);
  }

  // --- the moves before --------------------------------------------------------------------------

  /** Arrow keys step through the moves, unless text is typed; the board handles them first. */
  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || !this.state) return;
    if (event.target.closest?.("input, textarea, select, dialog")) return;
    event.preventDefault();
    this.show((this.ply ?? this.state.ply) + steps[event.key]);
  }

  async show(ply) {
    this.ply = ply === null || ply >= this.state.ply ? null : Math.max(0, ply);
    this.selected = null;
    this.lit = new Set();
    const wanted = this.ply;
    let position = this.state.position;
    try {
      if (wanted !== null) position = (await get(`/games/${this.id}?ply=${wanted}&lines=0&v=${this.state.v}`, this.token)).position;
    } catch (error) {
      if (this.ply !== wanted) return;
      this.ply = null;
      position = this.state.position;
      this.tell(error.message);
    }
    // Another ply may have been chosen meanwhile.
    if (this.ply !== wanted && wanted !== null) return;
    this.position = position;
    this.draw();
  }

  // --- playing ---------------------------------------------------------------------------------

  mine() {
    if (document.body.classList.contains("framed")) return [];
    return this.state.open ? this.state.sides.map((_, at) => at) : this.state.you;
  }

  canMove() {
    return this.ply === null && !this.state.result && this.mine().includes(this.state.turn);
  }

  /** Whether a move may be made ahead of one's turn. */
  canGoAhead() {
    return settings.premove && this.ply === null && !this.state.result && !this.state.open && this.state.you.length > 0 && !this.state.you.includes(this.state.turn);
  }

  /** Whether a piece of one of these sides stands there. */
  standsThere(square, sides) {
    return this.position.pieces.some((it) => it.square === square && sides.includes(it.side));
  }

  canDrag(square, piece) {
    if (!this.state) return false;
    if (this.canMove()) return actionsOf({ square, piece }, this.position).length > 0 || this.standsThere(square, [this.position.turn]) && piece === null;
    return this.canGoAhead() && this.standsThere(square, this.state.you);
  }

  select(selected) {
    this.selected = selected;
    this.tellOf(null);
    this.ahead = null;
    this.lit = new Set();
    this.draw();
  }

  /** Does what a click on a square means, or a key that stands for one. */
  choose(square) {
    const { selected, position } = this;
    if (square === null) return this.select(null);
    this.ahead = null;
    // A piece may act where it stands. The player is asked, since a second click also deselects it.
    const there = selected?.square === square && this.canMove() ? actionsOf(selected, position).filter((it) => it.to === square) : [];
    if (there.length) {
      this.select(null);
      return this.ask(there);
    }
    if (selected && selected.square !== square) {
      if (this.goTo(square)) return;
      // If the piece does not go there, the click means an action of the square alone: a stone that is put there.
      const own = this.canMove() && !actionsOf({ square, piece: null }, position).length ? actionsOn(square, position) : [];
      if (own.length) return this.decide(own);
      if (this.canGoAhead() && (selected.hand || this.standsThere(selected.square, this.state.you)) && !this.standsThere(square, this.state.you)) return this.goAhead(selected, square);
      if (this.whyNot(selected.square, square)) return;
    }
    if (this.canMove() && !actionsOf({ square, piece: null }, position).length) {
      const options = actionsOn(square, position);
      if (options.length) return this.decide(options);
    }
    this.look(selected?.square === square ? null : square);
  }

  /** Shows where the piece on a square may go, and the facts about the square. */
  look(square) {
    this.select(square === null ? null : { square, piece: null });
    if (square !== null) this.why.about(square);
  }

  chooseHand(hand) {
    this.select(this.selected?.hand === hand ? null : { hand });
  }

  /** A piece in hand is picked up. Only the board is drawn, since the button that the pointer holds must stay. */
  carry(hand) {
    [this.selected, this.ahead] = [{ hand }, null];
    this.drawBoard();
  }

  /** A piece in hand was dragged to a square, or beside the board. */
  putDown(square) {
    if (square !== null && this.goTo(square)) return;
    if (square !== null && this.selected && this.canGoAhead()) this.goAhead(this.selected, square);
    else this.select(null);
  }

  /** A piece on the board was dragged to a square, or beside the board. */
  drop(from, to) {
    const { selected } = this;
    if (to === null || to === from || !selected) return this.select(null);
    if (this.goTo(to)) return;
    if (this.canGoAhead()) return this.goAhead(selected, to);
    this.whyNot(from, to);
    this.select(null);
  }

  /** Plays an action from the selection to a square, or asks which of several. Returns whether there is one. */
  goTo(square) {
    if (!this.canMove()) return false;
    const options = actionsOf(this.selected, this.position).filter((it) => it.to === square);
    if (options.length) this.decide(options);
    return options.length > 0;
  }

  decide(options) {
    if (options.length === 1) this.play(options[0]);
    else this.ask(options);
  }

  ask(options) {
    pick(options, this.position, this.state.sides, (it) => this.play(it), this.isFlipped());
  }

  /** Asks why a piece may not go to a square, if it is a piece of the side to move. Returns whether it asks. */
  whyNot(from, to) {
    const { turn } = this.position;
    if (!from || !this.standsThere(from, [turn]) || this.standsThere(to, [turn])) return false;
    // The move is written as this piece's other moves are, if it has any.
    const alike = this.position.legal.filter((it) => it.from === from && it.to && it.to !== from && (this.selected?.piece == null || it.piece === this.selected.piece));
    const [like] = alike.sort((one, other) => one.uci.length - other.uci.length);
    const at = like ? like.uci.lastIndexOf(like.to) : -1;
    this.why.ask({ move: at < 0 ? `${from}${to}` : like.uci.slice(0, at) + to + like.uci.slice(at + like.to.length) });
    return true;
  }

  // --- a move ahead of one's turn --------------------------------------------------------------

  goAhead(selected, to) {
    this.selected = null;
    this.ahead = { selected, to };
    this.draw();
  }

  /** Plays the move ahead when it is the player's turn, if the rules allow it then. */
  async playAhead() {
    const { ahead, state } = this;
    if (!ahead || state.result || !this.mine().includes(state.turn)) return;
    this.ahead = null;
    // It is played even while an earlier position is shown: the clock runs.
    if (this.ply !== null) await this.show(null);
    const options = actionsOf(ahead.selected, this.position).filter((it) => it.to === ahead.to);
    if (options.length) this.play(strongest(options));
    else {
      this.tell(`Your move from ${ahead.selected.square ?? "the hand"} to ${ahead.to} is not legal any more.`);
      this.draw();
    }
  }

  tell(text) {
    this.notice = text;
    announce(text);
    this.drawState();
    clearTimeout(this.noticeTimer);
    this.noticeTimer = setTimeout(() => { this.notice = null; this.drawState(); }, 8000);
  }

  // --- drawing ---------------------------------------------------------------------------------

  isFlipped() {
    return this.flip ?? (this.mine().length === 1 && this.mine()[0] === 1);
  }

  turnBoard() {
    this.flip = !this.isFlipped();
    this.draw();
  }

  openSettings() {
    openSettings(() => this.draw());
  }

  /** Shows the card of the pieces on a square when the pointer has rested on it. */
  tellOf(square) {
    clearTimeout(this.telling);
    this.hovered.hide();
    if (square === null || this.selected) return;
    this.telling = setTimeout(() => this.tellNow(square), REST);
  }

  async tellNow(square) {
    const { at } = this.board.layout ?? {};
    const place = square && this.position && at?.get(square);
    if (!place || this.selected) return;
    const { root } = this.hovered;
    await this.hovered.show(this.position.pieces.filter((it) => it.square === square), this.state.sides, this.state.rules, this.position.kinds);
    const { width, height } = this.board.layout;
    // In the half of the board that the pointer is not in.
    const [across, down] = [place.x / width, place.y / height];
    const beside = 100 * Math.min(across, 1 - across) + 70 * SIZE / width;
    root.style.cssText = `${across < 0.5 ? "left" : "right"}:${beside}%;${down < 0.5 ? "top" : "bottom"}:${100 * Math.min(down, 1 - down)}%`;
  }

  light(squares) {
    this.lit = squares;
    this.drawBoard();
  }

  draw() {
    const { state } = this;
    this.drawBoard();
    // The presets that the players chose, without those that have ended by themselves since.
    const active = new Set(state.active.map((it) => it.split(":")[0]));
    const asked = state.presets.filter((it) => active.has(it.split(":")[0])).map((it) => this.spoken(it));
    const title = state.title ?? words(state.game);
    notice(`${title} – Rulemate`, this.isWaitedFor());
    const about = new URLSearchParams({ ...(state.presets.length ? { presets: state.presets.join(" ") } : {}), rules: state.rules });
    clear(this.title, h("h1", {},
      h("a", { href: `/about/${state.game}?${about}`, title: "What the rules of this game are" }, title),
      h("small", { title: state.active.join("\n") }, withAll(asked), timeOf(state.clock), state.rated ? ", rated" : "")));
    this.drawSeats();
    this.drawState();
    this.drawMembers();
    this.acts.draw();
    this.advice.draw();
    this.moves.draw();
  }

  drawBoard() {
    const { state, position, lit, effects, usual } = this;
    const targets = new Map(this.canMove() ? actionsOf(this.selected, position).map((it) => [it.to, it]) : []);
    // In the middle of a turn, the squares where the next thing may be put down are shown at once.
    if (!this.selected && this.canMove() && state.history.at(-1)?.turn_goes_on) {
      for (const it of position.legal) if (it.to && !sourceOf(it, position).square) targets.set(it.to, it);
    }
    const shown = this.ply ?? state.ply;
    const last = shown > 0 ? squaresOf(state.history[shown - 1].uci, position) : [];
    // All actions of a turn are shown.
    let first = shown - 1;
    while (first > 0 && state.history[first - 1].turn_goes_on) first -= 1;
    const trail = shown - first < 2 ? [] : state.history.slice(Math.max(first, 0), shown).map((it) => squaresOf(it.uci, position)).filter((it) => it.length > 1);
    const ahead = this.ahead ? new Set([this.ahead.selected.square, this.ahead.to]) : new Set();
    const from = this.came && last.length > 1 ? last.at(-1) : null;
    this.board.draw(position, { flipped: this.isFlipped(), sides: state.sides, selected: this.selected?.square ?? null, targets, last, lit, effects, ahead, from, usual, trail });
    this.drawStock();
    const here = this.selected?.square ? position.pieces.filter((it) => it.square === this.selected.square) : [];
    this.chosen.show(here, state.sides, state.rules, position.kinds);
  }

  /** In the place of a board that there is not: what heaps, cards and other things have that are no sides. */
  drawStock() {
    const { state, position, board } = this;
    const isOfSides = (of) => Object.keys(of).every((it) => state.sides.includes(it));
    const facts = board.layout.squares.length ? [] : Object.entries(position.facts_of ?? {}).filter(([, of]) => !isOfSides(of));
    const told = (of) => Object.entries(of).map(([name, value]) => `${words(name)} ${words(value)}`).join(", ");
    clear(this.stock, facts.map(([fact, of]) => h("p", {}, h("b", {}, `${begin(words(fact.split("::").pop()))}: `), told(of))));
  }

  drawSeats() {
    this.seats.draw(this.isFlipped());
  }

  /** The pieces of the selected stack, to choose one of them. */
  drawMembers() {
    const { selected, position } = this;
    const members = selected?.square && this.canMove() ? membersOf(selected.square, position) : [];
    const button = (piece, text, content) => h("button", {
      class: (selected?.piece ?? null) === piece ? "member selected" : "member",
      "aria-pressed": (selected?.piece ?? null) === piece ? "true" : "false",
      "aria-label": text,
      onclick: () => this.select({ square: selected.square, piece }),
    }, content);
    clear(this.members, members.length ? [button(null, "Whole stack", "Whole stack"), members.map((it) => button(it.id, `${kindOf(it, position.kinds)} alone`, icon(it, this.state.sides)))] : []);
  }

  drawState() {
    const { state } = this;
    let text;
    if (state.result) {
      const winner = state.result.winner;
      const who = winner == null ? words(state.result.outcome === "none" ? "no result" : "draw") : `${words(state.sides[winner])} wins`;
      const because = state.result.reason !== "timeout" ? words(state.result.reason)
        : winner == null ? "out of time, but the other side has nothing to win with" : "out of time";
      text = `${who}: ${because}`;
    } else if (state.history.at(-1)?.turn_goes_on) {
      const notes = (state.history.at(-1).notes || []).filter((it) => /^[a-z_]+:\d+$/.test(it)).map((it) => words(it).replace(":", " "));
      text = `${words(state.sides[state.turn])} goes on with the turn${notes.length ? ` (${notes.join(", ")})` : ""}`;
    }
    else text = `${words(state.sides[state.turn])} to move`;
    clear(this.status,
      h("p", { class: "verdict" }, begin(text)), ratingsAfter(this),
      this.ply === null ? null : h("p", {}, `You look at the position after ${this.ply} of ${state.ply} actions. `, h("button", { onclick: () => this.show(null) }, "Back to the game")),
      this.silence ? h("p", { class: "error silence" }, this.silence) : null,
      this.notice ? h("p", { class: "error" }, this.notice) : null);
  }
}
