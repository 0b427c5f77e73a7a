// Where the squares of a board are: files and ranks, hexagons, or points that lines join.

import { grouped } from "./dom.js";
import { SIZE } from "./pieces.js";

/** The distance between ranks of hexagons. */
const ROW = SIZE * 0.87;

/**
 * The squares of a position, with their middles. Points have no file and rank.
 * @returns {{shape: string, width: number, height: number, squares: {name, file, rank, x, y, isLight}[], at: Map, lines: number[][]}}
 */
export function geometry(position, isFlipped) {
  const made = position.points?.length ? ofPoints(position) : position.hexagons ? ofHexagons(position) : ofSquares(position);
  if (isFlipped) {
    for (const it of made.squares) [it.x, it.y] = [made.width - it.x, made.height - it.y];
    made.lines = made.lines.map(([a, b, c, d]) => [made.width - a, made.height - b, made.width - c, made.height - d]);
  }
  // In reading order: from the top, from the left.
  made.squares.sort((one, other) => one.y - other.y || one.x - other.x);
  made.at = new Map(made.squares.map((it) => [it.name, it]));
  return made;
}

/** The letter of a file, which are counted from 0, and the name of the square on it and a rank. */
export const fileName = (file) => String.fromCharCode(97 + file);
export const squareName = (file, rank) => `${fileName(file)}${rank + 1}`;

/** The marks of each square: their names, and the classes by which they are drawn. */
export function marksOf({ marks }) {
  const classes = (name, order) => `mark mark${order % 4} mark-${name.replace(/[^a-z]/g, "-")}`;
  const all = marks.flatMap(({ name, squares }, order) => squares.map((square) => ({ square, name, classes: classes(name, order) })));
  return grouped(all, (it) => it.square);
}

function ofSquares({ files, ranks }) {
  const squares = [];
  for (let rank = 0; rank < ranks; rank += 1) {
    for (let file = 0; file < files; file += 1) {
      squares.push({ name: squareName(file, rank), file, rank, x: (file + 0.5) * SIZE, y: (ranks - rank - 0.5) * SIZE, isLight: (file + rank) % 2 === 1 });
    }
  }
  return { shape: "square", width: files * SIZE, height: ranks * SIZE, squares, lines: [] };
}

/** Each rank stands half a square to the right of the one below: neighbours are those along files, ranks, and one diagonal. */
function ofHexagons({ files, ranks }) {
  const squares = [];
  const height = (ranks - 1) * ROW + SIZE * 1.16;
  for (let rank = 0; rank < ranks; rank += 1) {
    for (let file = 0; file < files; file += 1) {
      squares.push({ name: squareName(file, rank), file, rank, x: (file + 0.5 + rank / 2) * SIZE, y: height - SIZE * 0.58 - rank * ROW, isLight: (file + rank) % 2 === 1 });
    }
  }
  return { shape: "hexagon", width: (files + (ranks - 1) / 2) * SIZE, height, squares, lines: [] };
}

function ofPoints({ points, lines = [] }) {
  const [left, low] = [Math.min(...points.map((it) => it.x)), Math.min(...points.map((it) => it.y))];
  const [right, high] = [Math.max(...points.map((it) => it.x)), Math.max(...points.map((it) => it.y))];
  const x = (it) => (it.x - left + 0.5) * SIZE;
  const y = (it) => (high - it.y + 0.5) * SIZE;
  const squares = points.map((it) => ({ name: it.name, x: x(it), y: y(it), isLight: true }));
  const at = new Map(points.map((it) => [it.name, it]));
  const drawn = lines.filter(([a, b]) => at.has(a) && at.has(b)).map(([a, b]) => [x(at.get(a)), y(at.get(a)), x(at.get(b)), y(at.get(b))]);
  return { shape: "point", width: (right - left + 1) * SIZE, height: (high - low + 1) * SIZE, squares, lines: drawn };
}

/** The outline of a square around its middle. */
export function outline(shape) {
  const half = SIZE / 2;
  if (shape === "hexagon") return `M0 ${-SIZE * 0.58}L${half} ${-SIZE * 0.29}V${SIZE * 0.29}L0 ${SIZE * 0.58}L${-half} ${SIZE * 0.29}V${-SIZE * 0.29}z`;
  if (shape === "point") return "M-24 0a24 24 0 1 1 48 0a24 24 0 1 1-48 0z";
  return `M${-half} ${-half}h${SIZE}v${SIZE}h${-SIZE}z`;
}

/** The square that a place is in; null beside the board. */
export function squareAt(layout, x, y) {
  let [found, best] = [null, Infinity];
  for (const it of layout.squares) {
    const [dx, dy] = [Math.abs(it.x - x), Math.abs(it.y - y)];
    const far = layout.shape === "square" ? Math.max(dx, dy) : Math.hypot(dx, dy);
    if (far < best) [found, best] = [it, far];
  }
  return best <= SIZE * (layout.shape === "hexagon" ? 0.58 : 0.5) ? found.name : null;
}

/** The nearest square in a direction, for arrow keys. */
export function neighbour(layout, name, dx, dy) {
  const from = layout.at.get(name);
  if (!from) return null;
  let [found, best] = [null, Infinity];
  for (const it of layout.squares) {
    const along = (it.x - from.x) * dx + (it.y - from.y) * dy;
    const across = Math.abs((it.x - from.x) * dy) + Math.abs((it.y - from.y) * dx);
    if (along <= 1 || across > along) continue;
    if (along + 2 * across < best) [found, best] = [it.name, along + 2 * across];
  }
  return found;
}
