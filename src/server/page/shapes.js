// Outlines of our own, in a square of 60: a path that is filled, lines on it, or a sign on a disc.

const DISC = "M30 6a24 24 0 1 1 0 48 24 24 0 0 1 0-48z";
const TILE = "M30 7l17 9 5 35H8l5-35z";
/** A tile of shogi, with the letters of its kind. */
const tile = (text) => ({ fill: TILE, text });
const KNIGHT = "M21 50c0-11 10-13 9-22-3 3.5-6 3.5-8 6.5l-3 3.5c-2.5 1.5-6.5-.5-6.5-4l6-13c1-3 3-5 6-6.5l-.5-6 5.5 4C41 13 48 22 48 36v14z";
/** A knight with more lines than its eye and its foot. */
const knight = (line) => ({ fill: KNIGHT, line: `M25.5 20.5l1 .5${line}M21.5 44H48` });

/** `fill`: the outline. `line`: lines on it. `sign`: a sign on a disc, in the colour of the lines. */
const SHAPES = {
  pawn: { fill: "M30 11a7 7 0 0 1 4.6 12.3c3.4 1.4 5.4 3.7 5.4 6.2h-4.5c.3 6 2.5 9.5 7 13V50H17.5v-7.5c4.5-3.5 6.7-7 7-13H20c0-2.5 2-4.8 5.4-6.2A7 7 0 0 1 30 11z", line: "M17.5 44h25" },
  rook: { fill: "M15.5 11h6.5v5h5v-5h6v5h5v-5h6.5v11l-5 5v12l4.5 4v7H16v-7l4.5-4V27l-5-5z", line: "M20.5 27h19M20.5 39h19M16 44h28" },
  bishop: { fill: "M30 6.5a3.3 3.3 0 0 1 2.1 5.8C38 16.5 41.5 21.5 41.5 27.5c0 4-2 7-5.5 9l2 5.5h7v8H15v-8h7l2-5.5c-3.5-2-5.5-5-5.5-9 0-6 3.5-11 9.4-15.2A3.3 3.3 0 0 1 30 6.5z", line: "M30 20v10M25.5 25h9M24 36.5h12M22 42h16" },
  knight: knight("M35 16c6 4 8.5 10 8.5 19"),
  queen: { fill: "M9 16a3 3 0 1 1 4.7 2.6l6 12 2.4-15.2a3 3 0 1 1 3.7-.2L30 29l4.2-13.8a3 3 0 1 1 3.7.2l2.4 15.2 6-12A3 3 0 1 1 49 18.5L44.5 37c-.6 2.5-1 4-.5 6.5V50H16v-6.5c.5-2.5.1-4-.5-6.5L11 18.5A3 3 0 0 1 9 16z", line: "M15.5 37c9-3 20-3 29 0M16 43.5c9-2.5 19-2.5 28 0" },
  king: { fill: "M28 6h4v4h4v4h-4v5.5c6-4.5 17-2.5 17 7.5 0 6-4 9-6 13v10H17V40c-2-4-6-7-6-13 0-10 11-12 17-7.5V14h-4v-4h4z", line: "M17 40c8.5-3 17.5-3 26 0M17 45c8.5-2 17.5-2 26 0M30 20v15" },
  archbishop: knight("M36 24v14M30.5 30h11"),
  chancellor: knight("M29 44v-9h4v4h4v-4h4v4h4v5"),
  centaur: knight("M35 22v8M32 25h6M29 40c-4-8 3-11 6-6 3-5 10-2 6 6z"),
  grasshopper: { fill: "M8 41c6-9 16-15 26-17l7-2c5-1 9 2 9 6 0 3-2 6-6 8l-3 2 5 8h-4l-5-6-6 2 2 8h-3.5l-2.5-7-11 1-3 7H9l3-8zM20 31L29 9l3 1 7 14-4 1-6-10-5 14z", line: "M44 27l1 .5M39 23c-1 4 0 8 2 11M13 40c6-1 13-5 18-10" },
  cannon: { fill: "M9 30l28-17a7 7 0 0 1 8 12l-9 5.5a10 10 0 1 1-18.5 6L14 38zM12 46h36v4H12z", line: "M27 31a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM35 15l7 12" },
  griffon: { fill: "M17 50c2-9 7-12 7-18-5 1-10-1-13-5 7-1 7-8 13-12l-1-6 6 4c12-2 20 5 20 17 0 8-4 12-3 20z", line: "M26 21l1.5.5M35 19c6 4 7 10 4 16M33 25c4 3 5 7 3 11M17.5 44h28" },
  duck: { fill: "M15 22c0-9 13-10 14-1 .3 3-1.5 5-.5 7 5 2 13 1 18-5 3 13-4 24-16 24S13 41 17 31c-2-1.5-2.7-3.5-3-6l-7-.5c1.5-3 5-3.5 8-2.5z", line: "M21 20.5h1M27 35c5 3 10 2 13-2" },
  met: { fill: "M30 8l5 11c4 2 6 5 6 9.5h-5c.8 6 3.5 10.5 8 13.5v8H16v-8c4.5-3 7.2-7.5 8-13.5h-5C19 24 21 21 25 19z", line: "M16 43.5h28M24 28.5h12" },
  khon: { fill: "M30 9c7 4.5 10.5 9.5 10.5 16l-5 5c.8 5 3.5 9.5 8.5 12v8H16v-8c5-2.5 7.7-7 8.5-12l-5-5c0-6.5 3.5-11.5 10.5-16z", line: "M16 43.5h28M24.5 30h11M30 15v9" },
  advisor: { fill: "M22 19c0-6 3.5-10 8-10s8 4 8 10h7l-5 9c0 6 1 10 5 14v8H15v-8c4-4 5-8 5-14l-5-9z", line: "M20 28h20M15 43.5h30M22 19h16" },
  amazon: knight("M28 44v-9l4 4 4-6 4 6 4-4v9"),
  "ai-wok": knight("M29 44v-9h4v4h4v-4h4v4h4v5M36 22l5 5-5 5-5-5z"),
  elephant: { fill: "M12 50V31c0-11 8-19 18-19 10 0 17 6 18 16 .6 6 0 12-1 17-.7 3.5-6.3 3.5-6 0 .3-4 .3-7-1-10l-4 3v12z", line: "M24 21c-6 5-5 14 2 17 7-3 8-11 5-17zM38 24l1 .5M12.5 44H36" },
  lion: { fill: "M30.0 7.0L34.0 12.5L40.0 9.3L41.2 15.9L48.0 15.7L46.2 22.2L52.4 24.9L48.0 30.0L52.4 35.1L46.2 37.8L48.0 44.3L41.2 44.1L40.0 50.7L34.0 47.5L30.0 53.0L26.0 47.5L20.0 50.7L18.8 44.1L12.0 44.3L13.8 37.8L7.6 35.1L12.0 30.0L7.6 24.9L13.8 22.2L12.0 15.7L18.8 15.9L20.0 9.3L26.0 12.5z", line: "M30 19a11 11 0 1 1 0 22 11 11 0 0 1 0-22zM25.5 27l.5.5M34 27l.5.5M28 32h4l-2 2.5v2.5M26.5 37q3.5 2.5 7 0" },
  wizard: { fill: "M32 7c1 9 4 18 8 26 6 1 10 3.5 10 6.5 0 5-9 8.5-20 8.5s-20-3.5-20-8.5c0-3 4-5.5 10-6.5 4-7 6-13 6-19z", line: "M20 33c6 3.5 14 3.5 20 0M30 20v8M26 24h8" },
  champion: { fill: "M30 8l17 5v15c0 11-8 18-17 23-9-5-17-12-17-23V13z", line: "M30 14v30M18 25h24" },
  banner: { fill: "M15 7h4.5v4H48l-6 9.5 6 9.5H19.5v14H26v6H9v-6h6z", line: "M19.5 11v19M25 20.5h10" },
  fox: { fill: "M12 9l11 9h14l11-9v21L30 51 12 30z", line: "M20 28l5 3M40 28l-5 3M27 44h6M16 17v8M44 17v8" },
  hound: { fill: "M20 12h20c8 0 11 7 11 15v9c-4 2-7 0-8-4l-2-3v8c0 8-4 13-11 13s-11-5-11-13v-8l-2 3c-1 4-4 6-8 4v-9c0-8 3-15 11-15z", line: "M24 25l1 .5M35 25l1 .5M26 37h8l-4 4zM30 41v5M19 29c0-6 0-10 3-13M41 29c0-6 0-10-3-13" },
  giraffe: { fill: "M21 50c2-8 4-15 4-23l-7 2c-3.5.5-5-4-2-6l9-6V9h3v7l3-1V8h3v9c3 4 4 9 5 15l5 18z", line: "M27 20l1 .5M29 27l4 3M32 35l-5 2M36 40l-4 4M22 45h20.5" },
  chick: { fill: "M20 25a10 10 0 1 1 18 5c5 1 9 0 13-4 1 13-6 22-18 22-11 0-17-7-16-14l-7-3 7-3c.6-1.3 1.6-2.3 3-3z", line: "M27 23l1 .5M28 37c4 4 9 3 12-1" },
  hen: { fill: "M21 17l1-8 4 4 3-5 3 5 4-3v8c3 4 3 8 1 12 5 1 9 0 14-5 1 14-6 23-18 23-11 0-17-7-16-14l-7-3 7-3c1-5 2-8 4-11z", line: "M27 22l1 .5M28 37c4 4 9 3 12-1M21 31v6" },
  stone: { fill: DISC, line: "M17 24a16 16 0 0 1 9-9" },
  man: { fill: DISC, line: "M30 14a16 16 0 1 1 0 32 16 16 0 0 1 0-32zM30 21a9 9 0 1 1 0 18 9 9 0 0 1 0-18z" },
  crowned: { fill: DISC, line: "M30 12a18 18 0 1 1 0 36 18 18 0 0 1 0-36zM20 37V23l5 6 5-8 5 8 5-6v14z" },
  commander: { fill: DISC, sign: "M30 12l4.8 11.5 12.4.9-9.5 8.1 3 12.1L30 38l-10.7 6.6 3-12.1-9.5-8.1 12.4-.9z" },
  infantry: { fill: DISC, sign: "M30 13a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM22 26h16v11h-3v10h-4V37h-2v10h-4V37h-3zM40 16h2.5v24H40z" },
  militia: { fill: DISC, sign: "M15 24L30 12l15 12zM25 25h10v3H25zM22 29h16v9h-3v9h-4v-9h-2v9h-4v-9h-3z" },
  tank: { fill: DISC, sign: "M16 34h28a5.5 5.5 0 0 1 0 11H16a5.5 5.5 0 0 1 0-11zM20 23h16v9H20zM36 25h13v3.5H36z" },
  engineer: { fill: DISC, sign: "M15 26c8-10 22-10 30 0l-3.5 2c-3-3.5-6.5-5.5-9.5-6v26h-4V22c-3 .5-6.5 2.5-9.5 6z" },
  artillery: { fill: DISC, sign: "M14 35l27-20 4 5.5-14 10.5a8.5 8.5 0 1 1-13.5 6zM40 43h8v3.5H33z" },
  "anti-air": { fill: DISC, sign: "M22 12h4.5v19H22zM33.5 12H38v19h-4.5zM19 32h22v5H19zM14 46.5l7-8.5h18l7 8.5z" },
  missile: { fill: DISC, sign: "M30 9c5 5 6.5 10 6.5 16v12h-13V25c0-6 1.5-11 6.5-16zM17.5 41v-8l4.5-4v9zM42.5 41v-8L38 29v9zM26.5 39h7l-1 8h-5z" },
  "air-force": { fill: DISC, sign: "M30 9.5c2 0 3 3 3 7V23l14 10v4l-14-4.5v8.5l5 4v3l-8-2-8 2v-3l5-4v-8.5L13 37v-4l14-10v-6.5c0-4 1-7 3-7z" },
  navy: { fill: DISC, sign: "M11.5 35h37l-6 10.5h-25zM20 26h20v7H20zM28 12h3.5v12H28zM31.5 12.5l9.5 4-9.5 4z" },
  headquarter: { fill: DISC, sign: "M13 29l17-10 17 10v3H13zM16 33.5h28V46H34v-7h-8v7H16zM28.7 8.5h2.6V18h-2.6zM31.3 9l8.7 3-8.7 3z" },
};

