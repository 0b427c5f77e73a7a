// The acts that are not moves of pieces: buttons, offers, free seats, other presets.

import { logIn } from "./account.js";
import { get, myAccount, myName, post } from "./api.js";
import { begin, clear, closing, confirmed, h, linkField, showDialog, words } from "./dom.js";
import { actionName } from "./choose.js";
import { Picker } from "./presets.js";
import { makeStudy } from "./study.js";
import { awaitNext } from "./tournament.js";

/** The events that make an offer, and the offer that each of them makes. */
const OFFERED = { draw_offered: "draw", takeback_asked: "takeback", presets_asked: "presets", rematch_offered: "rematch" };
/** The offers as they are called when they are declined. */
const DECLINED = { draw: "the draw", takeback: "to take the turn back", presets: "these presets", rematch: "the rematch" };

export class Acts {
  constructor(view) {
    this.view = view;
    this.makers = new Map();
    this.root = h("div", { class: "acts" });
    this.offers = h("div", { class: "offers" });
    // Not drawn anew with the rest: something may have been typed in it.
    this.nameField = h("input", { id: "name", value: myName(), maxlength: "40" });
  }

  draw() {
    if (document.body.classList.contains("framed")) {
      clear(this.root, h("a", { class: "button", href: `/game/${this.view.id}`, target: "_blank", rel: "noopener" }, "Open the game"));
      return;
    }
    this.drawOffers();
    this.drawButtons();
  }

  /** The chosen suffix of the text of each action: what a pawn is to become. */
  given() {
    return this.view.position.given?.some((it) => it.suffix === this.chosen) ? this.chosen : "";
  }

  /** The suffixes that an action may have, to choose one. */
  drawGiven() {
    const { given } = this.view.position;
    if (!given?.length) return null;
    if (!given.some((it) => it.suffix === this.chosen)) this.chosen = "";
    return h("label", { class: "given" }, `${begin(words(given[0].name))} `,
      h("select", { id: "given", onchange: (event) => { this.chosen = event.target.value; } },
        h("option", { value: "" }, "as usual"), given.filter((it) => it.suffix).map((it) => h("option", { value: it.suffix, selected: it.suffix === this.chosen }, words(it.value)))));
  }

  drawOffers() {
    const { offers, sides, seats, open, you, result } = this.view.state;
    const mine = this.view.mine();
    const lines = [];
    const offer = (by, text, kind, accept) => {
      // Of more than two sides, each has to agree.
      const agreed = (offers.agreed ?? []).filter(([of]) => of === kind).map(([, side]) => side);
      const toMe = mine.some((it) => it !== by && !agreed.includes(it));
      const others = agreed.map((side) => `${begin(words(sides[side]))} agrees. `).join("");
      lines.push(h("p", { class: "offer" }, `${begin(words(sides[by]))} ${text}. ${others}`,
        toMe ? h("button", { onclick: accept }, "Accept") : null,
        mine.length ? h("button", { class: "quiet", onclick: () => this.view.act("decline", { offer: kind }) }, toMe ? "Decline" : "Withdraw") : null));
    };
    if (offers.draw != null) offer(offers.draw, "offers a draw", "draw", () => this.view.act("draw"));
    if (offers.takeback) offer(offers.takeback[0], "asks to take the last turn back", "takeback", () => this.view.act("takeback"));
    if (offers.presets) {
      const [by, presets] = offers.presets;
      const names = presets.map((it) => this.view.spoken(it)).join(", ") || "none";
      offer(by, `asks for these presets: ${names}`, "presets", () => this.view.act("presets", { presets }));
    }
    if (offers.rematch != null) offer(offers.rematch, "wants a rematch", "rematch", () => this.view.act("rematch"));
    const free = open || you.length || result ? [] : sides.filter((_, at) => seats[at] === null);
    // A link may ask for a colour (`?color=white`): lichess' names of the first side and the second.
    const wanted = sides[["white", "black"].indexOf(new URLSearchParams(location.search).get("color"))];
    const offered = free.includes(wanted) ? [wanted] : free;
    if (free.length) {
      lines.push(h("div", { class: "offer" },
        this.view.state.rated ? h("p", {}, "This game is rated: its end changes your rating.") : null,
        myAccount() ? null : this.view.state.rated ? h("button", { onclick: logIn }, "Log in to play") : h("label", {}, "Your name ", this.nameField),
        this.view.state.rated && !myAccount() ? null : offered.map((side) => h("button", { onclick: () => this.view.join(side, this.nameField.value) }, `Play ${words(side)}`))));
    } else if (!open && !result && you.length && seats.includes(null)) {
      const invited = seats.filter((it) => it === null).length > 1 ? "the others" : "your opponent";
      lines.push(h("p", { class: "offer" }, `Send ${invited} this link: `, linkField("Link")));
    }
    clear(this.offers, lines);
  }

