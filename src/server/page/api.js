// The server's API, and the tokens of this browser's seats.

import { begin } from "./dom.js";

export class Refused extends Error {
  constructor(status, body) {
    // With a capital, unless the message begins with a move, a square or the like.
    super((body.message || `The server answered ${status}.`).replace(/^[a-z]+(?= )/, begin));
    this.status = status;
    this.code = body.error;
    this.body = body;
  }
}

/** Time after which a request is given up, in milliseconds. */
const PATIENCE = 20000;

async function request(method, path, body, token) {
  const headers = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const options = { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: AbortSignal.timeout(PATIENCE) };
  const answer = await fetch(`/api/v1${path}`, options).catch(() => {
    // Browsers have messages of their own, for programmers.
    throw new Error("The server cannot be reached. Is this device online?");
  });
  const data = await answer.json().catch(() => ({}));
  // This device was logged out from another device: it goes on as a guest.
  if (data.error === "account_gone" && token === myAccount()?.token) {
    forgetAccount();
    return request(method, path, body);
  }
  if (!answer.ok) throw new Refused(answer.status, data);
  return data;
}

export const get = (path, token) => request("GET", path, undefined, token);
export const post = (path, body, token) => request("POST", path, body || {}, token);
export const remove = (path, token) => request("DELETE", path, undefined, token);

export const sleep = (millis) => new Promise((wake) => setTimeout(wake, millis));

/** How long to wait before another attempt, in milliseconds. */
export const backoff = (attempt) => Math.min(300 * 2 ** attempt, 5000);

/** Whether the same request may succeed a moment later. */
export const isPassing = (error) => !(error instanceof Refused) || error.status >= 500 || error.status === 429 || error.code === "no_such_version";

/** A request that is repeated until it is answered; the server does it once. */
export async function postSurely(path, body, token) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await post(path, body, token);
    } catch (error) {
      if (!isPassing(error) || attempt >= 6) throw error;
      await sleep(backoff(attempt));
    }
  }
}

export const newId = () => crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random()}`;

/** A value that this browser keeps. A frame in another site's page may be allowed to keep nothing. */
function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** The token that a game is played with: of a guest's seat, or of the account. */
export const tokenOf = (game) => stored(`seat:${game}`) ?? myAccount()?.token ?? null;
export const keepToken = (game, token) => localStorage.setItem(`seat:${game}`, token);

/** The account that this browser is logged in to: its name and this device's token. */
export function myAccount() {
  try {
    return JSON.parse(stored("account"));
  } catch {
    return null;
  }
}
export const keepAccount = ({ name, token }) => localStorage.setItem("account", JSON.stringify({ name, token }));
export const forgetAccount = () => localStorage.removeItem("account");

/** Makes a game for the account, or for a guest, whose seat has a token of its own. */
export async function makeGame(wish) {
  const made = await post("/games", wish, myAccount()?.token);
  if (made.token) keepToken(made.id, made.token);
  return made;
}

export const myName = () => myAccount()?.name ?? stored("name") ?? "";
export const keepName = (name) => localStorage.setItem("name", name);
