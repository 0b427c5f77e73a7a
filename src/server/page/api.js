// The server's API, and the tokens of this browser's seats.

export class Refused extends Error {
  constructor(status, body) {
    super(body.message || `The server answered ${status}.`);
    this.status = status;
    this.code = body.error;
    this.body = body;
  }
}

async function request(method, path, body, token) {
  const headers = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const options = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
  const answer = await fetch(`/api/v1${path}`, options);
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, data);
  return data;
}

export const get = (path, token) => request("GET", path, undefined, token);
export const post = (path, body, token) => request("POST", path, body || {}, token);

/** A request that is repeated until it is answered; the server does it once. */
export async function postSurely(path, body, token) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await post(path, body, token);
    } catch (error) {
      const lost = !(error instanceof Refused) || error.status >= 500;
      if (!lost || attempt >= 6) throw error;
      await new Promise((wake) => setTimeout(wake, 300 * 2 ** attempt));
    }
  }
}

export const newId = () => crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random()}`;

export const tokenOf = (game) => localStorage.getItem(`seat:${game}`);
export const keepToken = (game, token) => localStorage.setItem(`seat:${game}`, token);

export const myName = () => localStorage.getItem("name") || "";
export const keepName = (name) => localStorage.setItem("name", name);