  drawButtons() {
    const { view } = this;
    const { state, position } = view;
    const button = (text, act, quiet = true) => h("button", { class: quiet ? "quiet" : "", onclick: act }, text);
    const sure = (question, answer, act) => async () => { if (await confirmed(question, answer)) view.act(act); };
    const acts = [];
    const last = state.history.at(-1);
    if (!view.canMove()) this.chosen = "";
    else {
      for (const it of position.legal.filter((it) => !it.from && !it.to)) acts.push(button(actionName(it), () => view.play(it), false));
      if (last?.turn_goes_on && view.mine().includes(last.side)) {
        const steps = state.history.length - 1 - state.history.findLastIndex((it) => !it.turn_goes_on);
        acts.push(button("Undo step", () => view.act("takeback"), false));
        if (steps > 1) acts.push(button("Undo turn", () => this.cancel(steps), false));
      }
      if (position.claims.length) acts.push(button(`Claim draw (${words(position.claims[0])})`, () => view.act("claim"), false));
    }
    if (view.mine().length && !state.result) {
      if (state.ply > 0 && !last?.turn_goes_on && !state.tournament && !state.offers.takeback) acts.push(button("Take back", () => view.act("takeback")));
      if (!state.tournament) acts.push(button("Presets", () => this.propose()));
      if (state.offers.draw == null) acts.push(button("Offer draw", () => view.act("draw")));
      acts.push(state.ply < 2 && !state.tournament ? button("Call off", sure("Call the game off?", "Yes, call it off", "abort")) : button("Resign", sure("Resign, and lose the game?", "Yes, resign", "resign")));
    }
    if (state.tournament) acts.push(h("a", { class: "button", href: `/tournament/${state.tournament}` }, state.result ? "Back to the tournament" : "The tournament"));
    if (state.tournament && state.result && view.mine().length && !this.awaits) {
      this.awaits = true;
      awaitNext(state.tournament, view.id);
    }
    if (view.mine().length && state.result && !state.rematch && !state.tournament && state.offers.rematch == null) acts.push(button("Rematch", () => this.rematch()));
    if (view.canMove()) acts.push(this.drawGiven());
    if (state.result && myAccount()) acts.push(h("button", { class: "quiet", onclick: () => makeStudy({ of: view.id }).catch((error) => view.tell(error.message)) }, "Study this game"));
    if (state.rematch) acts.push(h("a", { class: "button", href: `/game/${state.rematch}`, onclick: () => view.keepSeat(state.rematch) }, "To the rematch"));
    clear(this.root, acts.filter(Boolean));
  }

  /** Tells the maker of an offer that it is declined, even if no state has shown the offer: computers decline at once. */
  hear({ t, d }) {
    if (OFFERED[t]) this.makers.set(OFFERED[t], d.by);
    if (t !== "declined") return;
    const { offers, sides } = this.view.state;
    const maker = this.makers.get(d.offer) ?? [offers[d.offer]].flat()[0];
    const mine = this.view.mine();
    // A player who withdraws or declines an offer is not told.
    if (DECLINED[d.offer] && mine.includes(maker) && !mine.includes(d.by)) this.view.tell(`${begin(words(sides[d.by]))} declines ${DECLINED[d.offer]}.`);
  }

  /** Asks for a rematch, or agrees to one. A computer agrees at once: the page may never see that it was asked for. */
  rematch() {
    this.wantsRematch = true;
    return this.view.act("rematch");
  }

  /** Takes back the actions of a turn that is not over. */
  async cancel(steps) {
    for (let at = 0; at < steps; at += 1) await this.view.act("takeback");
  }

  /** Other presets from here on: the other sides have to agree. */
  async propose() {
    const { state } = this.view;
    const catalogue = await get(`/catalogue?rules=${state.rules}`);
    const picker = new Picker(catalogue.presets, state.sides);
    picker.set(state.active);
    const verdict = h("div", { class: "verdict", "aria-live": "polite" });
    const ask = h("button", { onclick: () => { dialog.close(); this.view.act("presets", { presets: picker.chosen() }); } }, "Ask for it");
    const check = async () => {
      picker.refresh();
      try {
        const found = await post("/presets/check", { game: state.game, presets: picker.chosen(), exactly: true, rules: state.rules });
        clear(verdict, h("p", { class: "yes" }, picker.chosen().length ? "They go together." : "No presets at all."), found.conflicts.map((it) => h("p", { class: "hint" }, `Note: ${it}.`)));
        ask.disabled = false;
      } catch (error) {
        clear(verdict, picker.clashes().map((it) => h("p", { class: "error" }, it)), h("p", { class: picker.clashes().length ? "hint" : "error" }, error.message));
        ask.disabled = true;
      }
    };
    const dialog = h("dialog", { class: "pick wide", "aria-label": "Presets" },
      h("h2", {}, "What is active from here on"),
      h("p", { class: "hint" }, state.sides.length > 2 ? "It takes effect when all sides have agreed."
        : state.open || this.view.mine().length > 1 ? "It takes effect when both sides have agreed." : "Your opponent has to agree."),
      h("div", { class: "make presets", tabindex: "0", onchange: check }, picker.elements), verdict, ask, closing());
    showDialog(dialog);
    check();
  }
}
