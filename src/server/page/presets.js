// A list to choose presets from, with their options and the sides that they are for.

import { h } from "./dom.js";

/** An option, such as `hp: how many hit points`, as its name and description. */
function option(text) {
  const at = text.indexOf(":");
  return at < 0 ? [text, text] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** The option of all presets. */
const TURNS = "turns: after how many turns it ends";

/** Why two presets do not go together, as the file of either says. */
function reasonBetween(one, other) {
  const said = one.incompatible.find((it) => it.preset === other.preset) || other.incompatible.find((it) => it.preset === one.preset);
  return said?.reason;
}

/** The choices of sides that a preset may be active for. */
function scopes(sides) {
  return ["both", ...sides].map((it) => h("option", { value: it }, it === "both" ? (sides.length > 2 ? "for all sides" : "for both sides") : `for ${it}`));
}

export class Picker {
  /** @param {object[]} presets as the catalogue lists them @param {string[]} sides */
  constructor(presets, sides) {
    this.rows = presets.map((it) => this.row(it, sides));
    this.elements = this.rows.map((it) => it.element);
    this.sides = sides;
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
      // A scope or an option that is not offered is kept, too.
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

  /** Offers the sides of another game. */
  setSides(sides) {
    if (String(sides) === String(this.sides)) return;
    this.sides = sides;
    for (const { scope } of this.rows) {
      const chosen = scope.value;
      scope.replaceChildren(...scopes(sides));
      scope.value = ["both", ...sides].includes(chosen) ? chosen : "both";
    }
  }

  chosenEntries() {
    return this.rows.filter((it) => it.on.checked).map((it) => it.entry);
  }

  /** The presets that are on, in full: `NAME:SCOPE:OPTION=VALUE`. */
  chosen() {
    return this.rows.filter((it) => it.on.checked).map((it) => it.text());
  }

  set(activations) {
    for (const it of activations) this.rows.find((row) => row.entry.preset === it.split(":")[0])?.set(it);
    this.refresh();
  }

  /** Shows the options of presets that are on, and marks presets that do not go with those. */
  refresh() {
    for (const row of this.rows) {
      row.element.classList.toggle("on", row.on.checked);
      const clash = this.clash(row.entry);
      row.element.classList.toggle("clash", Boolean(clash));
      row.element.title = clash;
    }
  }

  /** Why presets that are on do not go together, a sentence for each pair. */
  clashes() {
    const on = this.chosenEntries();
    const sentence = (one, other) => {
      const reason = reasonBetween(one, other);
      return reason ? [`${one.name} and ${other.name} do not go together: ${reason}.`] : [];
    };
    return on.flatMap((one, at) => on.slice(at + 1).flatMap((other) => sentence(one, other)));
  }

  /** Why a preset does not go with one that is on; empty if it goes with all. */
  clash(entry) {
    const other = this.chosenEntries().find((it) => it !== entry && reasonBetween(entry, it));
    return other ? `Does not go with ${other.name}: ${reasonBetween(entry, other)}` : "";
  }
}
