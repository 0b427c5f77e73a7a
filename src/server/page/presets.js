// Presets to choose from, with their options and for whom; used by the lobby and during a game.

import { h } from "./dom.js";

/** `hp: how many hit points` as a name and what it is. */
function option(text) {
  const at = text.indexOf(":");
  return at < 0 ? [text, text] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** What every preset takes. */
const TURNS = "turns: after how many turns it ends";

/** Why two presets do not go together; whichever file says it. */
function reasonBetween(one, other) {
  const said = one.incompatible.find((it) => it.preset === other.preset) || other.incompatible.find((it) => it.preset === one.preset);
  return said?.reason;
}

/** For whom a preset may be active. */
function scopes(sides) {
  return ["both", ...sides].map((it) => h("option", { value: it }, it === "both" ? (sides.length > 2 ? "for all sides" : "for both sides") : `for ${it}`));
}

export class Picker {
  /** @param {object[]} presets as the catalogue lists them @param {string[]} sides */
  constructor(presets, sides) {
    this.rows = presets.map((it) => this.row(it, sides));
    this.elements = this.rows.map((it) => it.element);
    this.named = sides;
  }

  row(entry, sides) {
    const on = h("input", { type: "checkbox", value: entry.preset });
    const scope = h("select", { "aria-label": `${entry.name}: for whom` }, scopes(sides));
    const options = [...entry.options, TURNS].map(option).map(([name, about]) => ({ name, field: h("input", { class: "options", title: about, placeholder: "as usual" }), about }));
    const extra = h("input", { class: "options", "aria-label": `${entry.name}: more options`, hidden: true });
    const element = h("div", { class: "preset" },
      h("label", { class: "tick" }, on, h("span", {}, h("b", {}, entry.name), " ", entry.description)),
      h("div", { class: "how" }, scope, options.map((it) => h("label", { class: "option" }, h("span", {}, `${it.name}: ${it.about}`), it.field)), extra));
    const chosen = () => [...options.filter((it) => it.field.value.trim()).map((it) => `${it.name}=${it.field.value.trim()}`), extra.value.trim()].filter(Boolean).join(",");
    const text = () => [entry.preset, scope.value, chosen()].filter(Boolean).join(":");
    const set = (activation) => {
      const [, who, ...rest] = activation.split(":");
      on.checked = true;
      if (who) scope.value = who;
      // What is not offered is not lost.
      if (who && scope.value !== who) scope.append(h("option", { value: who, selected: true }, `for ${who}`));
      const others = [];
      for (const pair of rest.join(":").split(",").filter(Boolean)) {
        const [name, value] = pair.split("=");
        const known = options.find((it) => it.name === name);
        if (known) known.field.value = value;
        else others.push(pair);
      }
      extra.value = others.join(",");
    };
    return { entry, element, on, text, set, options, scope };
  }

  /** The sides of another game, which scopes name. */
  sides(names) {
    if (String(names) === String(this.named)) return;
    this.named = names;
    for (const { scope } of this.rows) {
      const chosen = scope.value;
      scope.replaceChildren(...scopes(names));
      scope.value = ["both", ...names].includes(chosen) ? chosen : "both";
    }
  }

  /** Activations in full, as `NAME:SCOPE:OPTION=VALUE`. */
  chosen() {
    return this.rows.filter((it) => it.on.checked).map((it) => it.text());
  }

  set(activations) {
    for (const it of activations) this.rows.find((row) => row.entry.preset === it.split(":")[0])?.set(it);
    this.refresh();
  }

  /** Shows the options of what is on, and says of what is off that it would not go with that. */
  refresh() {
    const on = new Set(this.rows.filter((it) => it.on.checked).map((it) => it.entry.preset));
    for (const row of this.rows) {
      row.element.classList.toggle("on", row.on.checked);
      const clash = this.clash(row.entry, on);
      row.element.classList.toggle("clash", Boolean(clash));
      row.element.title = clash;
    }
  }

  /** Why presets that are on do not go together, a sentence each. */
  clashes() {
    const on = this.rows.map((it) => (it.on.checked ? it.entry : null)).filter(Boolean);
    return on.flatMap((one, at) => on.slice(at + 1).map((other) => [one, other, reasonBetween(one, other)]))
      .filter(([, , reason]) => reason)
      .map(([one, other, reason]) => `${one.name} and ${other.name} do not go together: ${reason}.`);
  }

  clash(entry, on) {
    for (const other of this.rows.map((it) => it.entry)) {
      if (other === entry || !on.has(other.preset)) continue;
      const reason = reasonBetween(entry, other);
      if (reason) return `Does not go with ${other.name}: ${reason}`;
    }
    return "";
  }
}
