// The rule editor: diagnostics while you type, and games by rules that compile.

import { makeGame, myAccount, post } from "./api.js";
import { announce, clear, h } from "./dom.js";
import { notice } from "./notice.js";

const EXAMPLE = `% archbishops: every bishop also leaps like a knight.
.meta preset "archbishops"
.meta name "Archbishops"
.meta description "Bishops also leap like knights"

.domain Preset += { archbishops }

leap('bishop, 1, 2).   leap('bishop, 2, 1).   leap('bishop, 2, -1).  leap('bishop, 1, -2).
leap('bishop, -1, -2). leap('bishop, -2, -1). leap('bishop, -2, 1).  leap('bishop, -1, 2).
`;

export async function showRules(main) {
  notice("Rules – Rulemate", false);
  const text = h("textarea", { id: "rules", rows: "24", spellcheck: "false", "aria-label": "Rule text", "aria-describedby": "found" });
  text.value = localStorage.getItem("rules") || EXAMPLE;
  const found = h("div", { id: "found", "aria-live": "polite" });
  const play = h("button", { disabled: true }, "Play it");
  const setUp = h("button", { disabled: true, class: "quiet" }, "Set up a game with it");
  const enable = (is) => { play.disabled = !is; setUp.disabled = !is; };
  let timer = null;
  let asked = 0;
  let checked = null;

  const check = async () => {
    localStorage.setItem("rules", text.value);
    const mine = (asked += 1);
    try {
      const answer = await post("/rules", { text: text.value });
      if (mine !== asked) return;
      checked = answer;
      enable(answer.ok);
      clear(found, answer.ok
        ? h("p", { class: "yes" }, `It compiles${answer.name ? `: ${answer.name}` : ""}.`)
        : h("ol", { class: "diagnostics" }, answer.diagnostics.map((it) => diagnostic(it, text))));
    } catch (error) {
      if (mine !== asked) return;
      enable(false);
      clear(found, h("p", { class: "error" }, error.message));
    }
  };
  text.addEventListener("input", () => {
    // The findings below are about an earlier text.
    asked += 1;
    enable(false);
    clear(found, h("p", { class: "hint" }, "Reading…"));
    clearTimeout(timer);
    timer = setTimeout(check, 350);
  });
  /** Stores the rules, and goes to the address that `target` makes of their id. */
  const use = (target) => async () => {
    try {
      const { rules } = await post("/rules", { text: text.value, keep: true }, myAccount()?.token);
      location.href = await target(rules);
    } catch (error) {
      clear(found, h("p", { class: "error" }, error.message));
      announce(error.message);
    }
  };
  play.addEventListener("click", use(async (rules) => {
    const { game, presets } = checked;
    return (await makeGame({ game, presets, rules, seat: "both" })).url;
  }));
  setUp.addEventListener("click", use((rules) => {
    const { game, presets } = checked;
    return `/?${new URLSearchParams([["rules", rules], ["game", game], ...presets.map((it) => ["preset", it])])}`;
  }));
  const docs = (name, text) => h("a", { href: `/docs/${name}.md`, target: "_blank", rel: "noopener" }, text);
  clear(main, h("h1", {}, "Write rules"),
    h("p", {}, "A preset changes any game; a game has a layout of its own. What can be written: ", docs("rules", "the language"), " and ", docs("relations", "the relations there are"), "."),
    h("div", { class: "table editor" }, h("section", { class: "panel" }, text, play, setUp), h("section", { class: "panel" }, h("h2", {}, "Findings"), found)));
  await check();
}

function diagnostic(it, text) {
  const go = () => {
    const lines = text.value.split("\n");
    const at = lines.slice(0, it.line - 1).reduce((sum, line) => sum + line.length + 1, 0) + (it.column || 1) - 1;
    text.focus();
    text.setSelectionRange(at, at + 1);
  };
  return h("li", {},
    it.line ? h("button", { class: "row", onclick: go }, `line ${it.line}, column ${it.column}`) : null,
    " ", h("b", {}, it.code), " ", it.message,
    it.help ? h("p", { class: "hint" }, `Help: ${it.help}`) : null);
}
