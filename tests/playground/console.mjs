// The console in Chromium, next to a demonstration. Each file of tests that imports this has a server and a browser of its own.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { built, launch, newPage, serving } from "./tools.mjs";

const program = built("tplkit-server");
export const skip = !program && "there is no tplkit-server in target";
/** What a quick run leaves out. */
export const further = skip || (process.env.TPLKIT_QUICK && "a quick run");

export let server;
let browser;

/** The page that was opened last, with what it asked for and what the browser complained about. */
export let page;
export let requests;
export let complaints;

before(async () => {
  if (skip) return;
  server = await serving(program, "--demo", "--rate-limit", "off");
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

const printed = (words) => server.lines.find((line) => line.startsWith(words)).slice(words.length).trim();

/** A request with the key of the demonstration; a text is sent as it is. */
export async function api(method, path, body) {
  const headers = { authorization: `Bearer ${printed("API key")}`, "content-type": "application/json" };
  const response = await fetch(server.url + path, { method, headers, body: typeof body === "string" ? body : body && JSON.stringify(body) });
  return response.status === 204 ? null : response.json();
}

/** In the browser of the file, or in another one. */
export async function open({ from = browser, ...options } = {}) {
  await page?.context().close();
  ({ page, requests, complaints } = await newPage(from, options));
  await page.goto(`${server.url}/console`);
}

export const button = (name) => page.getByRole("button", { name, exact: true });

/** Opens the page, and signs in. */
export async function signIn(options) {
  await open(options);
  await signInAgain();
  await page.getByRole("navigation", { name: "Workspaces" }).getByRole("button", { name: "Coffee shop" }).waitFor();
  await page.locator("#templates tbody tr").first().waitFor();
}

export async function signInAgain() {
  const [email, password] = printed("sign in").split(/\s+/);
  const form = page.getByRole("form", { name: "Sign in" });
  await form.getByLabel("E-mail").fill(email);
  await form.getByLabel("Password").fill(password);
  await button("Sign in").click();
}

export const workspace = (name) => page.getByRole("navigation", { name: "Workspaces" }).getByRole("button", { name, exact: true }).click();
export const table = (name) => page.getByRole("navigation", { name: "Tables" }).getByRole("button", { name, exact: true }).click();
export const cells = (column) => page.$$eval(`#grid tbody td:nth-child(${column})`, (found) => found.map((cell) => cell.textContent));
export const drop = (name, bytes) => page.getByLabel("Drop a package").setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(bytes) });
export const settled = (outcome) => page.locator(`#findings[data-outcome="${outcome}"]`).waitFor();
export const confirm = (word) => page.getByRole("dialog").getByRole("button", { name: word, exact: true }).click();

/** Applies what is planned; gives the question. */
export async function applied() {
  await page.locator("#apply:enabled").click();
  const said = await page.getByRole("dialog").textContent();
  // The report of an earlier job stands there until then.
  const looked = page.waitForResponse((response) => response.url().includes("/v1/template-jobs/"));
  await confirm("Apply");
  await looked;
  await page.getByText("Completed").waitFor();
  return said;
}

export const named = (records, name) => records.find((record) => record.name === name);

export const templatesOf = async (name) => (await api("GET", "/v1/templates")).items.filter((record) => record.name === name);

/** Waits until the catalog has no template of that name: the page asks for that on its own, after what it shows. */
export async function isGone(name) {
  for (let tries = 0; tries < 100 && (await templatesOf(name)).length > 0; tries += 1) await new Promise((done) => setTimeout(done, 50));
  assert.deepEqual(await templatesOf(name), []);
}
