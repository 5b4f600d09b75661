// The client with types from the document of the API, and what becomes of its responses.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import createClient, { type Middleware } from "openapi-fetch";
import type { paths } from "./schema.js";

export const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`set ${name}`);
  return value;
};

export const client = createClient<paths>({ baseUrl: setting("URL") });

interface Outcome<T> {
  data?: T;
  error?: { code: string; detail: string };
  response: Response;
}

/** The body of a success; a refusal is an error with its code. */
export function body<T>({ data, error, response }: Outcome<T>): T {
  if (error) throw new Error(`${error.code}: ${error.detail}`);
  assert(response.ok && data !== undefined);
  return data;
}

/** A success without a body. */
export function done({ error, response }: Outcome<undefined>): void {
  if (error) throw new Error(`${error.code}: ${error.detail}`);
  assert.equal(response.status, 204);
}

export async function signIn(email: string, password: string): Promise<void> {
  const tokens = body(await client.POST("/v1/auth/token", { body: { email, password } }));
  assert(tokens.token_type === "bearer" && tokens.expires_in > 0);
  const { refresh_token } = tokens;
  const { access_token } = body(await client.POST("/v1/auth/refresh", { body: { refresh_token } }));
  const bearer: Middleware = {
    onRequest: ({ request }) => request.headers.set("authorization", `Bearer ${access_token}`),
  };
  client.use(bearer);
}

/** Every record of a list, page after page. */
export async function* pages<T>(
  read: (cursor: { cursor?: string }) => Promise<{ items: T[]; next_cursor: string | null }>,
): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: { items: T[]; next_cursor: string | null } = await read(cursor === null ? {} : { cursor });
    yield* page.items;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

/** Reads something until it has come to an end. */
export async function ended<T>(read: () => Promise<T>, hasEnded: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await read();
    if (hasEnded(found)) return found;
    await sleep(100);
  }
}
