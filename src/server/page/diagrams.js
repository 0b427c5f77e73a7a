// Diagrams of where a piece goes: a small board with dots, and crosses where it goes only to capture.

import { h, svg, words } from "./dom.js";
import { geometry, marksOf, outline } from "./geometry.js";
import { picture, SIZE } from "./pieces.js";

/** @param {{kind, letter, name, square, goes: string[], captures: string[]}} it as the server sends it */
export function diagram(it, position, sides) {
  const layout = geometry(position, false);
  const at = (name) => layout.at.get(name);
  const marks = marksOf(position);
  const tile = ({ name, x, y, isLight }) => {
    const marked = (marks.get(name) ?? []).map((mark) => mark.classes);
    return svg("g", { class: ["square", isLight ? "light" : "dark", ...marked].join(" "), transform: `translate(${x} ${y})` }, svg("path", { class: "tile", d: outline(layout.shape) }));
  };
  const put = (name, child) => svg("g", { transform: `translate(${at(name).x} ${at(name).y})` }, child);
  const { drawing } = position.kinds.find((one) => one.kind === it.kind) ?? {};
  const place = `translate(${at(it.square).x - SIZE / 2} ${at(it.square).y - SIZE / 2})`;
  const man = svg("g", { transform: place }, picture({ ...it, side: position.turn, drawing }, sides));
  const told = `From ${it.square} a ${words(it.name)} goes to ${it.goes.join(", ") || "no square"}${it.captures.length ? `, and captures on ${it.captures.join(", ")}` : ""}.`;
  return h("figure", { "data-kind": it.kind },
    svg("svg", { class: "board", viewBox: `0 0 ${layout.width} ${layout.height}`, role: "img", "aria-label": told, "data-shape": layout.shape },
      layout.squares.map(tile), man,
      it.goes.filter(at).map((name) => put(name, svg("circle", { class: "dot", r: 11 }))),
      it.captures.filter(at).map((name) => put(name, svg("path", { class: "cross", d: "M-12 -12L12 12M12 -12L-12 12" })))),
    h("figcaption", {}, words(it.name), it.vital ? h("span", { class: "royal", title: "Its side depends on it" }, " ♔ royal") : null));
}
