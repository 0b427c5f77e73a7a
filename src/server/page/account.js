// Accounts, which are optional: logging in and out, a player's page, the name in the head of each page, and reports.

import { backoff, forgetAccount, get, keepAccount, myAccount, post, remove, sleep } from "./api.js";
import { announce, begin, clear, closing, confirmed, h, labelled, plural, showDialog, standing, table, timeLeft, withAll, words } from "./dom.js";
import { spokenBy, titleOf } from "./games.js";
import { notice } from "./notice.js";
import { makeStudy } from "./study.js";

/** Maximum number of games under way of which one's page tells whose turn it is. */
const TURNS = 30;

/** The name of this device in the list of one's devices. */
const here = () => `${/Firefox|Edg|Chrome|Safari/.exec(navigator.userAgent)?.[0] ?? "a browser"}, ${navigator.platform || "somewhere"}`;

/** Who is logged in, in the head of every page. */
export function showWho() {
  const account = myAccount();
  clear(document.getElementById("who"), account
    ? h("a", { href: `/user/${account.name}`, id: "me" }, account.name)
    : h("button", { class: "quiet", id: "log-in", onclick: logIn }, "Log in"));
}

/** Asks for a name, and for a recovery code if the account exists already. */
export function logIn() {
  const name = h("input", { id: "account-name", maxlength: "20", autocomplete: "username", autocapitalize: "none", spellcheck: "false" });
  const code = h("input", { id: "account-code", maxlength: "24", autocomplete: "off", autocapitalize: "none", spellcheck: "false", placeholder: "only if you have an account" });
  const error = h("p", { class: "error", role: "alert" });
  const enter = async (event) => {
    event.preventDefault();
    try {
      const typed = code.value.trim();
      const body = { name: name.value.trim(), device: here() };
      const entered = typed ? await post("/login", { ...body, code: typed }) : await post("/accounts", body);
      keepAccount(entered);
      if (entered.codes) return showCodes(dialog, entered.codes, "Welcome", () => location.reload());
      location.reload();
    } catch (refused) {
      const taken = refused.code === "name_taken" ? " If it is yours, type one of its recovery codes." : "";
      error.textContent = `${refused.message}.${taken}`.replace(/\.\.$/, ".");
    }
  };
  const dialog = h("dialog", { class: "pick make", "aria-label": "Log in" },
    h("form", { onsubmit: enter }, h("h2", {}, "Log in, or choose a new name"),
      h("p", { class: "hint" }, "No e-mail, no password. You play as well without an account; with one, your games are on all your devices and can be rated."),
      labelled("Name", name), labelled("Recovery code", code), error,
      h("button", {}, "Go on"), closing()));
  showDialog(dialog);
}

/** Shows recovery codes, which cannot be shown again. */
function showCodes(dialog, codes, title, done) {
  const text = codes.join("\n");
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => {});
    announce("The codes are copied.");
  };
  clear(dialog, h("h2", {}, title), h("p", {}, "These codes let you in on another device, each once. They are shown only now: write them down, or keep them where you keep passwords."),
    h("pre", { class: "codes", tabindex: "0" }, text), h("button", { class: "quiet", onclick: copy }, "Copy"),
    h("button", { onclick: () => { dialog.close(); done(); } }, "I have kept them"));
  if (!dialog.isConnected) showDialog(dialog);
}

/** How a rated game changed the ratings, once the server has counted it. */
export function ratingsAfter(view) {
  const { state } = view;
  if (!state.rated || !state.result) return null;
  if (!view.counting) {
    view.counting = true;
    count(view).catch(() => {});
  }
  const told = ({ id, before, after }, side) => `${state.seats[side] ?? id} ${after} (${after < before ? "−" : "+"}${Math.abs(after - before)})`;
  return view.counted ? h("p", { class: "rated" }, `Ratings: ${view.counted.players.map(told).join(", ")}`) : null;
}