/** A kind that has the outline of another, with lines of its own. */
const lined = (kind, line) => ({ ...SHAPES[kind], line });

// Kinds that have another's outline, with lines of their own.
SHAPES.hoplite = lined("pawn", "M17.5 44h25M30 27a7 7 0 1 1 0 14 7 7 0 0 1 0-14z");
SHAPES.sergeant = lined("pawn", "M17.5 44h25M24 33l6-4 6 4M24 38l6-4 6 4");
SHAPES.general = lined("rook", "M20.5 27h19M16 44h28M25 29.5l10 10M35 29.5l-10 10");
SHAPES.captain = lined("met", "M16 43.5h28M30 27v12M24 33h12");
SHAPES.bers = lined("queen", "M16 43.5h28M25 28.5l10 9M35 28.5l-10 9");
SHAPES.lieutenant = lined("met", "M16 43.5h28M25.5 28.5l9 9M34.5 28.5l-9 9");
SHAPES.tower = lined("rook", "M20.5 27h19M16 44h28M25 31h10v5H25z");
SHAPES.cardinal = lined("bishop", "M21.5 42h17M30 19v14M25 24h10M25 29h10");
SHAPES.duke = lined("queen", "M16 43.5h28M30 28v10M25 33h10");
SHAPES.biskni = lined("bishop", "M21.5 42h17M27 20v12h7");
SHAPES.lancer = knight("M36 42V25M32 30l4-6 4 6");
SHAPES.knibis = knight("M31 27l9 10M40 27l-9 10");
SHAPES.horseman = knight("M31 31l5-5 5 5M31 37l5-5 5 5");
SHAPES["wooden-horse"] = knight("M29 31h13M29 37h15");
SHAPES.nightrider = knight("M30 41v-7h5v-7h5");
SHAPES.yurt = { fill: "M12 50V35c0-12 8-22 18-22s18 10 18 22v15z", line: "M12 35h36M25.5 50V40h9v10M30 13V9" };

