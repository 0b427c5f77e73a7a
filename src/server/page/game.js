// One game: the board, the moves, the clocks, what can be done, and why.

import { backoff, get, isPassing, keepName, keepToken, myName, newId, post, postSurely, sleep, tokenOf } from "./api.js";
import { Board, byStrength, picture } from "./board.js";
import { announce, begin, clear, confirmed, h, svg, words } from "./dom.js";
import { Picker } from "./presets.js";

/** Milliseconds: how often the server is asked whether it is there, and after which silence the page says so. */
const BEAT = 4000;
const SILENCE = 10000;
/** How many of the last actions come with the state; those before are asked for once. */
const LINES = 200;
/** How many events are looked through at a time for what was said. */
const EVENTS = 500;

export async function showGame(main, id) {
  const view = new GameView(main, id);
  await view.load();
  await view.listen();
  view.connect();
}

/** An activation as people say it: its options are in the title. */
function shortly(activation) {
  const [name, scope] = activation.split(":");
  return scope && scope !== "both" ? `${words(name)} for ${words(scope)}` : words(name);
}

/** Scrolls a list, and nothing around it, until one of its lines is seen. */
function reveal(list, line) {
  if (!line) return;
  const top = line.getBoundingClientRect().top - list.getBoundingClientRect().top;
  const below = top + line.offsetHeight - list.clientHeight;
  if (top < 0) list.scrollTop += top;
  else if (below > 0) list.scrollTop += below;
}

class GameView {
  constructor(main, id) {
    this.main = main;
    this.id = id;
    this.token = tokenOf(id);
    this.selected = null;
    this.ply = null; // of the position shown; null is the current one
    this.lit = new Set();
    this.effects = new Map();
    this.flip = null;
    this.asked = null;
    this.retry = 0;
    this.want = 0; // the last event that was told of: no answer from before it is shown
    this.lines = []; // all actions that are known
    this.spoken = 0; // the last event of the chat that is shown
    this.heard = performance.now();
    this.silence = null; // what is said about a server that is not heard of
    this.board = new Board({ onSquare: (square) => this.choose(square) });
    this.parts = {};
    for (const part of ["title", "top", "bottom", "steps", "state", "acts", "offers", "moves", "why", "board", "talk"]) {
      this.parts[part] = h("div", { class: part });
    }
    this.parts.state.setAttribute("aria-live", "polite");
    this.parts.board.append(this.board.root);
    clear(main, this.parts.title, h("div", { class: "table" },
      h("section", { class: "side", "aria-label": "Board" }, this.parts.top, this.parts.board, this.parts.bottom, this.parts.steps),
      h("section", { class: "panel", "aria-label": "Game" }, this.parts.state, this.parts.offers, this.parts.acts, this.parts.moves, this.parts.talk),
      h("section", { class: "panel", "aria-label": "Why" }, this.parts.why)));
    // They stay as they are while the rest is drawn anew: something may have been typed.
    this.nameField = h("input", { id: "name", value: myName(), maxlength: "40" });
    this.answer = h("div", {});
    clear(this.parts.why, this.askForm(), this.answer);
    this.drawSteps();
    document.addEventListener("keydown", (event) => this.key(event));
    setInterval(() => this.drawClocks(), 250);
    setInterval(() => this.watchOver(), 1000);
  }

  // --- the server ------------------------------------------------------------------------------

  async load() {
    const before = this.state;
    const want = Math.max(this.want, before?.v ?? 0);
    const state = await get(`/games/${this.id}?lines=${LINES}${want ? `&v=${want}` : ""}`, this.token);
    // The page never goes back: an answer from before what it has shown is none.
    if (state.v < want) throw new Error("the answer is older than what was seen");
    state.history = await this.whole(state);
    this.state = state;
    this.lines = state.history;
    this.fetched = performance.now();
    if (this.ply === null) this.position = state.position;
    if (before && state.ply !== before.ply) {
      this.selected = null;
      // What was told of the position before is not true any more.
      this.lit = new Set();
      clear(this.answer);
      const last = state.history.at(-1);
      if (last && state.ply > before.ply) announce(`${state.sides[last.side]} played ${last.san}`);
    }
    if (before && state.ply < before.ply && this.ply >= state.ply) await this.show(null);
    this.draw();
  }

