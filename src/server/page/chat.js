// The chat of a game's players, if the game has one.

import { get } from "./api.js";
import { announce, clear, confirmed, h } from "./dom.js";
import { reveal } from "./moves.js";

/** How many events are searched for messages at a time. */
const EVENTS = 500;

export class Chat {
  constructor(view) {
    this.view = view;
    this.root = h("div", { class: "talk" });
    this.spoken = 0; // the number of the last event that was searched or shown
  }

  async listen() {
    if (!this.view.state.chat) return;
    this.log = h("ol", { class: "said", "aria-label": "Chat", tabindex: "0" });
    const field = h("input", { "aria-label": "Message", maxlength: "300", autocomplete: "off" });
    const send = async (event) => {
      event.preventDefault();
      const text = field.value.trim();
      field.value = "";
      // A message that could not be sent returns to the field.
      if (text && !(await this.view.act("chat", { text })) && !field.value) field.value = text;
    };
    this.earlier = h("button", { class: "quiet", onclick: () => this.hearEarlier().catch((error) => this.view.tell(error.message)) }, "Earlier messages");
    const off = h("button", { type: "button", class: "quiet", title: "No more messages in this game", onclick: () => this.hush() }, "Chat off");
    clear(this.root, h("h2", {}, "Chat"), this.earlier, this.log,
      this.view.mine().length ? h("form", { class: "ask", onsubmit: send }, field, h("button", {}, "Send"), off) : null);
    await this.hearAnew(this.view.state.v);
  }

  /** Shows the messages up to an event anew. */
  async hearAnew(v) {
    if (!this.log) return;
    clear(this.log);
    [this.spoken, this.unheard] = [v, v];
    await this.hearEarlier().catch((error) => this.view.tell(error.message));
  }

  /** Shows the messages in the events before those that were searched. */
  async hearEarlier() {
    const until = this.unheard;
    const after = Math.max(0, until - EVENTS);
    const events = until ? await get(`/games/${this.view.id}/events?after=${after}&limit=${until - after}`, this.view.token) : [];
    if (until !== this.unheard) return;
    this.unheard = after;
    this.earlier.hidden = after === 0;
    const said = events.filter((it) => it.t === "said");
    this.log.prepend(...said.map((it) => h("li", {}, this.line(it))));
    if (until === this.spoken) reveal(this.log, this.log.lastChild);
  }

  /** Switches the chat off, for all players. */
  async hush() {
    if (await confirmed("Messages in this game end then, yours too.", "Switch the chat off")) this.view.act("hush");
  }

  /** A player has switched the chat off: its messages stay. */
  off() {
    this.root.querySelector("form")?.replaceWith(h("p", { class: "hint" }, "The chat is off."));
  }

  line({ d }) {
    return `${this.view.state.sides[d.by]}: ${d.text}`;
  }

  /** Shows a new message. Messages that are shown already come again when a socket reconnects. */
  said(event) {
    if (!this.log || event.v <= this.spoken) return;
    this.spoken = event.v;
    this.log.append(h("li", {}, this.line(event)));
    reveal(this.log, this.log.lastChild);
    announce(this.line(event));
  }
}
