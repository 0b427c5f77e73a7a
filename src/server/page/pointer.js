// Mouse, pen and finger on a board: clicks, drags, and drawing with the right button.

/** How far a press moves before it is a drag, in pixels. */
const FAR = 6;

/** The colour of what is drawn, by the keys that are held. */
const colour = (event) => (event.shiftKey || event.ctrlKey ? "red" : event.altKey ? "blue" : "green");

/**
 * Follows presses on `root`. `place` says where on the board an event is: `{square, x, y}`, without a square beside it.
 * @param {{place, grab, drag, drop, choose, sketch, let_go}} handlers `grab(square, place)` says what is picked up there, if
 * anything; `drag(what, place)` moves it, `drop(what, square)` puts it down; `choose(square)` is a click.
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
    // What is under a finger may be drawn anew meanwhile.
    if (press.grabbed && event.pointerType !== "mouse") root.setPointerCapture?.(event.pointerId);
  });
  // Pointer events come first: what was just picked up is not a place to scroll the page by.
  root.addEventListener("touchstart", (event) => { if (press?.grabbed) event.preventDefault(); }, { passive: false });
  const move = (event) => {
    if (!press || event.pointerId !== press.id || press.sketch || !press.grabbed) return;
    // Another button of the same mouse is told as a move: it puts back what is dragged.
    if (event.button > 0) return end();
    if (!press.held && Math.hypot(event.clientX - press.x, event.clientY - press.y) < FAR) return;
    if (!press.held) {
      press.held = press.grabbed;
      handlers.take(press.held);
    }
    event.preventDefault();
    handlers.drag(press.held, handlers.place(event));
  };
  const up = (event) => {
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
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
  addEventListener("pointercancel", (event) => { if (press && event.pointerId === press.id) end(); });
  return () => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
  };
}
