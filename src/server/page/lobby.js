// The lobby: a game in two clicks, a form for all other games behind a fold, and lists of games and tournaments.

import { get, keepName, makeGame, myAccount, myName, post } from "./api.js";
import { DAY, announce, clear, closing, h, labelled, showDialog, standing, table, withAll } from "./dom.js";
import { Form } from "./form.js";
import { POPULAR, gameField, spokenBy, titleOf } from "./games.js";
import { tournaments } from "./tournament.js";

/** How many games are listed at a time. */
const LISTED = 30;
/** Time controls: minutes a side and seconds added a turn, or days for every turn. */
const live = (minutes, seconds) => ({ initial: minutes * 60000, increment: seconds * 1000, delay: 0 });
const daily = (days) => ({ initial: 0, increment: 0, delay: days * DAY });
const TIMES = [["no clock", null], ["3 minutes + 2 seconds", live(3, 2)], ["10 minutes + 5 seconds", live(10, 5)], ["30 minutes + 20 seconds", live(30, 20)],
  ["1 day a turn", daily(1)], ["3 days a turn", daily(3)], ["7 days a turn", daily(7)]];
/** The names of the computer's levels. */
const LEVELS = ["1, a beginner", "2", "3", "4, a fair player", "5", "6", "7", "8, as strong as it gets"];

/** The list of games; the list of tournaments is elsewhere. */
const GAMES = "main > .games";

/** @param {URLSearchParams} asked `rules`: the id of uploaded rules; a setup to begin with, see `Form.take` */
export async function showLobby(main, asked) {
  const rules = asked.get("rules");
  const [catalogue, games] = await Promise.all([get(rules ? `/catalogue?rules=${rules}` : "/catalogue"), get(`/games?limit=${LISTED}`)]);
  const form = new Form(catalogue, rules);
  const isAsked = form.take(asked);
  const fold = h("details", { class: "fold", open: Boolean(rules) || isAsked || localStorage.getItem("fold") === "open" },
    h("summary", {}, "Set up a game of your own: any game, any presets, any position"),
    h("div", { class: "table" }, form.root, form.editor.root));
  fold.addEventListener("toggle", () => localStorage.setItem("fold", fold.open ? "open" : ""));
  const events = await tournaments(catalogue);
  clear(main, h("h1", {}, "Play by your rules"), quick(catalogue), fold, events.root, list(games, catalogue));
  // Others make games: the newest page is read again now and then, unless it is in use.
  setInterval(async () => {
    const old = document.querySelector(GAMES);
    if (document.hidden || !old || old.dataset.older || old.contains(document.activeElement)) return;
    try {
      old.replaceWith(list(await get(`/games?limit=${LISTED}`), catalogue));
      await events.refresh();
    } catch {
      // The server is away for a moment: the list stays as it was.
    }
  }, 5000);
  await form.check();
}

/** The ways to a game: what leads to each, and the button that ends its questions. */
const WAYS = {
  computer: ["Play the computer", "Any game, eight levels", "Play"],
  friend: ["Play a friend", "Any game, by a link", "Make the link"],
  opponent: ["Find an opponent", "A rated game with a player of your strength", "Look for an opponent"],
};

/** Buttons that lead to a game at once. */
function quick(catalogue) {
  const popular = POPULAR.map((name) => catalogue.games.find((it) => it.game === name)).filter(Boolean);
  const shown = [...popular, ...catalogue.games.filter((it) => !popular.includes(it))].slice(0, POPULAR.length - (myAccount() ? 1 : 0));
  const about = (it) => {
    const first = (it.about[0] ?? it.description ?? "").split(/[.;:,]/)[0];
    return first.length < 40 ? first : "";
  };
  return h("section", { class: "quick", "aria-label": "Play now" },
    Object.entries(WAYS).filter(([way]) => way !== "opponent" || myAccount()).map(([way, [title, about]]) =>
      h("button", { class: "first", onclick: () => ask(catalogue, way) }, h("b", {}, title), h("span", {}, about))),
    shown.map((it) => h("button", { "data-game": it.game, onclick: () => start({ game: it.game, seat: "random" }) }, h("b", {}, it.title), h("span", {}, about(it)))));
}

