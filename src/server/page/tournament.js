// Tournaments: the list of them, the page of one with its standings and games, and the form that makes one. Players are
// taken to their games as these begin.

import { logIn } from "./account.js";
import { get, myAccount, post, remove, sleep } from "./api.js";
import { Board } from "./board.js";
import { announce, begin, clear, closing, confirmed, h, labelled, linkField, plural, showDialog, table, timeLeft, withAll, words } from "./dom.js";
import { gameField, spokenBy, titleOf } from "./games.js";
import { squaresOf } from "./moves.js";
import { notice } from "./notice.js";
import { Picker } from "./presets.js";

/** Milliseconds between two requests for what is new. */
const LOOK = 3000;
/** How many games that are over are shown, and how many results of each player. */
const SHOWN = 200;
const SHEET = 20;
/** Minutes a side, and seconds added a turn. */
const TIMES = [[1, 0], [3, 2], [5, 3], [10, 5], [30, 20]];
/** The minutes after which a tournament begins; 0 if its maker starts it. */
const STARTS = [["when I start it", 0], ["in 5 minutes", 5], ["in 15 minutes", 15], ["in an hour", 60], ["in a day", 1440]];

const timed = ({ initial, increment }) => `${plural(initial / 60000, "minute")}${increment ? ` + ${plural(increment / 1000, "second")}` : ""}`;
const lengthOf = (it) => (it.minutes ? `arena of ${plural(it.minutes, "minute")}` : `Swiss of ${plural(it.rounds, "round")}`);
const mine = () => myAccount()?.name.toLowerCase();
/** Points, with a half as a fraction. */
const points = (value) => (value % 1 ? `${Math.floor(value) || ""}½` : `${value}`);

/** Whether no more players are paired: an arena's time is over, or a tournament was ended early. */
const isEnding = (it, now) => it.state === "running" && it.ends !== null && it.ends <= now;

/** The game that an account plays in a tournament. */
const gameOf = (tournament, id) => tournament.playing.find((it) => id && it.players.includes(id))?.game;

/** Takes a player to a game, but only once: a player who comes back is not taken there again. */
function take(game) {
  if (!game || sessionStorage.getItem("taken") === game) return;
  sessionStorage.setItem("taken", game);
  location.href = `/game/${game}`;
}

/** Waits for the next game of a player whose game in a tournament is over, and goes there. */
export function awaitNext(id, over) {
  const look = async () => {
    const found = await get(`/tournaments/${id}`).catch(() => null);
    const game = found && gameOf(found, mine());
    if (game && game !== over) return take(game);
    if (found?.state !== "over") setTimeout(look, LOOK);
  };
  sessionStorage.setItem("taken", over);
  setTimeout(look, LOOK);
}

export async function showTournament(main, id) {
  const [found, catalogue] = await Promise.all([get(`/tournaments/${id}`), get("/catalogue")]);
  new TournamentView(main, id, catalogue).start(found);
}

class TournamentView {
  constructor(main, id, catalogue) {
    this.id = id;
    this.catalogue = catalogue;
    this.title = h("div", {});
    this.state = h("p", { class: "verdict", id: "tournament-state" });
    this.acts = h("div", { class: "acts" });
    this.error = h("p", { class: "error", role: "alert" });
    this.players = h("section", { class: "panel games standings", "aria-label": "Standings" });
    this.games = h("section", { class: "panel games", "aria-label": "Games" });
    this.board = new Board({ onSquare: () => {} });
    this.stage = h("section", { class: "panel stage", "aria-label": "A game under way", hidden: true });
    clear(main, this.title, this.state, this.acts, this.error, h("div", { class: "table" }, this.players, h("div", {}, this.stage, this.games)));
  }

  async start(found) {
    this.heading(found);
    await this.show(found);
    setInterval(() => this.tick(), 1000);
    for (;;) {
      await sleep(LOOK);
      if (this.found.state === "over") return;
      // A player is taken to a game even while another tab is looked at.
      if (document.hidden && !this.entrant()) continue;
      const next = await get(`/tournaments/${this.id}`).catch((error) => (error.status === 404 ? null : this.found));
      if (!next) return void (location.href = "/");
      await this.show(next);
    }
  }

  /** The name of the maker with its capitals if the page knows it, else the id. */
  maker({ by, standings }) {
    return standings.find((it) => it.id === by)?.name ?? (mine() === by ? myAccount().name : by);
  }

