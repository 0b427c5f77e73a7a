// What the server says of a game, kept up to date: the state, the socket, and what is done when nothing is heard.

import { backoff, get, isPassing, keepToken, myAccount, newId, postSurely, sleep, tokenOf } from "./api.js";
import { announce } from "./dom.js";

/** Milliseconds: how often the server is asked whether it is there, and after which silence the page says so. */
const BEAT = 4000;
const SILENCE = 10000;
/** How many of the last actions come with the state; those before are asked for once. */
const LINES = 200;

/**
 * A game as the server has it. Whoever shows it says what becomes of a new state (`changed`), of a message (`hear`), of a
 * silence (`silent`) and of what went wrong (`tell`), and which event of others it was told last (`lastHeard`).
 */
export class Sync {
  constructor(id) {
    this.id = id;
    this.token = tokenOf(id);
    this.first = null; // the position before the first move
    this.lines = []; // all actions that are known
    this.retry = 0;
    this.want = 0; // the last event that was told of: no answer from before it is shown
    this.heard = performance.now();
    this.silence = null; // what is said about a server that is not heard of
    addEventListener("online", () => this.comeBack());
  }

  async load() {
    const before = this.state;
    const want = Math.max(this.want, before?.v ?? 0);
    const state = await get(`/games/${this.id}?lines=${LINES}${want ? `&v=${want}` : ""}`, this.token);
    // The page never goes back: an answer from before what it has shown is none.
    if (state.v < want) throw new Error("the answer is older than what was seen");
    state.history = await this.whole(state);
    this.first ??= await this.firstPosition(state);
    this.state = state;
    this.lines = state.history;
    this.fetched = performance.now();
    await this.changed(before);
  }

  /** What was on the board before the first move, to tell what was captured. */
  async firstPosition(state) {
    if (state.ply === 0) return state.position;
    // Without it the game is played all the same.
    return get(`/games/${this.id}?ply=0&lines=0&v=${state.v}`, this.token).then((it) => it.position, () => null);
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
    const have = Math.max(this.state.v, this.lastHeard());
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
      if (frame.t !== "pong" && (frame.v > this.state.v || frame.t === "resync")) this.refresh(frame.v);
      this.hear(frame);
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
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.connect(), 250 * 2 ** this.retry);
    if (this.retry > 1) this.refresh();
  }

  /** The device is online again: it does not wait for the next attempt. */
  comeBack() {
    if (!this.state) return;
    this.retry = 0;
    this.reconnect();
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
    this.silent(silence !== null);
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

  /** A rematch is played with the same token. */
  keepSeat(game) {
    if (this.token && this.token !== myAccount()?.token) keepToken(game, this.token);
  }

  /** Goes to the rematch of this game. */
  enter(game) {
    this.keepSeat(game);
    location.href = `/game/${game}`;
  }

  /** Does what a player may do; whether it was done. */
  async act(name, body = {}) {
    try {
      const answer = await postSurely(`/games/${this.id}/${name}`, { id: newId(), ...body }, this.token);
      if (answer.game) this.enter(answer.game);
      await this.refresh(answer.v);
      return true;
    } catch (error) {
      this.tell(error.message);
      return false;
    }
  }
}
