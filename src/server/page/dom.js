// Elements in a line each. Text is always text: nothing from a server becomes markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((it) => it != null && it !== false));
  return element;
}

export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** What an element is known by when it is made anew. */
const knownBy = (it) => `${it.tagName} ${it.id || it.getAttribute("aria-label") || it.textContent}`;

/** Draws an element anew. What is focused in it keeps the focus, and what has come in its place gets it. */
export function clear(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const alike = (it) => [...element.querySelectorAll(it.tagName)].filter((one) => knownBy(one) === knownBy(it));
  const place = focused ? alike(focused).indexOf(focused) : -1;
  element.replaceChildren(...children.flat(Infinity).filter((it) => it != null && it !== false));
  if (!focused || focused === document.activeElement) return;
  const next = element.contains(focused) ? focused : alike(focused)[place];
  next?.focus({ preventScroll: true });
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** Where a game of a list stands, or how it ended: a game without an outcome was `none by aborted`. */
export function standing({ result, state, ply }) {
  return result?.replace(/^none by /, "") ?? (state === "waiting" ? "waiting for a player" : plural(ply, "move"));
}

/** Milliseconds. */
export const DAY = 86400000;

/** Time that is left, as a clock shows it: days and hours, or hours, minutes and seconds. */
export function timeLeft(millis) {
  const seconds = Math.ceil(millis / 1000);
  const [days, hours, minutes] = [86400, 3600, 60].map((it) => Math.floor(seconds / it));
  const two = (it) => String(it % 60).padStart(2, "0");
  if (days) return `${days} d ${hours % 24} h`;
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** Asks whether something that cannot be undone is meant. */
export function confirmed(question, answer) {
  return new Promise((decided) => {
    const close = (meant) => () => { decided(meant); dialog.close(); };
    const dialog = h("dialog", { class: "pick", "aria-label": question },
      h("p", {}, question), h("button", { onclick: close(true) }, answer), h("button", { class: "quiet", onclick: close(false) }, "No"));
    dialog.addEventListener("close", () => { decided(false); dialog.remove(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Says something to people who listen instead of look. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

export function words(text) {
  return String(text).replaceAll("_", " ");
}

/** As a sentence begins. */
export function begin(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** An activation as people say it; `nameOf` is asked for the name of its preset. */
export function spoken(activation, nameOf) {
  const [preset, scope, ...options] = activation.split(":");
  const turns = options.join(":").match(/(?:^|,)turns=(\d+)(?:,|$)/);
  return [nameOf(preset) ?? words(preset), scope && scope !== "both" ? ` for ${words(scope)}` : "", turns ? ` (${plural(Number(turns[1]), "turn")})` : ""].join("");
}