SHAPES.guard = lined("pawn", "M17.5 44h25M30 29v11M25 34h10");
SHAPES.archer = lined("bishop", "M30 18v13M24.5 24h11M22 42h16M25 36.5h10");
SHAPES.tiger = lined("rook", "M20.5 27h19M16 44h28M30 30v11M25 35h10");
SHAPES.rhino = knight("M36 24v14M30.5 30h11M29 41h14");
SHAPES.ship = knight("M29 44v-9h4v4h4v-4h4v4h4v5M37 19v9M33 23h8");
SHAPES.kangaroo = knight("M35 22v12M29 28h12");
SHAPES.hwacha = lined("advisor", "M20 28h20M15 43.5h30M24 35h12M30 31v9");
SHAPES.soldier = lined("pawn", "M17.5 44h25M24 36l6-6 6 6");
SHAPES.warrior = lined("pawn", "M17.5 44h25M25 29l10 10M35 29l-10 10");
SHAPES.shaman = lined("met", "M16 43.5h28M30 24v14M25 29l5-5 5 5");
SHAPES["divine-king"] = lined("king", "M17 40c8.5-3 17.5-3 26 0M17 45c8.5-2 17.5-2 26 0M30 20v15M24 30l12-5M24 25l12 5");
SHAPES.offering = { fill: DISC, sign: "M19 26h22l-4 16H23zM28 12h4v10h-4zM20 16l4-2 3 8h-3z" };