  entrant() {
    return this.found.standings.find((it) => it.id === mine());
  }

  heading(found) {
    const title = titleOf(this.catalogue, found.game);
    const presets = withAll(found.presets.map((it) => spokenBy(this.catalogue, it)));
    const about = found.presets.length ? `?${new URLSearchParams({ presets: found.presets.join(" ") })}` : "";
    notice(`${found.title} – Rulemate`, false);
    clear(this.title, h("h1", {}, found.title), h("p", { class: "hint" }, h("a", { href: `/about/${found.game}${about}` }, title),
      presets, `, ${lengthOf(found)}, ${timed(found.clock)}${found.rated ? ", rated" : ""}, made by `, h("a", { href: `/user/${found.by}` }, this.maker(found))));
  }

  /** Draws the parts that have changed. The rest stays, and keeps the focus. */
  async show(found) {
    const before = this.found;
    const same = (part) => before && JSON.stringify(part(before)) === JSON.stringify(part(found));
    [this.found, this.fetched] = [found, performance.now()];
    this.tick();
    if (!same((it) => [it.state, it.ends, it.standings, it.playing])) {
      this.drawActs();
      await this.drawGames();
      this.drawPlayers();
    }
    await this.drawStage();
    if (before && before.state !== found.state) announce(this.state.textContent);
    take(gameOf(found, mine()));
  }

  /** Writes the state and the time that is left. */
  tick() {
    const { found } = this;
    const now = found.now + performance.now() - this.fetched;
    const running = () => (isEnding(found, now) ? "The last games are played to their end" : found.rounds ? `Round ${found.round} of ${found.rounds}` : `${timeLeft(found.ends - now)} left`);
    const over = found.winner ? `${found.winner} has won` : "It is over: nobody played";
    const open = found.starts ? `It begins in ${timeLeft(found.starts - now)}` : `It begins when ${this.maker(found)} starts it`;
    const text = { open, running: running(), over }[found.state];
    if (this.state.textContent !== text) this.state.textContent = text;
  }

  drawActs() {
    const { found } = this;
    const account = myAccount();
    const entrant = this.entrant();
    const act = (name) => () => this.change(() => post(`/tournaments/${this.id}/${name}`, {}, account.token));
    const drop = async () => {
      if (!(await confirmed("The tournament goes, with the list of those who have joined.", "Remove it"))) return;
      await this.change(() => remove(`/tournaments/${this.id}`, account.token).then(() => { location.href = "/"; }));
    };
    const end = async () => {
      if (!(await confirmed("Nobody is paired any more. Games under way are played to their end, and count.", "End it"))) return;
      await act("end")();
    };
    const button = (text, onclick, quiet) => h("button", { class: quiet ? "quiet" : null, onclick }, text);
    const game = gameOf(found, mine());
    const isOpen = found.state === "open";
    const isMine = account && mine() === found.by;
    const ending = isEnding(found, found.now);
    clear(this.acts, found.state === "over" ? null : [
      game ? h("a", { class: "button", href: `/game/${game}` }, "To my game") : null,
      ending ? null : !account ? button("Log in to join", logIn) : !entrant ? button("Join", act("join")) : entrant.away ? button("Come back", act("join")) : button("Withdraw", act("withdraw"), true),
      isOpen && isMine ? [button("Start now", act("start")), button("Remove", drop, true)] : null,
      isMine && !isOpen && !ending ? button("End it early", end, true) : null,
      h("p", { class: "hint" }, isOpen ? "Keep this page open: you are taken to your games as they begin. A player who has not ended the first turn within a minute loses the game, and is not paired before coming back."
        : ending || !entrant || game ? null : entrant.away ? "You are not paired until you come back." : "Your next game comes soon.")]);
  }

  async change(what) {
    try {
      this.error.textContent = "";
      const next = await what();
      if (next) await this.show(next);
    } catch (error) {
      this.error.textContent = error.message;
    }
  }

