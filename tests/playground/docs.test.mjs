// The first page of the API in Chromium, as `serve --demo` shows it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { APPEARANCES, built, faults, launch, newPage, serving } from "./tools.mjs";

const program = built("tplkit-server");
const skip = !program && "there is no tplkit-server in target";

let server;
let browser;

before(async () => {
  if (skip) return;
  server = await serving(program, "--demo");
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

async function open(options) {
  const opened = await newPage(browser, options);
  await opened.page.goto(server.url);
  return opened;
}

test("the address leads to the guide, in order, and nothing more is asked for", { skip }, async () => {
  const { page, requests, complaints } = await open();
  assert.equal(new URL(page.url()).pathname, "/docs");
  const steps = await page.$$eval("section[data-step]", (sections) => sections.map((section) => section.dataset.step));
  assert.deepEqual(steps, ["sign in", "list", "filter", "sort", "page", "create", "batch", "idempotency", "errors", "apply a template", "watch a job"]);
  const levels = await page.$$eval("h1, h2, h3, h4", (headings) => headings.map((heading) => Number(heading.tagName[1])));
  assert.equal(levels.filter((level) => level === 1).length, 1);
  assert.ok(levels.every((level, at) => at === 0 || level <= levels[at - 1] + 1));
  const before = requests.length;
  await page.getByLabel("Search").fill("idempotency");
  await page.locator("#hits a").first().waitFor();
  assert.equal(requests.length, before);
  assert.ok(requests.every((url) => url.startsWith(server.url)), requests.join("\n"));
  assert.deepEqual(complaints, []);
});

test("the search finds operations, schemas and steps, and leads there", { skip }, async () => {
  const { page } = await open();
  const search = page.getByLabel("Search");
  for (const [words, id] of [["POST rows:batch", "create_rows"], ["RowBatchResult", "schema-RowBatchResult"], ["watch", "step-watch-a-job"]]) {
    await search.fill(words);
    await search.press("Enter");
    await page.waitForFunction((id) => location.hash === `#${id}`, id);
    assert.ok(await page.locator(`[id="${id}"]`).isVisible());
  }
  await search.fill("no such words");
  await page.getByText("Nothing found").waitFor();
});

test("every link leads somewhere", { skip }, async () => {
  const { page } = await open();
  const lost = await page.$$eval('a[href^="#"]', (links) => links.map((link) => link.getAttribute("href").slice(1)).filter((id) => !document.getElementById(id)));
  assert.deepEqual(lost, []);
  const doubled = await page.$$eval("[id]", (all) => all.map(({ id }) => id).filter((id, at, ids) => ids.indexOf(id) !== at));
  assert.deepEqual(doubled, []);
  const [addresses] = await page.$$eval('a[href^="/"]', (links) => [links.map((link) => link.href)]);
  for (const url of new Set(addresses)) assert.equal((await page.request.get(url)).status(), 200, url);
});

test("a page has a picture that browsers find", { skip }, async () => {
  const { page } = await open();
  for (const path of ["/docs", "/console"]) {
    await page.goto(server.url + path);
    const icon = await page.request.get(new URL(await page.locator('link[rel="icon"]').getAttribute("href"), server.url).href);
    assert.equal(icon.status(), 200);
    assert.equal(icon.headers()["content-type"], "image/svg+xml");
  }
});

test("a command can be copied", { skip }, async () => {
  const { page } = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("button", { name: "Copy: List rows" }).click();
  const command = await page.locator('[data-step="list"] pre').first().textContent();
  await page.getByText("Copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
});

test("axe finds nothing, at any width, in any colours", { skip }, async () => {
  const violations = [];
  for (const { width, dark, name } of APPEARANCES) {
    const { page } = await open({ width, dark });
    // All sections of a kind come from one template, and axe takes long on hundreds of them.
    if (process.env.TPLKIT_QUICK) await page.$$eval("section.operation:nth-of-type(n + 3), section.schema ~ section.schema ~ section.schema", (sections) => sections.forEach((section) => section.remove()));
    violations.push(...(await faults(page, `docs ${name}`)));
    await page.context().close();
  }
  assert.deepEqual(violations, []);
});
