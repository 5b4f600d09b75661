// The session and the requests. Tokens are variables of this module: a reload forgets them, nothing stores them.
import { parse, stringify } from "./json.js";

let tokens = null;
let renewing = null;
const ended = new EventTarget();

/** A refusal of the server; `problem` is its document. */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem?.detail || problem?.title || `The server returned status ${status}.`);
    this.status = status;
    this.problem = problem ?? {};
  }
}

/** Calls `listener` when the session is over. */
export const whenEnded = (listener) => ended.addEventListener("ended", listener);

export async function signIn(email, password) {
  const response = await send("POST", "/v1/auth/token", { email, password }, null);
  // The API says the same of every credential; whoever typed these two knows which it is about.
  if (response.status === 401) throw new Error("No account has this e-mail and this password.");
  tokens = await read(response);
}

export async function signOut() {
  const { refresh_token } = tokens ?? {};
  tokens = null;
  if (refresh_token) await send("POST", "/v1/auth/logout", { refresh_token }, null).catch(() => {});
  ended.dispatchEvent(new Event("ended"));
}

export const get = (path, query) => ask("GET", withQuery(path, query));
export const post = (path, body, query) => ask("POST", withQuery(path, query), body);
export const patch = (path, body, query) => ask("PATCH", withQuery(path, query), body);
export const put = (path, body) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

/** A page of rows; `unknown` has the names in the query that are not columns of the table. */
export async function rows(path, query) {
  const response = await asked("GET", withQuery(path, query));
  const unknown = (response.headers.get("X-Unknown-Columns") ?? "").split(",").filter(Boolean);
  return { ...(await read(response)), unknown: unknown.map((name) => decodeURIComponent(name.trim())) };
}

/** Takes something away although this page goes: the browser sends it on its own. */
export const removeOnTheWay = (path) => void send("DELETE", path, undefined, tokens?.access_token, { keepalive: true }).catch(() => {});

/** A file, or a document byte for byte. */
export const bytes = async (path) => (await responded("GET", path)).blob();

/** All records of a list, page after page, up to a number that a person can look through. */
export async function all(path, query = {}, most = 1000) {
  const items = [];
  let cursor;
  do {
    const page = await get(path, { ...query, limit: 200, ...(cursor && { cursor }) });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && items.length < most);
  return items;
}

const ask = async (method, path, body) => read(await asked(method, path, body));

async function responded(method, path) {
  const response = await asked(method, path);
  return response.ok ? response : read(response);
}

async function asked(method, path, body) {
  let response = await patiently(method, path, body);
  if (response.status === 401 && (await renewed())) response = await send(method, path, body, tokens.access_token);
  if (response.status === 401) {
    tokens = null;
    ended.dispatchEvent(new Event("ended"));
  }
  return response;
}

/** Waits as long as the server asks for, a few times: of a long catalog each template is read. */
async function patiently(method, path, body) {
  for (let tries = 0; ; tries += 1) {
    const response = await send(method, path, body, tokens?.access_token);
    if (response.status !== 429 || tries === 5) return response;
    await new Promise((done) => setTimeout(done, 1000 * (Number(response.headers.get("Retry-After")) || 1)));
  }
}

/** Exchanges the pair of tokens, once for all requests that found it too old. */
async function renewed() {
  if (!tokens) return false;
  renewing ??= send("POST", "/v1/auth/refresh", { refresh_token: tokens.refresh_token }, null).finally(() => (renewing = null));
  const response = (await renewing).clone();
  if (response.ok) tokens = await response.json();
  return response.ok;
}

function send(method, path, body, token, more = {}) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  const file = body instanceof Blob;
  if (body !== undefined) headers["Content-Type"] = file ? body.type || "application/octet-stream" : "application/json";
  // Bytes of a file go as they are.
  const sent = body === undefined || file || body instanceof Uint8Array ? body : stringify(body);
  return fetch(path, { method, headers, body: sent, credentials: "omit", cache: "no-store", ...more });
}

async function read(response) {
  const text = await response.text();
  let value = null;
  try {
    value = text === "" ? null : parse(text);
  } catch {
    // What stands between this page and the server may respond with anything.
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