  drawPlayers() {
    const { found } = this;
    // The results of a player's games and rounds without an opponent, as far as they are listed.
    const sheet = (id) => this.over.filter((it) => it.players.includes(id)).sort((one, other) => one.number - other.number)
      .map((it) => (it.winner === null ? (it.game ? "½" : "0") : it.players[it.winner] === id ? "1" : "0")).slice(-SHEET).join(" ");
    const row = (it, at) => h("tr", { class: it.id === mine() ? "me" : null }, h("td", {}, at + 1),
      h("td", {}, h("a", { href: `/user/${it.name}` }, it.name), found.rated ? h("small", {}, ` ${it.rating}`) : null, it.away ? h("small", {}, " away") : null),
      h("td", {}, h("b", {}, points(it.points))), h("td", {}, points(it.tie_break)), h("td", {}, it.games), h("td", { class: "sheet" }, sheet(it.id)));
    const why = found.rounds ? "With equal points, the points of one's opponents count." : "A win is 2 points, a draw 1. With equal points, wins count.";
    clear(this.players, h("h2", {}, plural(found.standings.length, "player")), found.standings.length
      ? [table(["No.", "Player", "Points", found.rounds ? "Opponents" : "Wins", "Games", "Results"], found.standings.map(row)), h("p", { class: "hint" }, why)]
      : h("p", {}, "Nobody has joined yet."));
  }

  /** The game of the players who lead, until it is over; then another one. */
  async drawStage() {
    const { standings, playing } = this.found;
    const place = (it) => Math.min(...it.players.map((id) => standings.findIndex((one) => one.id === id)));
    const [first] = [...playing].sort((one, other) => place(one) - place(other));
    const shown = playing.find((it) => it.game === this.staged) ?? first;
    const state = shown && (await get(`/games/${shown.game}?lines=1`).catch(() => null));
    this.stage.hidden = !state;
    if (!state || (this.staged === shown.game && this.seen === state.v)) return;
    const { position, sides, seats, history } = state;
    if (this.staged !== shown.game) {
      const seat = (side) => h("p", { class: "seat" }, `${begin(words(sides[side]))}: `, h("b", {}, seats[side] ?? ""));
      // The board here is only for watching.
      clear(this.stage, seat(1), h("div", { inert: true }, this.board.root), seat(0), h("a", { href: `/game/${shown.game}` }, "Watch this game"));
    }
    [this.staged, this.seen] = [shown.game, state.v];
    this.board.draw(position, { last: history.length ? squaresOf(history.at(-1).uci, position) : [], sides });
  }

  async drawGames() {
    const { found } = this;
    this.over = [];
    if (found.state === "open") {
      return clear(this.games, h("h2", {}, "Bring others"), h("p", {}, "All who have this link can join: "), h("div", { class: "offer" }, linkField("Link to this tournament")));
    }
    const name = (id) => found.standings.find((it) => it.id === id)?.name ?? id;
    const played = found.standings.reduce((sum, it) => sum + it.games, 0);
    const from = Math.max(0, Math.floor(played / 2) + found.playing.length - SHOWN);
    const over = await get(`/tournaments/${this.id}/games?from=${from}&limit=${2 * SHOWN}`).catch(() => []);
    this.over = over;
    const result = (it) => (it.winner === null ? "½ – ½" : it.winner === 0 ? "1 – 0" : "0 – 1") + (it.forfeit ? ", did not come" : it.unreadable ? ", the game is damaged" : "");
    const cells = (it, said) => h("tr", {}, h("td", {}, it.game ? h("a", { href: `/game/${it.game}` }, it.players.map(name).join(" – ")) : name(it.players[0])), h("td", {}, said));
    const now = found.playing.map((it) => cells(it, "under way"));
    const then = (all) => [...all].sort((one, other) => other.number - one.number).map((it) => cells(it, it.game ? result(it) : it.winner === null ? "no opponent, no point" : "no opponent: a point"));
    const rounds = [...new Set([...over, ...found.playing].map((it) => it.round))].sort((one, other) => other - one);
    const part = (title, rows) => [h("h2", {}, title), table(["Players", "Result"], rows)];
    const none = h("p", {}, "No games yet.");
    clear(this.games, found.rounds
      ? rounds.map((round) => part(`Round ${round}`, [...(round === found.round ? now : []), ...then(over.filter((it) => it.round === round))]))
      : part("Games", [...now, ...then(over)]), rounds.length ? null : none);
  }
}

