// A study: a game with variations and comments. Its owner adds to it by playing on the board; all others only read it.

import { get, myAccount, post, remove } from "./api.js";
import { Board } from "./board.js";
import { actionName, actionsOf, actionsOn, isWhole, pick, sourceOf } from "./choose.js";
import { announce, begin, clear, confirmed, grouped, h, linkField, spoken, withAll, words } from "./dom.js";
import { squaresOf } from "./moves.js";
import { notice } from "./notice.js";

export async function showStudy(main, id) {
  const study = await get(`/studies/${id}`);
  const view = new StudyView(main, id, study, await namesOf(study));
  await view.show(Number(location.hash.slice(1)) || 0).catch(() => view.show(0));
}

/** The names of presets in the rules of a study. */
async function namesOf({ presets, rules }) {
  const catalogue = presets.length ? await get(`/catalogue?rules=${rules}`).catch(() => null) : null;
  return new Map((catalogue?.presets ?? []).map((it) => [it.preset, it.name]));
}

/** Makes a study of a game that is over, or of a game that has not begun, and goes there. */
export async function makeStudy(wish) {
  const study = await post("/studies", wish, myAccount()?.token);
  location.href = `/study/${study.id}`;
}

/** Glyphs of PGN that people know by sight. */
const GLYPHS = { 1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!", 10: " =", 13: " ∞", 14: " ⩲", 15: " ⩱", 16: " ±", 17: " ∓", 18: " +−", 19: " −+" };

class StudyView {
  constructor(main, id, study, names) {
    this.id = id;
    this.names = names;
    this.take(study);
    this.account = myAccount();
    this.isMine = this.account?.name.toLowerCase() === study.owner;
    this.positions = new Map();
    this.at = 0;
    this.flipped = false;
    this.selected = null;
    this.board = new Board({
      onSquare: (square) => this.choose(square),
      canDrag: (square, piece) => this.isMine && actionsOf({ square, piece }, this.position).length > 0,
      onTake: (square, piece) => this.select({ square, piece }),
      onDrag: (square, to) => { if (to === null || to === square || !this.goTo(to)) this.select(null); },
      hasSteps: true,
    });
    this.title = h("div", { class: "title" });
    this.status = h("div", { class: "state", "aria-live": "polite" });
    this.others = h("div", { class: "acts" });
    this.tree = h("div", { class: "tree", tabindex: "0", role: "group", "aria-label": "Moves" });
    this.said = h("div", { class: "comment" });
    this.error = h("p", { class: "error", role: "alert" });
    document.body.classList.add("playing");
    const go = (text, label, to) => h("button", { class: "quiet", "aria-label": label, onclick: () => this.step(to()) }, text);
    const steps = h("div", { class: "steps" },
      go("|◀", "First position", () => 0), go("◀", "One back", () => this.node(this.at)?.after),
      go("▶", "One on", () => this.next(this.at)), go("▶|", "End of the line", () => this.end(this.at)),
      h("button", { class: "quiet", "aria-label": "Turn board", onclick: () => { this.flipped = !this.flipped; this.draw(); } }, "⇅"));
    clear(main, h("div", { class: "table game study" },
      h("section", { class: "side", "aria-label": "Board" }, h("div", { class: "board" }, this.board.root)),
      h("section", { class: "panel play", "aria-label": "Study" }, this.title, steps, this.status, this.others, this.tree, this.said, this.error)));
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("textarea, input, dialog")) return;
      const to = { ArrowLeft: () => this.node(this.at)?.after, ArrowRight: () => this.next(this.at), Home: () => 0, End: () => this.end(this.at) }[event.key];
      if (!to) return;
      event.preventDefault();
      this.step(to());
    });
  }

  take(study) {
    this.study = study;
    this.children = grouped(study.nodes, (it) => it.after);
  }

  node(id) {
    return this.study.nodes.find((it) => it.id === id);
  }

  next(id) {
    return this.children.get(id)?.[0]?.id;
  }

  end(id) {
    let at = id;
    while (this.next(at) !== undefined) at = this.next(at);
    return at;
  }

  async step(to) {
    if (to !== undefined && to !== this.at) await this.show(to).catch((error) => this.tell(error));
  }

  tell(error) {
    this.error.textContent = error.message;
    announce(error.message);
  }

  async show(id) {
    this.wanted = id;
    if (!this.positions.has(id)) this.positions.set(id, await get(`/studies/${this.id}/nodes/${id}`));
    // Another action may have been chosen meanwhile.
    if (this.wanted !== id) return;
    this.at = id;
    this.selected = null;
    this.error.textContent = "";
    history.replaceState(null, "", id ? `#${id}` : location.pathname);
    this.draw();
  }

  get position() {
    return this.positions.get(this.at).position;
  }

  // --- what the owner does -----------------------------------------------------------------------

  select(selected) {
    this.selected = selected;
    this.drawBoard();
  }

  choose(square) {
    if (!this.isMine || square === null) return this.select(null);
    if (this.selected && this.selected.square !== square && this.goTo(square)) return;
    if (!actionsOf({ square, piece: null }, this.position).length) {
      const options = actionsOn(square, this.position);
      if (options.length) return this.decide(options);
    }
    this.select(this.selected?.square === square ? null : { square, piece: null });
  }

  goTo(square) {
    const options = actionsOf(this.selected, this.position).filter((it) => it.to === square);
    if (options.length) this.decide(options);
    return options.length > 0;
  }

  decide(options) {
    if (options.length === 1) this.play(options[0]);
    else pick(options, this.position, this.study.sides, (it) => this.play(it), this.flipped);
  }

  async play(action) {
    this.selected = null;
    this.board.glide(action, isWhole(action, this.position));
    await this.change(async () => {
      const { study, node } = await post(`/studies/${this.id}/moves`, { after: this.at, uci: action.uci }, this.account.token);
      this.take(study);
      await this.show(node);
    });
  }

  async change(what) {
    try {
      await what();
    } catch (error) {
      this.draw();
      this.tell(error);
    }
  }

  async cut() {
    const node = this.node(this.at);
    if (!(await confirmed(`${node.san} and all that follows it goes.`, "Remove it"))) return;
    await this.change(async () => {
      this.take(await remove(`/studies/${this.id}/nodes/${node.id}`, this.account.token));
      await this.show(node.after);
    });
  }

  async drop() {
    if (!(await confirmed("The study goes, with all of its variations and comments.", "Remove the study"))) return;
    await this.change(async () => {
      await remove(`/studies/${this.id}`, this.account.token);
      location.href = `/user/${this.account.name}`;
    });
  }

  // --- what is drawn -----------------------------------------------------------------------------

  draw() {
    const { study } = this;
    notice(`${study.title} – Rulemate`, false);
    const presets = study.presets.map((it) => spoken(it, (preset) => this.names.get(preset)));
    clear(this.title, h("h1", {}, study.title), h("p", { class: "hint" }, `${this.positions.get(this.at).title}${withAll(presets)}, by `,
      h("a", { href: `/user/${study.owner}` }, this.isMine ? this.account.name : study.owner),
      study.sides.length === 2 ? [" ", h("a", { href: `/api/v1/studies/${this.id}/pgn` }, "PGN")] : null));
    this.drawBoard();
    this.drawStatus();
    clear(this.tree, this.line(0, 1, true));
    this.drawComment();
    this.tree.querySelector(".current")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  drawBoard() {
    const { position } = this;
    const targets = new Map(actionsOf(this.selected, position).map((it) => [it.to, it]));
    const node = this.node(this.at);
    this.board.draw(position, { flipped: this.flipped, selected: this.selected?.square ?? null, targets, last: node ? squaresOf(node.uci, position) : [], sides: this.study.sides });
  }

  drawStatus() {
    const { position, study } = this;
    const { result } = this.positions.get(this.at);
    clear(this.status, h("p", { class: "verdict" }, result ? begin(result) : `${begin(words(study.sides[position.turn]))} to move`));
    const hands = new Map();
    for (const it of position.legal) {
      const { hand } = sourceOf(it, position);
      if (hand) hands.set(hand, it);
    }
    const kind = (letter) => words(position.kinds.find((it) => it.letter === letter)?.name ?? letter);
    const plain = position.legal.filter((it) => !it.from && !it.to);
    clear(this.others, this.isMine && !result ? [
      [...hands.keys()].map((letter) => h("button", { class: "quiet", onclick: () => this.select({ hand: letter }) }, `Put down ${kind(letter)}`)),
      plain.map((it) => h("button", { onclick: () => this.play(it) }, actionName(it)))] : []);
  }

  /** The main line after an action, with other lines as variations behind the actions that they replace. */
  line(from, number, isMain, startsAnew = true) {
    const root = h(isMain ? "div" : "span", { class: isMain ? "line-main" : "line-side" });
    let [at, count, starts] = [from, number, startsAnew];
    for (let all = this.children.get(at); all?.length; all = this.children.get(at)) {
      const [first, ...others] = all;
      root.append(...this.word(first, count, starts));
      const next = first.turn_goes_on ? count : count + 1;
      for (const it of others) root.append(h("div", { class: "variation" }, ...this.word(it, count, true), this.line(it.id, it.turn_goes_on ? count : count + 1, false, Boolean(it.comment))));
      starts = others.length > 0 || Boolean(first.comment);
      [at, count] = [first.id, next];
    }
    return root;
  }

  /** An action with its number, glyphs and comment. `count` is the number of its turn, from 1. */
  word(node, count, starts) {
    const round = Math.ceil(count / this.study.sides.length);
    const isFirst = (count - 1) % this.study.sides.length === 0;
    const number = isFirst ? `${round}. ` : starts ? `${round}… ` : "";
    const isShown = node.id === this.at;
    const glyphs = (node.nags || []).map((it) => GLYPHS[it] ?? ` $${it}`);
    const button = h("button", { class: isShown ? "move current" : "move", "aria-current": isShown ? "step" : null, onclick: () => this.step(node.id) }, node.san, glyphs);
    // A number stays on the line of its action.
    return [number ? h("span", { class: "numbered" }, h("span", { class: "number" }, number), button) : button, node.comment ? h("span", { class: "remark" }, ` ${node.comment} `) : ""];
  }

  drawComment() {
    const node = this.node(this.at);
    const text = node ? node.comment : this.study.comment;
    if (!this.isMine) return clear(this.said, text ? h("p", { class: "remark" }, text) : null);
    const field = h("textarea", { id: "comment", rows: "3", maxlength: "1000", "aria-label": "Comment" });
    field.value = text;
    const say = () => this.change(async () => {
      this.take(await post(`/studies/${this.id}/comments`, { node: this.at, text: field.value }, this.account.token));
      this.draw();
      announce("The comment is kept.");
    });
    clear(this.said, h("label", {}, node ? `What is to be said after ${node.san}` : "What is to be said at the start", field),
      h("button", { onclick: say }, "Keep the comment"), node ? h("button", { class: "quiet", onclick: () => this.cut() }, "Remove from here") : null,
      h("p", { class: "hint" }, "All who have this link see the study: ", linkField("Link to this study")), h("button", { class: "quiet", onclick: () => this.drop() }, "Remove the study"));
  }
}
