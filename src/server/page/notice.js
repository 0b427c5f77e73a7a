// The title and the icon of the page, which say that it is one's turn while another tab is looked at.

let title = "Rulemate";
let waiting = false;

function show() {
  const away = waiting && document.hidden;
  document.title = away ? `● Your turn – ${title}` : title;
  const icon = away ? "/page/icon-turn.svg" : "/page/icon.svg";
  const link = document.querySelector('link[rel="icon"]');
  if (link && link.getAttribute("href") !== icon) link.setAttribute("href", icon);
}

document.addEventListener("visibilitychange", show);

/** Sets the title of the page, and whether others wait for a move here. */
export function notice(text, isWaiting) {
  title = text;
  waiting = isWaiting;
  show();
}
