// Mouse, pen and finger on a board: clicks, drags, and drawing with the right button.

/** The distance that a pointer moves before a press is a drag, in pixels. */
export const FAR = 6;

/** The colour of an arrow or circle, by the keys that are held. */
const colour = (event) => (event.shiftKey || event.ctrlKey ? "red" : event.altKey ? "blue" : "green");

/**
 * Follows presses on `root`.
 * @param {{place, grab, take, drag, letGo, drop, choose, sketch}} handlers `place(event)` is the place of an event on the
 * board: `{square, x, y}`, with the square null beside it. `grab(square, place)` is what may be dragged from there, or null;
 * `take(what)` begins to drag it, `drag(what, place)` moves it, `letGo(what)` puts it back, and `drop(what, square)` is
 * called after that for the square where it was dropped. `choose(square)` is a click; `sketch(from, to, colour)` draws.
 */
export function followPointer(root, handlers) {
  let press = null;

  const end = () => {
    if (press?.held) handlers.letGo(press.held);
    press = null;
  };
  root.addEventListener("contextmenu", (event) => event.preventDefault());
  root.addEventListener("pointerdown", (event) => {
    if (press) return end();
    const place = handlers.place(event);
    if (!place.square) return;
    if (event.button === 2) {
      press = { id: event.pointerId, sketch: place.square };
      return;
    }
    if (event.button !== 0 || !event.isPrimary) return;
    press = { id: event.pointerId, square: place.square, x: event.clientX, y: event.clientY, grabbed: handlers.grab(place.square, place), held: null };
    // The element under the finger may be replaced while it is dragged.
    if (press.grabbed && event.pointerType !== "mouse") root.setPointerCapture?.(event.pointerId);
  });
  // Pointer events come before touch events: a finger that has just picked up something does not scroll the page.
  root.addEventListener("touchstart", (event) => { if (press?.grabbed) event.preventDefault(); }, { passive: false });
  addEventListener("pointermove", (event) => {
    if (!press || event.pointerId !== press.id || press.sketch || !press.grabbed) return;
    // Another button of the same mouse comes as a move: the drag ends.
    if (event.button > 0) return end();
    if (!press.held && Math.hypot(event.clientX - press.x, event.clientY - press.y) < FAR) return;
    if (!press.held) {
      press.held = press.grabbed;
      handlers.take(press.held);
    }
    event.preventDefault();
    handlers.drag(press.held, handlers.place(event));
  });
  addEventListener("pointerup", (event) => {
    if (!press || event.pointerId !== press.id) return;
    const { sketch, square, held } = press;
    press = null;
    const place = handlers.place(event);
    if (sketch) {
      if (place.square) handlers.sketch(sketch, place.square, colour(event));
    } else if (held) {
      handlers.letGo(held);
      handlers.drop(held, place.square);
    } else if (place.square === square) {
      handlers.choose(square);
    }
  });
  addEventListener("pointercancel", (event) => { if (press && event.pointerId === press.id) end(); });
}
