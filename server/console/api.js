// The session and the requests. Tokens are variables of this module: a reload forgets them, nothing stores them.
import { parse, stringify } from "./json.js";

// The pair is exchanged in place, so that a request knows whether its session is still the one of the page.
let session = null;
const ended = new EventTarget();
// Seconds for which the response of a request that was sent again is waited for.
const MOST_WAITED = 30;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** A refusal of the server; `problem` is its document. */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem?.detail || problem?.title || `The server returned status ${status}.`);
    this.status = status;
    this.problem = problem ?? {};
  }
}

/** The session ended before the response came, or with it, and what it says is for nobody else. */
export class Ended extends Error {}

/** No response came: whether the server did what it was asked is not known. */
export class Unreachable extends Error {
  constructor() {
    super("The server cannot be reached.");
  }
}

/** Whether something failed that may work a little later. */
export const passes = (error) => error instanceof Unreachable || (error instanceof Refusal && (error.status === 429 || error.status >= 500));

/** Whether the server may have done what it was asked, although it did not say so. */
export const isUncertain = (error) => error instanceof Unreachable || (error instanceof Refusal && error.status >= 500);

/** Whether the server has done nothing, and somebody may take something back. */
export const isRefused = (error) => error instanceof Refusal && error.status < 500;

/** Calls `listener` when the session is over; `byServer` where nobody has signed out. */
export const whenEnded = (listener) => ended.addEventListener("ended", listener);

export async function signIn(email, password) {
  const response = await send("POST", "/v1/auth/token", { email, password }, null);
  // The API says the same of every credential; whoever typed these two knows which it is about.
  if (response.status === 401) throw new Error("No account has this e-mail and this password.");
  session = await read(response);
}

export async function signOut() {
  const { refresh_token } = session ?? {};
  end();
  if (refresh_token) await send("POST", "/v1/auth/logout", { refresh_token }, null).catch(() => {});
}

function end(byServer = false) {
  session = null;
  ended.dispatchEvent(Object.assign(new Event("ended"), { byServer }));
}

export const get = (path, query) => ask("GET", withQuery(path, query));
export const post = (path, body, query) => ask("POST", withQuery(path, query), body);
export const patch = (path, body, query) => ask("PATCH", withQuery(path, query), body);
export const put = (path, body) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

/** A key for a request that has its effect once. */
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A POST that has its effect once for its key, and is sent again when its response is lost. */
export async function postOnce(path, body, key) {
  for (let [lost, waited] = [0, 0]; ; await pause(1000)) {
    try {
      return await ask("POST", path, body, { "Idempotency-Key": key });
    } catch (error) {
      // The lost one is still being worked on.
      if (error.problem?.code === "idempotency_in_progress") waited += 1;
      else if (error instanceof Unreachable) lost += 1;
      else throw error;
      if (lost > 1 || waited > MOST_WAITED) throw new Unreachable();
    }
  }
}

/** A page of rows; `unknown` has the names in the query that are not columns of the table. */
export async function rows(path, query) {
  const response = await asked("GET", withQuery(path, query));
  const unknown = (response.headers.get("X-Unknown-Columns") ?? "").split(",").filter(Boolean);
  return { ...(await read(response)), unknown: unknown.map((name) => decodeURIComponent(name.trim())) };
}

/** Takes something away although this page goes: the browser sends it on its own. */
export const removeOnTheWay = (path) => void send("DELETE", path, undefined, session?.access_token, { keepalive: true }).catch(() => {});

/** A file, or a document byte for byte. */
export async function bytes(path) {
  const response = await asked("GET", path);
  return response.ok ? whole(response.blob()) : read(response);
}

/** The records of a list, page after page, up to a number that a person can look through, and whether there are more; of a
 * list that holds other things too those that fit. */
export async function some(path, query = {}, { fits = () => true, most = 1000 } = {}) {
  const items = [];
  let cursor;
  do {
    const page = await get(path, { ...query, limit: 200, ...(cursor && { cursor }) });
    items.push(...page.items.filter(fits));
    cursor = page.next_cursor;
  } while (cursor && items.length < most);
  return { items, isCut: Boolean(cursor) };
}

/** The same without saying so. */
export const all = async (...wanted) => (await some(...wanted)).items;

const ask = async (method, path, body, headers) => read(await asked(method, path, body, headers));

async function asked(method, path, body, headers) {
  const mine = session;
  const stillMine = () => {
    if (session !== mine) throw new Ended();
  };
  let response = await patiently(method, path, body, mine?.access_token, { headers });
  stillMine();
  if (response.status === 401 && mine && (await renewed(mine))) {
    stillMine();
    response = await send(method, path, body, mine.access_token, { headers });
  }
  stillMine();
  if (response.status === 401) {
    if (mine) end(true);
    throw new Ended();
  }
  return response;
}

/** Waits as long as the server asks for, a few times: of a long catalog each template is read. */
async function patiently(method, path, body, token, more) {
  for (let tries = 0; ; tries += 1) {
    const response = await send(method, path, body, token, more);
    if (response.status !== 429 || tries === 5) return response;
    await pause(1000 * (Number(response.headers.get("Retry-After")) || 1));
  }
}

/** Exchanges the pair of tokens, once for all requests that found it too old; gives whether there is another. */
async function renewed(mine) {
  mine.renewing ??= exchanged(mine).finally(() => (mine.renewing = null));
  return mine.renewing;
}

/** Only a server that knows the pair no more ends the session: one that cannot say may be asked again. */
async function exchanged(mine) {
  const response = await patiently("POST", "/v1/auth/refresh", { refresh_token: mine.refresh_token }, null);
  if (response.status === 401) return false;
  Object.assign(mine, await read(response));
  return true;
}

function send(method, path, body, token, { headers: given, ...more } = {}) {
  const headers = { ...given };
  if (token) headers.Authorization = `Bearer ${token}`;
  const file = body instanceof Blob;
  if (body !== undefined) headers["Content-Type"] = file ? body.type || "application/octet-stream" : "application/json";
  // Bytes of a file go as they are.
  const sent = body === undefined || file || body instanceof Uint8Array ? body : stringify(body);
  return whole(fetch(path, { method, headers, body: sent, credentials: "omit", cache: "no-store", ...more }));
}

/** What a browser says of a connection that it could not make, or that broke, is another sentence in each. */
const whole = (response) =>
  response.catch(() => {
    throw new Unreachable();
  });

async function read(response) {
  const text = await whole(response.text());
  let value = null;
  try {
    value = text === "" ? null : parse(text);
  } catch (error) {
    // What stands between this page and the server may respond with anything.
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (!response.ok) throw new Refusal(response.status, value);
  return value;
}

function withQuery(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") parameters.append(name, value);
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}
