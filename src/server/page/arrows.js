// Arrows and circles that people draw on a board with the right button, for themselves.

import { svg } from "./dom.js";

/** The outline of an arrow between two places. */
export function arrow(a, b) {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const at = (along, across) => `${a.x + ux * along - uy * across} ${a.y + uy * along + ux * across}`;
  const end = length - 10;
  return `M${at(14, -5)}L${at(end - 22, -5)}L${at(end - 22, -15)}L${at(end, 0)}L${at(end - 22, 15)}L${at(end - 22, 5)}L${at(14, 5)}z`;
}

export class Arrows {
  constructor() {
    this.root = svg("g", { class: "arrows", "aria-hidden": "true" });
    this.marks = new Map();
  }

  clear() {
    if (this.marks.size) {
      this.marks.clear();
      this.root.replaceChildren();
    }
  }

  /** Adds an arrow between two squares, or a circle around one; removes it if it is there already in this colour. */
  toggle(from, to, colour) {
    const key = `${from}-${to}`;
    if (this.marks.get(key)?.colour === colour) this.marks.delete(key);
    else this.marks.set(key, { from, to, colour });
  }

  draw(layout) {
    const place = (name) => layout.at.get(name);
    const known = [...this.marks.values()].filter((it) => place(it.from) && place(it.to));
    this.root.replaceChildren(...known.map(({ from, to, colour }) => {
      const [a, b] = [place(from), place(to)];
      if (from === to) return svg("circle", { class: `drawn ${colour}`, cx: a.x, cy: a.y, r: 26 });
      return svg("path", { class: `drawn-arrow ${colour}`, d: arrow(a, b) });
    }));
  }
}