  /** All actions of a game: those that a state tells, behind those that are known or asked for. */
  async whole({ v, history, lines_from: from }) {
    const same = (one, other) => one && other && one.uci === other.uci && one.at === other.at;
    // Where the first one is what it was, nothing before it was taken back.
    const known = same(this.lines[from], history[0]) ? this.lines.slice(0, from) : [];
    while (known.length < from) {
      const page = await get(`/games/${this.id}/lines?from=${known.length}&limit=1000&v=${v}`, this.token);
      if (!page.lines.length) throw new Error("the game was taken back meanwhile");
      known.push(...page.lines.slice(0, from - known.length));
    }
    return [...known, ...history];
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const have = Math.max(this.state.v, this.spoken);
    const socket = new WebSocket(`${scheme}://${location.host}/ws/v1/games/${this.id}?v=${have}`);
    this.socket = socket;
    this.connected = performance.now();
    socket.addEventListener("open", () => {
      // Where too many watch, players have room all the same.
      if (this.token) socket.send(JSON.stringify({ t: "auth", d: { token: this.token } }));
      this.retry = 0;
    });
    socket.addEventListener("message", (event) => {
      if (socket !== this.socket) return;
      this.heard = performance.now();
      this.showSilence();
      const frame = JSON.parse(event.data);
      if (frame.t === "pong") return;
      if (frame.v > this.state.v || frame.t === "resync") this.refresh(frame.v);
      if (frame.t === "played" && frame.d.effects) this.showEffects(frame.d.effects);
      if (frame.t === "said") this.said(frame);
      if (frame.t === "resync") this.hearAnew(frame.v);
    });
    socket.addEventListener("close", () => {
      if (socket === this.socket) this.reconnect();
    });
  }

  /** The socket is gone, or as good as gone: another one is opened after a while. */
  reconnect() {
    this.socket?.close();
    this.socket = null;
    this.retry = Math.min(this.retry + 1, 5);
    setTimeout(() => this.connect(), 250 * 2 ** this.retry);
    if (this.retry > 1) this.refresh();
  }

  /** Asks whether the server is there, and says so when nothing has been heard of it for a while. */
  watchOver() {
    const now = performance.now();
    this.showSilence();
    if (this.socket?.readyState === WebSocket.OPEN && now - (this.beaten ?? 0) > BEAT) {
      this.beaten = now;
      this.socket.send('{"t":"ping","a":0}');
    }
    if (this.socket && now - Math.max(this.heard, this.connected) > SILENCE) this.reconnect();
  }

  showSilence() {
    const seconds = Math.floor((performance.now() - this.heard) / 1000);
    const silence = seconds * 1000 >= SILENCE
      ? `Nothing has been heard from the server for ${seconds} seconds: what you see may be old. Trying again.` : null;
    if (silence === this.silence) return;
    if (silence && !this.silence) announce(silence);
    // What happened meanwhile may have been lost on the way.
    if (!silence) this.refresh();
    this.silence = silence;
    this.main.classList.toggle("away", silence !== null);
    if (this.state) this.drawState();
  }

  /** Lights the squares of effects for the time that each of them asks for, five seconds at most. */
  showEffects(effects) {
    for (const { name, args } of effects) {
      if (!args.square) continue;
      this.effects.set(args.square, name);
      setTimeout(() => { this.effects.delete(args.square); this.draw(); }, Math.min(Number(args.ttl) || 1000, 5000));
    }
    this.draw();
  }

  /**
   * Loads again, until what is shown is not older than an event, however often it fails. What comes
   * while that is under way is loaded once more, not once each.
   */
  refresh(v = 0) {
    this.want = Math.max(this.want, v);
    this.again = true;
    this.loading ??= this.loadSurely().finally(() => { this.loading = null; });
    return this.loading;
  }

  async loadSurely() {
    for (let attempt = 0; this.again || this.state.v < this.want;) {
      this.again = false;
      try {
        await this.load();
        attempt = 0;
      } catch (error) {
        if (!isPassing(error)) return this.tell(error.message);
        this.again = true;
        await sleep(backoff(attempt));
        attempt += 1;
      }
    }
  }

  async act(name, body = {}) {
    try {
      const answer = await postSurely(`/games/${this.id}/${name}`, { id: newId(), ...body }, this.token);
      if (answer.game) {
        if (this.token) keepToken(answer.game, this.token);
        location.href = `/game/${answer.game}`;
      }
      await this.refresh(answer.v);
    } catch (error) {
      this.tell(error.message);
    }
  }

  async play(uci) {
    const move = { uci, expected_ply: this.state.ply, client_move_id: newId() };
    this.selected = null;
    let v;
    try {
      v = (await postSurely(`/games/${this.id}/moves`, move, this.token)).v;
    } catch (error) {
      this.tell(error.message);
    }
    await this.refresh(v);
  }

