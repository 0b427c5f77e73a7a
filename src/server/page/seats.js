// The players: their seats and clocks, their pieces in hand, captured pieces, and whether they are present.

import { handOf } from "./choose.js";
import { begin, clear, grouped, h, timeLeft, words } from "./dom.js";
import { colours, icon, kindOf, worth } from "./pieces.js";
import { FAR } from "./pointer.js";

export class Seats {
  constructor(view) {
    this.view = view;
    this.top = h("div", { class: "seats top" });
    this.bottom = h("div", { class: "seats bottom" });
    this.present = null;
  }

  draw(isFlipped) {
    const { state } = this.view;
    const all = state.sides.map((_, side) => side);
    // The side at the bottom of the board; all others sit above it.
    const mine = this.view.mine();
    const below = mine.length === 1 && all.length > 2 ? mine[0] : Number(isFlipped);
    const above = [...all.slice(below + 1), ...all.slice(0, below)].reverse();
    clear(this.top, above.map((side) => this.seat(side)));
    clear(this.bottom, this.seat(below));
    // The board leaves room for all of them.
    this.top.closest(".side")?.style.setProperty("--seats", all.length);
    this.drawClocks();
  }

  seat(side) {
    const { state, position } = this.view;
    const you = state.you.includes(side) ? " (you)" : "";
    const name = state.open ? "open board" : state.seats[side] ?? "free seat";
    const there = this.present?.sides.includes(side);
    const presence = state.open || state.seats[side] == null || !this.present ? null
      : h("span", { class: there ? "presence there" : "presence", title: there ? "is there" : "is not there", role: "img", "aria-label": there ? "is there" : "is not there" });
    return h("div", { class: "seat" },
      h("span", { class: `disc ${colours(side, state.sides)}`, "aria-hidden": "true" }),
      h("span", { class: "who" }, `${begin(words(state.sides[side]))}: `, state.accounts?.[side] ? h("a", { href: `/user/${name}` }, name) : name, you), presence,
      state.turn === side && !state.result ? h("span", { class: "turn" }, "to move") : null,
      this.hand(side, position), this.captured(side, position), this.counted(side, position),
      state.clocks ? h("span", { class: "clock", "data-side": side }) : null);
  }

  /** What a side has in hand. */
  hand(side, position) {
    const counts = handOf(position, side);
    if (!counts) return null;
    const { sides } = this.view.state;
    const selected = this.view.selected?.hand;
    return h("span", { class: "hand" }, [...counts].map(([letter, count]) => {
      const kind = position.kinds.find((it) => it.letter === letter);
      if (!kind) return null;
      const isMine = this.view.canMove() ? position.turn === side : this.view.canGoAhead() && this.view.state.you.includes(side);
      const button = h("button", {
        class: isMine && selected === letter ? "man selected" : "man",
        disabled: !isMine,
        "data-hand": letter,
        "aria-label": `${words(kind.name).toLowerCase()} in hand, ${count}`,
        "aria-pressed": selected === letter ? "true" : "false",
        onclick: () => this.view.chooseHand(letter),
      }, icon({ ...kind, side }, sides), count > 1 ? h("b", {}, count) : null);
      if (isMine) button.addEventListener("pointerdown", (event) => this.carry(event, letter, button));
      return button;
    }));
  }

  /** A piece in hand is dragged to the board. */
  carry(event, letter, button) {
    if (event.button !== 0) return;
    const copy = button.querySelector("svg").cloneNode(true);
    copy.setAttribute("class", "carried");
    let moved = false;
    const move = (now) => {
      if (!moved && Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) < FAR) return;
      if (!moved) {
        moved = true;
        document.body.append(copy);
        this.view.carry(letter);
      }
      copy.style.left = `${now.clientX}px`;
      copy.style.top = `${now.clientY}px`;
    };
    const up = (now) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", up);
      copy.remove();
      if (moved) this.view.putDown(now.type === "pointerup" ? this.view.board.place(now).square : null);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up);
  }

  /** The opponent's pieces that are gone from the board, and the lead of a side. */
  captured(side, position) {
    const { state, first } = this.view;
    if (!first || state.sides.length !== 2 || position.fen.includes("[")) return null;
    const here = new Set(position.pieces.map((it) => it.id));
    const gone = first.pieces.filter((it) => it.side === 1 - side && !here.has(it.id));
    const kinds = grouped(gone, (it) => it.kind);
    const order = [...kinds].sort((one, other) => (worth(other[0]) ?? 0) - (worth(one[0]) ?? 0));
    const lead = this.lead(side, position);
    if (!gone.length && !lead) return null;
    const text = order.map(([kind, all]) => `${all.length} ${kindOf(all[0], position.kinds)}`).join(", ");
    return h("span", { class: "captured", role: "img", "aria-label": `captured: ${text || "nothing"}${lead ? `; ${lead} ahead` : ""}` },
      order.map(([, all]) => h("span", { class: "kinds" }, all.map((it) => icon(it, state.sides)))),
      lead ? h("b", {}, `+${lead}`) : null);
  }

  /** The lead of a side as chess players count it; 0 if there is a kind that chess does not have. */
  lead(side, position) {
    let sum = 0;
    // A kind that the game gives another name is another kind: a queen that is a ferz.
    const isTheirs = (kind) => kindOf({ kind }, position.kinds) === kind;
    for (const it of position.pieces) {
      const value = isTheirs(it.kind) ? worth(it.kind) : null;
      if (value === null) return 0;
      if (it.side != null) sum += it.side === side ? value : -value;
    }
    return Math.max(0, sum);
  }

  /** Numbers that a side has: points to spend, lives. */
  counted(side, position) {
    const name = this.view.state.sides[side];
    const all = Object.entries(position.facts_of ?? {}).map(([fact, of]) => [words(fact.split("::").pop()), of[name]]);
    const told = all.filter(([, value]) => /^-?\d+$/.test(value ?? "") && value !== "0");
    return told.length ? h("span", { class: "counted" }, told.map(([fact, value]) => `${fact} ${value}`).join(", ")) : null;
  }

  /** Notes who is present, as the server says. Returns whether that has changed. */
  notePresence(present) {
    if (JSON.stringify(present) === JSON.stringify(this.present)) return false;
    this.present = present;
    return true;
  }

  drawClocks() {
    const { state, fetched } = this.view;
    if (!state?.clocks) return;
    for (const clock of document.querySelectorAll(".clock")) {
      const side = Number(clock.dataset.side);
      const runs = state.clock_runs && side === state.turn;
      const { initial, increment, delay } = state.clock;
      const spent = runs ? performance.now() - fetched : 0;
      // A side with neither initial time nor increment has its delay for each turn.
      const own = initial || increment ? state.clocks[side] : delay;
      const left = Math.max(0, runs && state.deadline ? Math.min(own, state.deadline - state.now - spent) : own);
      clock.textContent = timeLeft(left);
      clock.classList.toggle("runs", runs);
      clock.classList.toggle("low", left < 15000);
      if (runs && left === 0 && !this.late) {
        this.late = true;
        setTimeout(() => { this.late = false; this.view.refresh(); }, 500);
      }
    }
  }
}