async function count(view) {
  for (let attempt = 0; attempt < 8 && !view.counted; attempt += 1) {
    if (attempt) await sleep(backoff(attempt));
    view.counted = await get(`/games/${view.id}/rating`).catch(() => null);
  }
  if (view.counted) view.drawState();
}

/** Tells those who run the server what is wrong with a game. */
export function report(id) {
  const text = h("textarea", { id: "report", rows: "4", maxlength: "500" });
  const error = h("p", { class: "error", role: "alert" });
  const send = async (event) => {
    event.preventDefault();
    try {
      await post(`/games/${id}/report`, { text: text.value }, myAccount()?.token);
      clear(dialog, h("p", {}, "Thank you: a person will read it."), h("button", { onclick: () => dialog.close() }, "Done"));
    } catch (refused) {
      error.textContent = refused.message;
    }
  };
  const dialog = h("dialog", { class: "pick make", "aria-label": "Report" },
    h("form", { onsubmit: send }, labelled("What is wrong with this game, or with what was said in it?", text), error,
      h("button", {}, "Send to those who run this server"), closing()));
  showDialog(dialog);
}

/** A button that blocks or unblocks a player. */
function blocking(account, id, blocks) {
  const isOn = blocks.includes(id);
  const turn = () => (isOn ? remove(`/account/blocks/${id}`, account.token) : post("/account/blocks", { name: id }, account.token)).then(() => location.reload(), (refused) => announce(refused.message));
  return h("p", {}, h("button", { class: "quiet", onclick: turn }, isOn ? "Play with this player again" : "Block this player"), isOn ? " You do not play with this player." : null);
}

/** One's last games, and those under way that are older. */
async function ownGames({ token }) {
  const [last, playing] = await Promise.all(["", "?state=playing"].map((which) => get(`/account/games${which}`, token)));
  const known = new Set(last.map((it) => it.id));
  return [...last, ...playing.filter((it) => !known.has(it.id))];
}

/** A player's page; one's own has devices, codes and games, too. */
export async function showUser(main, name) {
  const account = myAccount();
  const isMine = account?.name.toLowerCase() === name.toLowerCase();
  const [player, catalogue, own, games, studies, blocks] = await Promise.all([
    get(`/users/${encodeURIComponent(name)}`), get("/catalogue"),
    ...(isMine ? [get("/account", account.token), ownGames(account), get("/studies", account.token)] : [null, [], []]),
    account && !isMine ? get("/account/blocks", account.token) : null]);
  const titled = (game, ...presets) => titleOf(catalogue, game) + withAll(presets.map((it) => spokenBy(catalogue, it)));
  notice(`${player.name} – Rulemate`, false);
  clear(main, h("h1", {}, player.name, player.title ? h("small", {}, ` ${player.title}`) : null),
    h("div", { class: "table" },
      h("div", {}, isMine ? [gamesOf(games, titled), studiesOf(studies)] : null, ratingsOf(player, titled), blocks ? blocking(account, player.id, blocks) : null),
      own ? devicesOf(own, account) : null));
  // If this fails, the games themselves show it.
  if (isMine) tellTurns(main, account).catch(() => {});
}

function ratingsOf({ ratings, name }, titled) {
  const ruled = (rules) => titled(...rules.split(" "));
  const row = (it) => h("tr", {}, h("td", {}, ruled(it.rules)), h("td", {}, `${it.rating}${it.provisional ? "?" : ""}`), h("td", {}, `± ${2 * it.deviation}`), h("td", {}, it.games));
  return h("section", { class: "panel games", "aria-label": "Ratings" }, h("h2", {}, "Ratings"), ratings.length
    ? table(["Rules", "Rating", "Give or take", "Games"], ratings.map(row))
    : h("p", {}, `${name} has not played a rated game yet.`));
}

