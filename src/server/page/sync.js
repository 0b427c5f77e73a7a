// The state of a game, kept up to date with the server: by requests, by a socket, and by asking again after a silence.

import { backoff, get, isPassing, keepToken, myAccount, newId, postSurely, sleep, tokenOf } from "./api.js";
import { announce } from "./dom.js";

/** Milliseconds between pings to the server, and of silence until the page says that nothing is heard. */
const BEAT = 4000;
const SILENCE = 10000;
/** How many of the last actions come with the state; earlier ones are requested once. */
const LINES = 200;

/**
 * A game as the server has it. A class that shows it has methods for a new state (`changed`), a message of the socket
 * (`hear`), the beginning and end of a silence (`silent`) and an error (`tell`), and the number of the last event that it
 * was sent (`lastHeard`).
 */
export class Sync {
  constructor(id) {
    this.id = id;
    this.token = tokenOf(id);
    this.first = null; // the position before the first move
    this.lines = []; // all actions that are known
    this.retry = 0;
    this.want = 0; // the last event that the page knows of: an older state is not shown
    this.heard = performance.now();
    this.silence = null; // the sentence about a silent server
    addEventListener("online", () => this.comeBack());
  }

  async load() {
    const before = this.state;
    const want = Math.max(this.want, before?.v ?? 0);
    const state = await get(`/games/${this.id}?lines=${LINES}${want ? `&v=${want}` : ""}`, this.token);
    // The page never goes back to an older state.
    if (state.v < want) throw new Error("the answer is older than what was seen");
    state.history = await this.whole(state);
    this.first ??= await this.firstPosition(state);
    this.state = state;
    this.lines = state.history;
    this.fetched = performance.now();
    await this.changed(before);
  }

  /** The position before the first move, by which captured pieces are found. */
  async firstPosition(state) {
    if (state.ply === 0) return state.position;
    // The game can be played without it.
    return get(`/games/${this.id}?ply=0&lines=0&v=${state.v}`, this.token).then((it) => it.position, () => null);
  }

  /** All actions of a game: those of a state, after earlier ones that are known or requested now. */
  async whole({ v, history, lines_from: from }) {
    const same = (one, other) => one && other && one.uci === other.uci && one.at === other.at;
    // If the first action of the state is what it was, nothing before it was taken back.
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
      // Players have room even if there are too many watchers.
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

  /** Replaces a socket that is closed or silent, after a while. */
  reconnect() {
    this.socket?.close();
    this.socket = null;
    this.retry = Math.min(this.retry + 1, 5);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.connect(), 250 * 2 ** this.retry);
    if (this.retry > 1) this.refresh();
  }

  /** Reconnects now, since the device is online again. */
  comeBack() {
    if (!this.state) return;
    this.retry = 0;
    this.reconnect();
  }

  /** Pings the server, and reconnects when nothing has been heard from it for a while. */
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
    // Messages of that time may be lost.
    if (!silence) this.refresh();
    this.silence = silence;
    this.silent(silence !== null);
  }

  /**
   * Loads the state until it is not older than event `v`, again after each failure that may pass. Calls while it loads lead
   * to one more load together.
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

  /** Keeps the token of a guest's seat for the rematch, which has the same. */
  keepSeat(game) {
    if (this.token && this.token !== myAccount()?.token) keepToken(game, this.token);
  }

  /** Goes to the rematch of this game. */
  enter(game) {
    this.keepSeat(game);
    location.href = `/game/${game}`;
  }

  /** Sends an act of a player. Returns whether it was done. */
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