  async join(seat) {
    const name = this.nameField.value || undefined;
    if (name) keepName(name);
    let v;
    try {
      const answer = await post(`/games/${this.id}/join`, { seat, name });
      this.token = answer.token;
      keepToken(this.id, answer.token);
      v = answer.v;
    } catch (error) {
      this.tell(error.message);
    }
    await this.refresh(v);
    // Players may write to each other.
    if (v !== undefined) await this.listen();
  }

  /** Arrow keys go through the moves, unless something is typed or the board has the focus. */
  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || !this.state) return;
    if (event.target.closest?.("input, textarea, select, dialog, svg.board")) return;
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
    // Another one may have been chosen meanwhile.
    if (this.ply !== wanted && wanted !== null) return;
    this.position = position;
    this.draw();
  }

  // --- playing ---------------------------------------------------------------------------------

  mine() {
    return this.state.open ? this.state.sides.map((_, at) => at) : this.state.you;
  }

  canMove() {
    return this.ply === null && !this.state.result && this.mine().includes(this.state.turn);
  }

  choose(square) {
    if (square === null) {
      this.selected = null;
      this.lit = new Set();
      return this.draw();
    }
    const { legal, pieces } = this.position;
    const from = this.selected;
    if (from && from !== square && this.canMove()) {
      const options = legal.filter((it) => it.from === from && it.to === square);
      if (options.length === 1) return this.play(options[0].uci);
      if (options.length > 1) return this.pick(options);
    }
    const starts = legal.some((it) => it.from === square);
    const own = (name) => pieces.some((it) => it.square === name && it.side === this.position.turn);
    if (from && from !== square && own(from) && !own(square)) {
      return this.ask({ move: `${from}${square}` });
    }
    const drops = legal.filter((it) => !it.from && it.to === square);
    // Where the square alone says it all, as a stone that is put down, there is nothing to choose.
    if (drops.length === 1 && drops[0].uci === square && this.canMove()) return this.play(square);
    if (drops.length && this.canMove() && !starts) return this.pick(drops);
    this.selected = from === square ? null : square;
    this.lit = new Set();
    this.draw();
    if (this.selected) this.about(square);
  }

  /** Other presets from here on: the opponent has to agree. */
  async propose() {
    const { state } = this;
    const query = `?rules=${state.rules}`;
    const catalogue = await get(`/catalogue${query}`);
    const picker = new Picker(catalogue.presets, state.sides);
    picker.set(state.active);
    const verdict = h("div", { class: "verdict", "aria-live": "polite" });
    const ask = h("button", { onclick: () => { dialog.close(); this.act("presets", { presets: picker.chosen() }); } }, "Ask for it");
    const check = async () => {
      picker.refresh();
      try {
        const found = await post("/presets/check", { game: state.game, presets: picker.chosen(), rules: state.rules });
        clear(verdict, h("p", { class: "yes" }, picker.chosen().length ? "They go together." : "No presets at all."), found.conflicts.map((it) => h("p", { class: "hint" }, `Note: ${it}.`)));
        ask.disabled = false;
      } catch (error) {
        clear(verdict, picker.clashes().map((it) => h("p", { class: "error" }, it)), h("p", { class: picker.clashes().length ? "hint" : "error" }, error.message));
        ask.disabled = true;
      }
    };
    const dialog = h("dialog", { class: "pick wide", "aria-label": "Presets" },
      h("h2", {}, "What is active from here on"),
      h("p", { class: "hint" }, state.open || this.mine().length > 1 ? "It takes effect when both sides have agreed." : "Your opponent has to agree."),
      h("div", { class: "make presets", onchange: check }, picker.elements), verdict, ask,
      h("button", { class: "quiet", onclick: () => dialog.close() }, "Cancel"));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    check();
  }

  pick(options) {
    const known = options.map((it) => ({ uci: it.uci, kind: this.kindOf(it) }));
    known.sort((one, other) => byStrength(one.kind?.kind, other.kind?.kind));
    const side = this.position.turn;
    const drawn = (kind) => svg("svg", { viewBox: "0 0 60 60", "aria-hidden": "true" }, picture({ ...kind, side }));
    const dialog = h("dialog", { class: "pick", "aria-label": "Which move" },
      h("p", {}, "Which move?"),
      known.map(({ uci, kind }) => h("button", { title: uci, class: kind ? "kind" : "", onclick: () => { dialog.close(); this.play(uci); } }, kind ? drawn(kind) : null, kind ? words(kind.name) : uci)),
      h("button", { class: "quiet", onclick: () => dialog.close() }, "None"));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  /** The kind that tells one of several moves between the same squares from the others. */
  kindOf(option) {
    const rest = option.uci.replace(`${option.from ?? ""}${option.to ?? ""}`, "");
    return this.position.kinds.find((it) => it.letter === rest);
  }

  // --- why -------------------------------------------------------------------------------------

  async ask(question) {
    const query = new URLSearchParams({ ...question, v: this.state.v });
    if (this.ply !== null) query.set("ply", this.ply);
    try {
      const answer = await get(`/games/${this.id}/explain?${query}`, this.token);
      this.explain(answer);
    } catch (error) {
      this.tell(error.message);
    }
  }

  async about(square) {
    const query = new URLSearchParams({ square, v: this.state.v });
    if (this.ply !== null) query.set("ply", this.ply);
    const { rows } = await get(`/games/${this.id}/explain?${query}`, this.token);
    if (this.selected !== square) return;
    clear(this.answer, h("h2", {}, `What holds of ${square}`),
      rows.length ? null : h("p", {}, "Nothing."),
      h("ul", { class: "rows" }, rows.map((it) => h("li", {},
        h("button", { class: "row", onclick: () => this.ask({ fact: it.fact }) }, it.sentence)))));
  }

  explain(answer) {
    this.lit = new Set(answer.lines.flatMap((it) => it.squares));
    const all = this.lit;
    const light = (squares) => () => { this.lit = squares; this.draw(); };
    const line = (it) => h("li", {
      class: `line depth${Math.min(it.depth, 9)}`,
      tabindex: "0",
      onmouseenter: light(new Set(it.squares)),
      onfocus: light(new Set(it.squares)),
      onmouseleave: light(all),
      onblur: light(all),
    }, it.text, " ", it.place || it.remark ? h("code", {}, it.place ?? it.remark) : null);
    clear(this.answer,
      h("h2", { class: answer.holds ? "yes" : "no" }, answer.holds ? "Why" : "Why not"),
      h("p", { class: "summary" }, answer.summary),
      h("ol", { class: "lines" }, answer.lines.map(line)));
    announce(answer.summary);
    this.draw();
  }

  askForm() {
    const field = h("input", { id: "ask", "aria-label": "A move, a square or a fact", placeholder: "e2e4, e4, attacks(e4, d5)", autocomplete: "off" });
    return h("form", {
      class: "ask",
      onsubmit: (event) => {
        event.preventDefault();
        const text = field.value.trim();
        if (!text) return;
        if (text.includes("(")) this.ask({ fact: text });
        else if (/^[a-p]\d{1,2}$/.test(text)) { this.selected = text; this.draw(); this.about(text); }
        else this.ask({ move: text });
      },
    }, field, h("button", {}, "Why?"));
  }

  tell(text) {
    this.notice = text;
    announce(text);
    this.drawState();
    clearTimeout(this.noticeTimer);
    this.noticeTimer = setTimeout(() => { this.notice = null; this.drawState(); }, 8000);
  }

  // --- drawing ---------------------------------------------------------------------------------

  draw() {
    const { state, position } = this;
    const flipped = this.flip ?? (this.mine().length === 1 && this.mine()[0] === 1);
    const targets = new Map();
    if (this.selected) {
      for (const it of position.legal) if (it.from === this.selected) targets.set(it.to, it);
    }
    const shown = this.ply ?? state.ply;
    const last = shown > 0 ? state.history[shown - 1].uci.match(/[a-p]\d{1,2}/g) || [] : [];
    this.board.draw(position, { flipped, selected: this.selected, targets, last, lit: this.lit, effects: this.effects, sides: state.sides });
    const presets = state.presets.length ? ` with ${state.presets.map(shortly).join(", ")}` : "";
    document.title = `${words(state.game)} – Rulemate`;
    clear(this.parts.title, h("h1", {}, begin(words(state.game)), h("small", { title: state.active.join("\n") }, presets)));
    const order = flipped ? [0, 1] : [1, 0];
    this.drawSeat(this.parts.top, order[0]);
    this.drawSeat(this.parts.bottom, order[1]);
    this.drawState();
    this.drawOffers();
    this.drawActs();
    this.drawMoves();
    if (!this.answer.hasChildNodes()) {
      clear(this.answer,
        h("p", { class: "hint" }, "Choose a square to see what holds of it. Choose a piece and a square that it may not go to, and the rules say why not."));
    }
  }

  drawSeat(part, side) {
    const { state } = this;
    if (side >= state.sides.length) return clear(part);
    const you = state.you.includes(side) ? " (you)" : "";
    const name = state.open ? "open board" : state.seats[side] ?? "free seat";
    clear(part,
      h("span", { class: `disc side${side}` , "aria-hidden": "true" }),
      h("span", { class: "who" }, `${begin(words(state.sides[side]))}: ${name}${you}`),
      state.turn === side && !state.result ? h("span", { class: "turn" }, "to move") : null,
      state.clocks ? h("span", { class: "clock", "data-side": side }) : null);
    this.drawClocks();
  }

  drawClocks() {
    if (!this.state?.clocks) return;
    for (const clock of this.main.querySelectorAll(".clock")) {
      const side = Number(clock.dataset.side);
      const runs = this.state.clock_runs && side === this.state.turn;
      const spent = runs ? performance.now() - this.fetched : 0;
      const left = Math.max(0, this.state.clocks[side] - spent);
      const seconds = Math.ceil(left / 1000);
      clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      clock.classList.toggle("runs", runs);
      clock.classList.toggle("low", left < 15000);
      if (runs && left === 0 && !this.late) {
        this.late = true;
        setTimeout(() => { this.late = false; this.refresh(); }, 500);
      }
    }
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
    } else if (state.history.at(-1)?.turn_goes_on) text = `${words(state.sides[state.turn])} goes on with the turn`;
    else text = `${words(state.sides[state.turn])} to move`;
    clear(this.parts.state,
      h("p", { class: "verdict" }, begin(text)),
      this.ply === null ? null : h("p", {}, `You look at the position after ${this.ply} of ${state.ply} actions. `, h("button", { onclick: () => this.show(null) }, "Back to the game")),
      this.silence ? h("p", { class: "error silence" }, this.silence) : null,
      this.notice ? h("p", { class: "error" }, this.notice) : null);
  }

  drawOffers() {
    const { offers, sides, seats, open, you } = this.state;
    const mine = this.mine();
    const lines = [];
    const offer = (by, text, kind, accept) => {
      const toMe = mine.some((it) => it !== by);
      lines.push(h("p", { class: "offer" }, `${words(sides[by])} ${text}. `,
        toMe ? h("button", { onclick: accept }, "Accept") : null,
        mine.length ? h("button", { class: "quiet", onclick: () => this.act("decline", { offer: kind }) }, toMe ? "Decline" : "Withdraw") : null));
    };
    if (offers.draw != null) offer(offers.draw, "offers a draw", "draw", () => this.act("draw"));
    if (offers.takeback) offer(offers.takeback[0], "asks to take the last turn back", "takeback", () => this.act("takeback"));
    if (offers.presets) offer(offers.presets[0], `asks for these presets: ${offers.presets[1].join(", ") || "none"}`, "presets", () => this.act("presets", { presets: offers.presets[1] }));
    if (offers.rematch != null) offer(offers.rematch, "wants a rematch", "rematch", () => this.act("rematch"));
    const free = open || you.length ? [] : sides.filter((_, at) => seats[at] === null);
    if (free.length) {
      lines.push(h("div", { class: "offer" },
        h("label", {}, "Your name ", this.nameField),
        free.map((side) => h("button", { onclick: () => this.join(side) }, `Play ${words(side)}`))));
    } else if (!open && you.length && seats.includes(null)) {
      lines.push(h("p", { class: "offer" }, "Send your opponent this link: ", h("input", { readonly: true, class: "link", "aria-label": "Link", value: location.href, onfocus: (event) => event.target.select() })));
    }
    // What is typed into stays where it is: a field that is put in its place again loses the focus.
    const typing = document.activeElement === this.nameField;
    clear(this.parts.offers, lines);
    if (typing) this.nameField.focus();
  }

  drawActs() {
    const { state, position } = this;
    const button = (text, act, quiet = true) => h("button", { class: quiet ? "quiet" : "", onclick: act }, text);
    const sure = (question, answer, act) => async () => { if (await confirmed(question, answer)) this.act(act); };
    const acts = [];
    const last = state.history.at(-1);
    if (this.canMove()) {
      if (last?.turn_goes_on && this.mine().includes(last.side)) acts.push(button("Undo", () => this.act("takeback"), false));
      for (const it of position.legal.filter((it) => !it.from && !it.to)) acts.push(button(words(it.uci), () => this.play(it.uci), false));
      if (position.claims.length) acts.push(button(`Claim draw (${words(position.claims[0])})`, () => this.act("claim"), false));
    }
    if (this.mine().length && !state.result) {
      if (state.ply > 0 && !last?.turn_goes_on) acts.push(button("Take back", () => this.act("takeback")));
      acts.push(button("Presets", () => this.propose()));
      acts.push(button("Offer draw", () => this.act("draw")));
      acts.push(state.ply < 2 ? button("Call off", sure("Call the game off?", "Yes, call it off", "abort")) : button("Resign", sure("Resign, and lose the game?", "Yes, resign", "resign")));
    }
    if (this.mine().length && state.result && !state.rematch) acts.push(button("Rematch", () => this.act("rematch")));
    if (state.rematch) acts.push(h("a", { class: "button", href: `/game/${state.rematch}`, onclick: () => { if (this.token) keepToken(state.rematch, this.token); } }, "To the rematch"));
    acts.push(button("Turn board", () => { this.flip = !(this.flip ?? (this.mine().length === 1 && this.mine()[0] === 1)); this.draw(); }));
    clear(this.parts.acts, acts);
  }

  drawMoves() {
    const { state } = this;
    const shown = this.ply ?? state.ply;
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
        onclick: () => this.show(at + 1),
      }, it.san),
      (it.notes || []).map((note) => h("span", { class: "note" }, words(note))));
    });
    const list = h("ol", { class: "list", "aria-label": "Moves" }, items);
    const exports = ["pgn", "fen", "facts"].map((it) => [h("a", { href: `/api/v1/games/${this.id}/export?format=${it}` }, it.toUpperCase()), " "]);
    const before = this.parts.moves.querySelector(".list")?.scrollTop ?? 0;
    clear(this.parts.moves, list, h("p", { class: "exports" }, "Export: ", exports));
    list.scrollTop = before;
    reveal(list, list.querySelector(".current"));
  }

  /** Below the board, where nothing moves them: who steps back twice must not offer a draw. */
  drawSteps() {
    const shown = () => this.ply ?? this.state.ply;
    const go = (text, label, ply) => h("button", { class: "quiet", "aria-label": label, onclick: () => this.show(ply()) }, text);
    clear(this.parts.steps, go("|◀", "First position", () => 0), go("◀", "One back", () => shown() - 1), go("▶", "One on", () => shown() + 1), go("▶|", "Current position", () => null));
  }

  // --- chat, where the game has it --------------------------------------------------------------

  async listen() {
    if (!this.state.chat) return;
    this.log = h("ol", { class: "said", "aria-label": "Chat" });
    const field = h("input", { "aria-label": "Message", maxlength: "300", autocomplete: "off" });
    const send = (event) => {
      event.preventDefault();
      if (field.value.trim()) this.act("chat", { text: field.value.trim() });
      field.value = "";
    };
    this.earlier = h("button", { class: "quiet", onclick: () => this.hearEarlier().catch((error) => this.tell(error.message)) }, "Earlier messages");
    clear(this.parts.talk, h("h2", {}, "Chat"), this.earlier, this.log,
      this.mine().length ? h("form", { class: "ask", onsubmit: send }, field, h("button", {}, "Send")) : null);
    await this.hearAnew(this.state.v);
  }

  /** What was said up to an event, as if nothing had been heard before. */
  async hearAnew(v) {
    if (!this.log) return;
    clear(this.log);
    [this.spoken, this.unheard] = [v, v];
    await this.hearEarlier().catch((error) => this.tell(error.message));
  }

  /** What was said in the events before those that were looked through. */
  async hearEarlier() {
    const until = this.unheard;
    const after = Math.max(0, until - EVENTS);
    const events = until ? await get(`/games/${this.id}/events?after=${after}&limit=${until - after}`, this.token) : [];
    if (until !== this.unheard) return;
    this.unheard = after;
    this.earlier.hidden = after === 0;
    const said = events.filter((it) => it.t === "said");
    this.log.prepend(...said.map((it) => h("li", {}, this.line(it))));
    if (until === this.spoken) reveal(this.log, this.log.lastChild);
  }

  line({ d }) {
    return `${this.state.sides[d.by]}: ${d.text}`;
  }

  /** Something is said. What was shown before comes again when a socket comes back. */
  said(event) {
    if (!this.log || event.v <= this.spoken) return;
    this.spoken = event.v;
    this.log.append(h("li", {}, this.line(event)));
    reveal(this.log, this.log.lastChild);
    announce(this.line(event));
  }
}