/** The state of a tournament, in a list. */
function stateOf({ state, winner, rounds, round, starts }) {
  if (state === "over") return winner ? `won by ${winner}` : "over";
  if (state === "running") return rounds ? `round ${round} of ${rounds}` : "goes on";
  return starts ? `begins ${new Date(starts).toLocaleString([], { dateStyle: "short", timeStyle: "short" })}` : "can be joined";
}

/** The list of tournaments in the lobby: open if one of them is not over. */
export async function tournaments(catalogue) {
  const list = h("div", { class: "games" });
  const draw = (all) => {
    const what = (it) => `${titleOf(catalogue, it.game)}, ${lengthOf(it)}, ${timed(it.clock)}${it.rated ? ", rated" : ""}`;
    const row = (it) => h("tr", {}, h("td", {}, h("a", { href: `/tournament/${it.id}` }, it.title), h("small", { class: "what" }, what(it))), h("td", {}, it.entrants), h("td", {}, stateOf(it)));
    clear(list, all.length ? table(["Tournament", "Players", "State"], all.map(row)) : h("p", {}, "There are none at the moment."));
  };
  const all = await get("/tournaments").catch(() => []);
  draw(all);
  const root = h("details", { class: "fold tournaments", open: all.some((it) => it.state !== "over") }, h("summary", {}, "Tournaments: an arena or a Swiss of any game"),
    h("div", { class: "panel" }, list, myAccount() ? h("button", { onclick: () => make(catalogue) }, "Make a tournament") : h("p", { class: "hint" }, "Log in to make one, or to join.")));
  return { root, refresh: async () => { if (root.open && !root.contains(document.activeElement)) draw(await get("/tournaments")); } };
}

/** The form that makes a tournament. */
function make(catalogue) {
  const title = h("input", { id: "tournament-title", maxlength: "60", placeholder: "as you like" });
  const game = gameField("tournament-game", catalogue, "chess");
  const picker = new Picker(catalogue.presets, ["white", "black"]);
  const kind = h("select", { id: "tournament-kind" }, [["rounds", "Swiss: so many rounds"], ["minutes", "Arena: for so many minutes"]].map(([value, text]) => h("option", { value }, text)));
  const length = h("input", { id: "tournament-length", type: "number", min: "1", max: "20", value: "5", required: true });
  const time = h("select", { id: "tournament-time" }, TIMES.map(([minutes, seconds], at) => h("option", { value: at, selected: at === 1 }, timed({ initial: minutes * 60000, increment: seconds * 1000 }))));
  const starts = h("select", { id: "tournament-starts" }, STARTS.map(([text, minutes]) => h("option", { value: minutes }, text)));
  const rated = h("input", { id: "tournament-rated", type: "checkbox" });
  const error = h("p", { class: "error", role: "alert" });
  const measure = h("span", {}, "Rounds");
  kind.addEventListener("change", () => {
    const isArena = kind.value === "minutes";
    [length.max, length.value, measure.textContent] = isArena ? ["360", "30", "Minutes"] : ["20", "5", "Rounds"];
  });
  const go = async (event) => {
    event.preventDefault();
    const [minutes, seconds] = TIMES[time.value];
    const wish = { title: title.value.trim(), game: game.value, presets: picker.chosen(), clock: { initial: minutes * 60000, increment: seconds * 1000 }, rated: rated.checked, [kind.value]: Number(length.value) };
    try {
      const made = await post("/tournaments", { ...wish, ...(Number(starts.value) ? { starts: Date.now() + starts.value * 60000 } : {}) }, myAccount().token);
      location.href = `/tournament/${made.id}`;
    } catch (refused) {
      error.textContent = begin(refused.message);
    }
  };
  const dialog = h("dialog", { class: "pick make", "aria-label": "Make a tournament" }, h("form", { onsubmit: go, onchange: () => picker.refresh() },
    h("h2", {}, "Make a tournament"), labelled("Title", title), labelled("Game", game),
    h("details", {}, h("summary", {}, "Presets on top"), h("div", { class: "presets", tabindex: "0" }, picker.elements)),
    h("div", { class: "pair" }, labelled("Kind", kind), h("label", {}, measure, length)),
    h("div", { class: "pair" }, labelled("Time for each", time), labelled("It begins", starts)),
    h("label", { class: "tick" }, rated, h("span", {}, "Rated: its games change ratings")), error,
    h("button", {}, "Make it"), closing()));
  showDialog(dialog);
}
