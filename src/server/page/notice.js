// That it is one's turn, for those who look at another tab: the title and the icon say so.

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

/** The title of the page, and whether somebody is waited for here. */
export function notice(text, isWaiting) {
  title = text;
  waiting = isWaiting;
  show();
}