/** Asks what to play on one of the `WAYS`. */
function ask(catalogue, way) {
  const [title, , answer] = WAYS[way];
  const [isComputer, isFriend] = [way === "computer", way === "friend"];
  const game = gameField("quick-game", catalogue, POPULAR[0]);
  const level = h("select", { id: "quick-level" }, LEVELS.map((text, at) => h("option", { value: at + 1, selected: at === 2 }, text)));
  const time = h("select", { id: "quick-time" }, TIMES.map(([text], at) => h("option", { value: at }, text)));
  const name = h("input", { id: "quick-name", value: myName(), maxlength: "40", placeholder: "Anonymous" });
  const rated = h("input", { id: "quick-rated", type: "checkbox" });
  const go = () => {
    const [, clock] = TIMES[time.value];
    if (name.value.trim()) keepName(name.value.trim());
    dialog.close();
    const wish = { game: game.value, ...(clock ? { clock } : {}) };
    if (way === "opponent") return look(wish);
    start({ ...wish, seat: "random", listed: false, ...(isComputer ? { computer: Number(level.value) } : { chat: true, rated: rated.checked }) });
  };
  const dialog = h("dialog", { class: "pick make", "aria-label": title }, h("h2", {}, title),
    labelled("Game", game), isComputer ? labelled("Level", level) : null, labelled("Time for each", time), myAccount() ? null : labelled("My name", name),
    myAccount() && isFriend ? h("label", { class: "tick" }, rated, h("span", {}, "Rated: its end changes the ratings of both")) : null,
    h("button", { onclick: go }, answer), closing());
  showDialog(dialog);
}

/** Aborts a game that still waits for a player; one that has begun in another tab goes on. */
async function leave(game, token) {
  const { seats } = await get(`/games/${game}`, token);
  if (seats.includes(null)) await post(`/games/${game}/abort`, {}, token);
}

/** Waits for an opponent: asks again, each time further, until one is there or the player has waited enough. */
function look(terms) {
  const { token } = myAccount();
  const said = h("p", { role: "status" }, "Looking for an opponent…");
  const dialog = h("dialog", { class: "pick", "aria-label": "Looking for an opponent" }, said,
    h("p", { class: "hint" }, "First one of about your strength; after a minute, anybody. Others see the game in the list, too."),
    closing("Stop looking"));
  let waits = null;
  const again = async () => {
    if (!dialog.open) return void (waits && leave(waits, token).catch(() => {}));
    try {
      const { id, url, paired } = await post("/pairings", terms, token);
      if (paired) return void (location.href = url);
      waits = id;
    } catch (error) {
      said.textContent = error.message;
    }
    setTimeout(again, dialog.open ? 3000 : 0);
  };
  showDialog(dialog);
  again();
}

async function start(wish) {
  try {
    const made = await makeGame({ listed: true, ...wish, ...(myName() ? { name: myName() } : {}) });
    location.href = made.url;
  } catch (error) {
    announce(error.message);
    document.querySelector("main h1").after(h("p", { class: "error" }, error.message));
  }
}

/** The players of a game, accounts with links to their pages. */
const players = ({ players: all, accounts }) => all.flatMap((who, at) => [at ? " – " : "", accounts?.[at] ? h("a", { href: `/user/${who}` }, who) : who ?? "free seat"]);

/** A page of games: the newest ones, or `older` ones. */
function list(games, catalogue, older = false) {
  const turn = async (query) => {
    const old = document.querySelector(GAMES);
    try {
      old.replaceWith(list(await get(`/games?limit=${LISTED}${query}`), catalogue, query !== ""));
    } catch (error) {
      announce(error.message);
    }
  };
  const button = (text, query) => h("button", { class: "quiet", onclick: () => turn(query) }, text);
  const row = (it) => h("tr", {},
    h("td", {}, h("a", { href: `/game/${it.id}` }, titleOf(catalogue, it.game)), withAll(it.presets.map((one) => spokenBy(catalogue, one)))),
    h("td", {}, players(it), it.rated ? " · rated" : ""),
    h("td", {}, standing(it)));
  return h("section", { class: "panel games", "aria-label": "Games", "data-older": older ? "yes" : null }, h("h2", {}, "Games"),
    games.length
      ? table(["Game", "Players", "State"], games.map(row))
      : h("p", {}, older ? "No older games." : "None yet. Make one, and send its link to a friend."),
    older ? button("Newest games", "") : null,
    games.length === LISTED ? button("Older games", `&before=${games.at(-1).updated}.${games.at(-1).id}`) : null);
}
