// The fields at the end of a FEN, by which pieces have something before a game begins: `KEY=VALUE,SQUARE:VALUE`.

import { begin, clear, h, words } from "./dom.js";
import { kindOf } from "./pieces.js";
import { hasSign, signIcon } from "./traits.js";

/** A field of a FEN: the `usual` value, and the values `of` squares that have another. */
function read(text) {
  const [usual, ...rest] = text.slice(text.indexOf("=") + 1).split(",");
  const cut = (it, at = it.indexOf(":")) => [it.slice(0, at), it.slice(at + 1)];
  return { usual, of: new Map(rest.map((it) => cut(it))) };
}

const written = (key, { usual, of }) => `${key}=${[usual, ...[...of].map(([square, value]) => `${square}:${value}`)].join(",")}`;

export class Loadout {
  /** @param {(fields: string[]) => void} told called with all fields of the FEN when one is changed */
  constructor(told) {
    this.told = told;
    this.root = h("div", { class: "loadout", "aria-live": "polite" });
  }

  /** @param {{key, about, values}[]} fields as the server tells them */
  set(position, sides, fields = [], presets = [], square = null) {
    Object.assign(this, { fields, presets });
    // Flags without a sign are about the turn under way: they are left out.
    const own = fields.filter((it) => it.about === "pieces" && (String(it.values) !== "false,true" || hasSign(it.key)));
    const piece = position.pieces.find((it) => it.square === square);
    if (!own.length) return clear(this.root);
    if (!piece) return clear(this.root, h("p", { class: "hint" }, "Choose a piece to see and change what it has."));
    const rest = position.fen.split(" ").slice(2);
    const indexOf = (key) => rest.findIndex((it) => it.startsWith(`${key}=`));
    const fieldOf = (key) => read(rest[indexOf(key)] ?? "-");
    const change = (key, value) => {
      const at = indexOf(key);
      const field = fieldOf(key);
      if (value === field.usual) field.of.delete(square);
      else field.of.set(square, value);
      if (at < 0) rest.push(written(key, field));
      else rest[at] = written(key, field);
      this.told(rest);
    };
    const named = (key) => presets.find((it) => it.preset === key)?.name ?? begin(words(key.replaceAll("-", " ")));
    const about = (key) => presets.find((it) => it.preset === key)?.description ?? "";
    const row = ({ key, values }) => {
      const field = fieldOf(key);
      const now = field.of.get(square) ?? field.usual;
      const label = [hasSign(key) ? signIcon(key) : null, h("span", { title: about(key) }, named(key))];
      if (String(values) === "false,true") {
        const off = field.usual === "true" ? "false" : "-";
        return h("label", { class: "tick" }, h("input", { type: "checkbox", "data-field": key, checked: now === "true", onchange: (event) => change(key, event.target.checked ? "true" : off) }), label);
      }
      if (values.length) {
        return h("label", {}, label, h("select", { "data-field": key, onchange: (event) => change(key, event.target.value) },
          ["-", ...values].map((it) => h("option", { value: it, selected: it === now }, it === "-" ? "none" : words(it)))));
      }
      return h("label", {}, label, h("input", { type: "number", "data-field": key, value: now === "-" ? "" : now, placeholder: "none", onchange: (event) => change(key, event.target.value || "-") }));
    };
    clear(this.root, h("p", {}, `What the ${piece.side == null ? "" : `${words(sides[piece.side])} `}${kindOf(piece, position.kinds)} on ${square} has:`), h("div", { class: "fields" }, own.map(row)));
  }
}
