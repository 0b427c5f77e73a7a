// The settings, which this browser keeps, and the dialog that changes them.

import { h, labelled, showDialog } from "./dom.js";

const CHOICES = {
  pieces: ["Pieces", ["drawn", "letters"]],
  board: ["Board", ["brown", "green", "blue", "grey"]],
};
const SWITCHES = {
  coordinates: "Coordinates",
  animation: "Pieces glide",
  sound: "Sounds",
  premove: "Moves ahead of one's turn",
};
const DEFAULTS = { pieces: "drawn", board: "brown", coordinates: true, animation: true, sound: false, premove: true, zoom: 100 };

function read() {
  try {
    return JSON.parse(localStorage.getItem("settings")) || {};
  } catch {
    return {};
  }
}

export const settings = { ...DEFAULTS, ...read() };

/** Passes settings on to the style sheets. */
export function applySettings() {
  const root = document.documentElement;
  root.dataset.board = settings.board;
  root.dataset.coordinates = settings.coordinates ? "on" : "off";
  root.dataset.animation = settings.animation ? "on" : "off";
  root.style.setProperty("--zoom", settings.zoom / 100);
}

function set(name, value, changed) {
  settings[name] = value;
  localStorage.setItem("settings", JSON.stringify(settings));
  applySettings();
  changed();
}

/** Opens the dialog; `changed` is called after each change. */
export function openSettings(changed) {
  const choice = ([name, [label, options]]) => labelled(label,
    h("select", { id: `set-${name}`, onchange: (event) => set(name, event.target.value, changed) },
      options.map((it) => h("option", { value: it, selected: settings[name] === it }, it))));
  const toggle = ([name, label]) => h("label", { class: "tick" },
    h("input", { type: "checkbox", id: `set-${name}`, checked: settings[name], onchange: (event) => set(name, event.target.checked, changed) }),
    h("span", {}, label));
  const zoom = labelled("Size of the board",
    h("input", { type: "range", id: "set-zoom", min: "50", max: "100", step: "5", value: settings.zoom, oninput: (event) => set("zoom", Number(event.target.value), changed) }));
  const dialog = h("dialog", { class: "pick make", "aria-label": "Settings" }, h("h2", {}, "Settings"),
    Object.entries(CHOICES).map(choice), zoom, Object.entries(SWITCHES).map(toggle),
    h("button", { onclick: () => dialog.close() }, "Done"));
  showDialog(dialog);
}