function gamesOf(games, titled) {
  const row = (it) => h("tr", {}, h("td", {}, h("a", { href: `/game/${it.id}` }, titled(it.game, ...it.presets)), it.rated ? ", rated" : ""),
    h("td", {}, it.players.map((who) => who ?? "free seat").join(" – ")),
    h("td", { "data-under-way": it.state === "playing" ? it.id : null }, standing(it)));
  const open = games.filter((it) => it.state !== "over");
  const over = games.filter((it) => it.state === "over");
  return h("section", { class: "panel games mine", "aria-label": "My games" }, h("h2", {}, "My games"), games.length
    ? table(["Game", "Players", "State"], [...open, ...over].map(row))
    : h("p", {}, "None yet."));
}

/** Adds to the games under way whose turn it is, and the time left, which lists do not have. */
async function tellTurns(root, { token }) {
  const cells = [...root.querySelectorAll("[data-under-way]")].slice(0, TURNS);
  for (const cell of cells) {
    const { you, turn, sides, deadline, now } = await get(`/games/${cell.dataset.underWay}?lines=0`, token);
    const isMine = you.includes(turn);
    const left = deadline ? `, ${timeLeft(deadline - now)} left` : "";
    cell.append(", ", isMine ? h("strong", {}, "your move") : `${words(sides[turn])} to move`, left);
    // Games where it is one's own turn come first.
    const row = cell.parentElement;
    if (isMine) row.parentElement.prepend(row);
  }
}

function studiesOf(studies) {
  const text = h("textarea", { id: "study-pgn", rows: "8", spellcheck: "false", placeholder: "1. e4 e5 (1... c5 {It is sharper.}) 2. Nf3!" });
  const error = h("p", { class: "error", role: "alert" });
  const make = (event) => {
    event.preventDefault();
    error.textContent = "";
    makeStudy({ pgn: text.value }).catch((refused) => { error.textContent = begin(refused.message.replace(/ \[[^\]]+\.dl:\d+\]/g, "")); });
  };
  return h("section", { class: "panel", "aria-label": "My studies" }, h("h2", {}, "My studies"),
    h("ul", {}, studies.map((it) => h("li", {}, h("a", { href: `/study/${it.id}` }, it.title)))),
    h("details", {}, h("summary", {}, "Make a study of a PGN"),
      h("form", { onsubmit: make }, labelled("A game as PGN, with its variations and comments", text), error, h("button", {}, "Make the study"))));
}

function devicesOf(own, account) {
  const error = h("p", { class: "error", role: "alert" });
  const attempt = (what) => () => what().catch((refused) => { error.textContent = refused.message; });
  const leave = async () => {
    if (!own.codes_left && own.devices.length === 1 && !(await confirmed("This is your last device, and no code is left: you could never come back. Log out all the same?", "Log out"))) return;
    await remove("/account/devices/this", account.token);
    forgetAccount();
    location.href = "/";
  };
  const out = async (id) => {
    await remove(`/account/devices/${id}`, account.token);
    location.reload();
  };
  const renew = async () => {
    if (!(await confirmed("The codes that you have are of no use any more then.", "Make new ones"))) return;
    const { codes } = await post("/account/codes", {}, account.token);
    showCodes(h("dialog", { class: "pick make", "aria-label": "New recovery codes" }), codes, "New recovery codes", () => location.reload());
  };
  return h("section", { class: "panel devices", "aria-label": "Devices" }, h("h2", {}, "My devices"),
    h("ul", {}, own.devices.map((it) => h("li", {}, `${it.label || "a device"}, since ${new Date(it.since).toLocaleDateString()} `,
      it.this ? h("b", {}, "this one") : h("button", { class: "quiet", onclick: attempt(() => out(it.id)) }, "Log it out")))),
    h("p", {}, `${plural(own.codes_left, "recovery code")} ${own.codes_left === 1 ? "is" : "are"} left. `), h("button", { class: "quiet", onclick: attempt(renew) }, "New recovery codes"),
    h("button", { onclick: attempt(leave) }, "Log out"), error);
}
