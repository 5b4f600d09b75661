// What the tests share: what npm brought, Chromium with axe, a server of files, a demonstration, the sample packages.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
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

/** A program that scripts/test has built, where there is one. */
export const built = (name) => [process.env.TPLKIT_BIN && join(process.env.TPLKIT_BIN, "..", name), ...["ci", "debug", "release"].map((profile) => join(root, "target", profile, name))].find((path) => path && existsSync(path));

/** Starts `tplkit-server serve` with what it needs; `{ url, lines, close }`. */
export async function serving(program, ...options) {
  const child = spawn(program, ["serve", "--listen", "127.0.0.1:0", ...options], { stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  const wanted = options.includes("--demo") ? 8 : 1;
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    printed += chunk;
    if (printed.split("\n").length > wanted) break;
  }
  const lines = printed.split("\n");
  return { url: lines[0].replace("listening on ", ""), lines, close: () => child.kill() };
}

/** Chromium, as scripts/test-playground found it. */
export const launch = (more = {}) => need("playwright-core").chromium.launch({ executablePath: process.env.TPLKIT_CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"], ...more });

/** A page; what the browser complains about, and what it asks for, is kept: `{ page, requests, complaints }`. */
export async function newPage(browser, { width = 1280, dark = false, permissions = [] } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: dark ? "dark" : "light", permissions });
  const page = await context.newPage();
  const [requests, complaints] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (entry) => ["error", "warning"].includes(entry.type()) && complaints.push(entry.text()));
  return { page, requests, complaints };
}

const axe = readFileSync(need.resolve("axe-core/axe.min.js"), "utf8");

/** What is wrong with a page for whoever cannot see or point, and whether it is too wide for its window. */
export async function faults(page, state) {
  const found = await page.evaluate(`${axe}; axe.run({ iframes: false })`);
  const said = found.violations.map(({ id, nodes }) => `${state}: ${id} ${nodes.map((node) => node.html).join(" | ").slice(0, 300)}`);
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) said.push(`${state}: the page is wider than its window`);
  if (process.env.TPLKIT_PICTURES) await page.screenshot({ path: join(process.env.TPLKIT_PICTURES, `${state.replaceAll(/\W+/g, "-")}.png`) });
  return said;
}

/** Widths and colours in which every page is looked at; in a quick run a telephone in the dark alone. */
export const APPEARANCES = [390, 1280]
  .flatMap((width) => [false, true].map((dark) => ({ width, dark, name: `${width} ${dark ? "dark" : "light"}` })))
  .filter(({ width, dark }) => !process.env.TPLKIT_QUICK || (width === 390 && dark));