/** Tiles of shogi and its relatives, with their letters. */
const TILES = {
  gold: "G", silver: "S", lance: "L", tokin: "+P", horse: "+B", dragon: "+R", "drunk-elephant": "E", prince: "+E",
  "promoted-pawn": "+P", "promoted-lance": "+L", "promoted-knight": "+N", "promoted-silver": "+S", "promoted-bishop": "+B", "promoted-rook": "+R",
  swallow: "S", falcon: "F", crane: "C", pheasant: "P", "left-quail": "L", "right-quail": "R", goose: "+S", eagle: "+F",
};
for (const [kind, letter] of Object.entries(TILES)) SHAPES[kind] = tile(letter);
for (const [kind, letter] of [["gold", "U"], ["silver", "A"], ["copper", "C"], ["iron", "I"]]) {
  SHAPES[`${kind}-cannon`] = tile(letter);
  SHAPES[`flying-${kind}`] = tile(`+${letter}`);
}

/** Kinds that are drawn as others, by the others. */
const ALIKE = {
  met: ["sit-ke", "ferz", "commoner", "monk"],
  captain: ["wazir", "van"],
  advisor: ["mayor", "sage"],
  elephant: ["alfil", "shako-elephant"],
  lion: ["bull", "jaguar"],
  amazon: ["riding-elephant"],
  archbishop: ["hawk"],
  cannon: ["janggi-cannon"],
  centaur: ["kheshig"],
  griffon: ["quetzal"],
  khon: ["sin"],
};
for (const [kind, others] of Object.entries(ALIKE)) {
  for (const it of others) SHAPES[it] = SHAPES[kind];
}

/** The shape of a kind; null for a kind that is drawn as its letter. */
export function shapeOf(kind) {
  return Object.hasOwn(SHAPES, kind) ? SHAPES[kind] : null;
}

/** Pictures of what a number on a piece is about, in a square of 12. */
const ICONS = {
  hp: "M6 11L1.5 6.2a2.7 2.7 0 0 1 4.5-3 2.7 2.7 0 0 1 4.5 3z",
  shield: "M6 1l4.5 1.5v3.5c0 2.5-2 4-4.5 5-2.5-1-4.5-2.5-4.5-5V2.5z",
  stamina: "M7 .5L2 7h3l-.5 4.5L10 5H6.5z",
  heroic: "M6 .8l1.5 3.5 3.8.3-2.9 2.5.9 3.7L6 8.8l-3.3 2 .9-3.7L.7 4.6l3.8-.3z",
};

/** The picture for a fact, by the last part of its name. */
export function iconOf(fact) {
  const name = fact.split(/[._]/).pop();
  return Object.hasOwn(ICONS, name) ? ICONS[name] : null;
}
