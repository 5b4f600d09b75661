// What the tests share: what npm brought, a server of files, the sample packages.
import { createServer } from "node:http";
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");
/** Loads what scripts/test-playground has installed. */
export const need = createRequire(join(root, "target/npm/package.json"));

/** The policy that the server of tplkit sends. */
export const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml", json: "application/json" };

/** Serves a folder on a free port of this machine. */
export async function serve(folder) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    try {
      const body = await readFile(join(folder, pathname === "/" ? "index.html" : pathname));
      const type = TYPES[pathname === "/" ? "html" : pathname.split(".").pop()] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "content-security-policy": POLICY }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

const CASES = join(root, "tests/fixtures/cases");

/** The sample packages with what the table says of each: `{ name, bytes, required }`. */
export async function cases() {
  const table = JSON.parse(await readFile(join(CASES, "expected.json"), "utf8"));
  const entries = ["valid", "mutants"].flatMap((kind) => Object.entries(table[kind]).map(([name, required]) => ({ kind, name, required })));
  return Promise.all(
    entries.map(async ({ kind, name, required }) => ({ name, required: kind === "valid" ? { codes: [] } : required, bytes: new Uint8Array(await readFile(join(CASES, kind, `${name}.json`))) })),
  );
}

/** A sample, or an example, as bytes. */
export const sample = async (path) => new Uint8Array(await readFile(join(root, path)));

export const files = (folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true });
