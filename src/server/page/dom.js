// Makes elements, one a line, and texts for people. Text is always text: nothing from a server becomes markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...shown(children));
  return element;
}

/** Children without those that are left out: `null` and `false`. */
const shown = (children) => children.flat(Infinity).filter((it) => it != null && it !== false);

export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The text by which an element is recognised after it was drawn anew. */
const knownBy = (it) => `${it.tagName} ${it.id || it.getAttribute("aria-label") || it.textContent}`;

/** Replaces the children of an element. A focused child keeps the focus, or the child that takes its place gets it. */
export function clear(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const alike = (it) => [...element.querySelectorAll(it.tagName)].filter((one) => knownBy(one) === knownBy(it));
  const place = focused ? alike(focused).indexOf(focused) : -1;
  element.replaceChildren(...shown(children));
  if (!focused || focused === document.activeElement) return;
  const next = element.contains(focused) ? focused : alike(focused)[place];
  next?.focus({ preventScroll: true });
}

/** A field with a label before it. */
export const labelled = (text, field) => h("label", {}, h("span", {}, text), field);

export const table = (heads, rows) => h("table", {}, h("thead", {}, h("tr", {}, heads.map((it) => h("th", { scope: "col" }, it)))), h("tbody", {}, rows));

/** Shows a dialog, which is removed when it is closed. */
export function showDialog(dialog) {
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** The state of a game in a list, or how it ended. The result of a game without an outcome begins with `none by`. */
export function standing({ result, state, ply }) {
  return result?.replace(/^none by /, "") ?? (state === "waiting" ? "waiting for a player" : plural(ply, "move"));
}

/** Items by a key of each, in their order. */
export function grouped(items, key) {
  const found = new Map();
  for (const it of items) found.set(key(it), [...(found.get(key(it)) ?? []), it]);
  return found;
}

/** A day in milliseconds. */
export const DAY = 86400000;

/** Time that is left, as a clock shows it: days and hours, or hours, minutes and seconds. */
export function timeLeft(millis) {
  const seconds = Math.max(0, Math.ceil(millis / 1000));
  const [days, hours, minutes] = [86400, 3600, 60].map((it) => Math.floor(seconds / it));
  const two = (it) => String(it % 60).padStart(2, "0");
  if (days) return `${days} d ${hours % 24} h`;
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** A link that can be copied. */
export const linkField = (label, link = location.href) => h("input", { readonly: true, class: "link", "aria-label": label, value: link, onfocus: (event) => event.target.select() });

/** A button that closes its dialog. */
export const closing = (text = "Cancel") => h("button", { type: "button", class: "quiet", onclick: (event) => event.target.closest("dialog").close() }, text);

/** Asks whether something that cannot be undone is meant. */
export function confirmed(question, answer) {
  return new Promise((decided) => {
    const close = (meant) => () => { decided(meant); dialog.close(); };
    const dialog = h("dialog", { class: "pick", "aria-label": question },
      h("p", {}, question), h("button", { onclick: close(true) }, answer), h("button", { class: "quiet", onclick: close(false) }, "No"));
    dialog.addEventListener("close", () => decided(false));
    showDialog(dialog);
  });
}

/** Tells screen readers something. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

export function words(text) {
  return String(text).replaceAll("_", " ");
}

/** A text with a capital, as a sentence begins. */
export function begin(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** An activation as people say it; `nameOf` gives the name of its preset. */
export function spoken(activation, nameOf) {
  const [preset, scope, ...options] = activation.split(":");
  const turns = options.join(":").match(/(?:^|,)turns=(\d+)(?:,|$)/);
  return [nameOf(preset) ?? words(preset), scope && scope !== "both" ? ` for ${words(scope)}` : "", turns ? ` (${plural(Number(turns[1]), "turn")})` : ""].join("");
}

/** Names behind what has them: ` with Coregal, Atomic`. */
export const withAll = (names) => (names.length ? ` with ${names.join(", ")}` : "");
