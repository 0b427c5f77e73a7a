// Which view an address shows.

import { showAbout } from "./about.js";
import { announce, clear, h } from "./dom.js";
import { showGame } from "./game.js";
import { showLobby } from "./lobby.js";
import { showRules } from "./rules.js";
import { applySettings } from "./settings.js";

const main = document.getElementById("main");

function show() {
  const path = location.pathname;
  const game = path.match(/^\/game\/([a-z0-9]+)$/);
  const about = path.match(/^\/about\/([^/]+)$/);
  const asked = new URLSearchParams(location.search);
  const view = game ? () => showGame(main, game[1]) : about ? () => showAbout(main, decodeURIComponent(about[1]), asked) : path === "/rules" ? () => showRules(main) : () => showLobby(main, asked.get("rules"), asked.get("with"), asked);
  Promise.resolve()
    .then(view)
    .catch((error) => {
      clear(main, h("h1", {}, "This did not work"), h("p", { class: "error" }, error.message),
        h("p", {}, h("a", { href: "/" }, "Back to the lobby")));
      announce(error.message);
    });
}

applySettings();
show();
