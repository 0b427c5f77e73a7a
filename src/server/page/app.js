// Which view an address shows.

import { announce, clear, h } from "./dom.js";
import { showGame } from "./game.js";
import { showLobby } from "./lobby.js";
import { showRules } from "./rules.js";

const main = document.getElementById("main");

function show() {
  const path = location.pathname;
  const game = path.match(/^\/game\/([a-z0-9]+)$/);
  const view = game ? () => showGame(main, game[1]) : path === "/rules" ? () => showRules(main) : () => showLobby(main, new URLSearchParams(location.search).get("rules"), new URLSearchParams(location.search).get("with"));
  Promise.resolve()
    .then(view)
    .catch((error) => {
      clear(main, h("h1", {}, "This did not work"), h("p", { class: "error" }, error.message),
        h("p", {}, h("a", { href: "/" }, "Back to the lobby")));
      announce(error.message);
    });
}

show();
