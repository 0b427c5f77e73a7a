// Which view an address shows.

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

function show() {
  const path = location.pathname;
  const game = path.match(/^\/(embed\/)?game\/([a-z0-9]+)$/);
  const about = path.match(/^\/about\/([^/]+)$/);
  const user = path.match(/^\/user\/([A-Za-z0-9_-]+)$/);
  const study = path.match(/^\/study\/([a-z0-9]+)$/);
  const tournament = path.match(/^\/tournament\/([a-z0-9]+)$/);
  const asked = new URLSearchParams(location.search);
  const view = game ? () => showGame(main, game[2], Boolean(game[1])) : about ? () => showAbout(main, decodeURIComponent(about[1]), asked) : study ? () => showStudy(main, study[1]) : tournament ? () => showTournament(main, tournament[1]) : user ? () => showUser(main, user[1]) : path === "/rules" ? () => showRules(main) : path === "/" ? () => showLobby(main, asked.get("rules"), asked.get("with"), asked) : nowhere;
  Promise.resolve()
    .then(view)
    .catch((error) => {
      clear(main, h("h1", {}, "This did not work"), h("p", { class: "error" }, error.message),
        h("p", {}, h("a", { href: "/" }, "Back to the lobby")));
      announce(error.message);
    });
}

function nowhere() {
  throw new Error("There is nothing at this address.");
}

/** A game in a frame of another page: what it links to opens beside that page. */
function frame() {
  document.body.classList.add("framed");
  document.addEventListener("click", (event) => event.target.closest("a")?.setAttribute("target", "_blank"), true);
}

applySettings();
if (location.pathname.startsWith("/embed/")) frame();
else showWho();
show();
