// The views of the page, each at its address.

import { showAbout } from "./about.js";
import { showUser, showWho } from "./account.js";
import { announce, clear, h } from "./dom.js";
import { showGame } from "./game.js";
import { showLobby } from "./lobby.js";
import { showRules } from "./rules.js";
import { applySettings } from "./settings.js";
import { showStudy } from "./study.js";
import { showTournament } from "./tournament.js";

const main = document.getElementById("main");
const asked = new URLSearchParams(location.search);

/** Each view with its path; the groups of the path are its arguments. */
const VIEWS = [
  [/^\/$/, () => showLobby(main, asked)],
  [/^\/(embed\/)?game\/([a-z0-9]+)$/, (embed, id) => showGame(main, id, Boolean(embed))],
  [/^\/about\/([^/]+)$/, (name) => showAbout(main, decodeURIComponent(name), asked)],
  [/^\/study\/([a-z0-9]+)$/, (id) => showStudy(main, id)],
  [/^\/tournament\/([a-z0-9]+)$/, (id) => showTournament(main, id)],
  [/^\/user\/([A-Za-z0-9_-]+)$/, (name) => showUser(main, name)],
  [/^\/rules$/, () => showRules(main)],
];

async function show() {
  try {
    const found = VIEWS.find(([path]) => path.test(location.pathname));
    if (!found) throw new Error("There is nothing at this address.");
    const [path, view] = found;
    await view(...location.pathname.match(path).slice(1));
  } catch (error) {
    clear(main, h("h1", {}, "This did not work"), h("p", { class: "error" }, error.message),
      h("p", {}, h("a", { href: "/" }, "Back to the lobby")));
    announce(error.message);
  }
}

/** For a game in a frame of another page: its links open in tabs of their own. */
function frame() {
  document.body.classList.add("framed");
  document.addEventListener("click", (event) => event.target.closest("a")?.setAttribute("target", "_blank"), true);
}

applySettings();
if (location.pathname.startsWith("/embed/")) frame();
else showWho();
show();
