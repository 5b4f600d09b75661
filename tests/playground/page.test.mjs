// The page in Chromium, under the policy that the server sends.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { APPEARANCES, cases, faults, files, launch, newPage, root, sample, serve } from "./tools.mjs";

let server;
let browser;
let page;
let requests;
let complaints;

before(async () => {
  server = await serve(join(root, "target/playground"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** A new page in the place of the last. */
async function open({ hash = "", width = 1280, dark = false, clipboard = true } = {}) {
  await page?.context().close();
  ({ page, requests, complaints } = await newPage(browser, { width, dark, permissions: clipboard ? ["clipboard-read", "clipboard-write"] : [] }));
  await page.goto(server.url + hash);
}

const settled = () => page.locator("#findings[data-outcome]").waitFor();
const outcome = () => page.locator("#findings").getAttribute("data-outcome");
const press = (name) => page.getByRole("button", { name, exact: true }).click();

async function choose(name, bytes) {
  await page.locator("input[type=file]").setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(bytes) });
  await settled();
}

const BROKEN = "examples/broken-invoices.json";
const selected = () => page.$eval("textarea", (area) => area.value.slice(area.selectionStart, area.selectionEnd));
const text = (bytes) => new TextDecoder().decode(bytes);

test("all files together are small", async () => {
  let size = 0;
  for (const entry of await files("target/playground")) {
    if (entry.isFile()) size += gzipSync(await readFile(join(entry.parentPath, entry.name)), { level: 9 }).length;
  }
  assert.ok(size <= 700 * 1024, `${size} bytes`);
});

test("chosen files have the codes of the table, as their bytes", async () => {
  await open();
  assert.equal(await outcome(), null);
  for (const { name, bytes, required } of (await cases()).filter((_, index) => index % 5 === 0)) {
    await choose(`${name}.json`, bytes);
    const codes = await page.$$eval("#findings [data-code]", (found) => [...new Set(found.map((one) => one.dataset.code))].sort());
    assert.deepEqual(codes, [...required.codes].sort(), name);
  }
  await choose("bytes.json", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d));
  assert.equal(await page.locator("[data-code=J001]").count(), 1);
  assert.deepEqual(complaints, []);
  assert.ok(requests.every((url) => url.startsWith(server.url)), requests.join("\n"));
});

test("a dropped file is checked, wherever it is dropped", async () => {
  await open();
  const content = text(await sample(BROKEN));
  const dropped = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([content], "dropped.json"));
    return transfer;
  }, content);
  await page.dispatchEvent("header", "dragover", { dataTransfer: dropped });
  await page.locator("#drop:not([hidden])").waitFor();
  await page.dispatchEvent("header", "drop", { dataTransfer: dropped });
  await settled();
  assert.equal(await outcome(), "findings");
  assert.match(await page.locator("#name").textContent(), /dropped\.json/);
  assert.equal(await page.locator("#drop").isHidden(), true);
});

test("the name of a file steers nothing that is read", async () => {
  await open();
  await choose("a\u202enosj.exe\u009b31m.json", "[1]");
  assert.match(await page.locator("#name").textContent(), /^a\ufffdnosj\.exe\ufffd31m\.json, 3 bytes$/);
});

test("a finding's control, focused and pressed, selects its text", async () => {
  await open();
  const bytes = await sample(BROKEN);
  for (const content of [bytes, Buffer.from(`\ufeff${text(bytes).replaceAll("\n", "\r\n")}`)]) {
    await choose("a.json", content);
    const control = page.locator("[data-code=S017] button");
    assert.equal(await control.count(), 1);
    assert.equal(await page.locator("[data-code=S017]").first().getAttribute("data-severity"), "error");
    await control.focus();
    await page.keyboard.press("Enter");
    assert.equal(await selected(), '"curency"');
    assert.equal(await page.evaluate(() => document.activeElement.id), "editor");
  }
});

test("typing checks, and a check that runs has no outcome", async () => {
  await open();
  const editor = page.locator("textarea");
  // Not a large one: to insert 2,000 lines takes Chromium seconds, whatever the page does.
  await editor.fill(text(await sample("examples/reading-list.json")));
  assert.equal(await outcome(), null);
  await settled();
  assert.equal(await outcome(), "clean");
  await editor.press("Control+End");
  await editor.pressSequentially("x");
  await page.locator("[data-code=J001]").waitFor();
  await editor.press("Backspace");
  await page.locator('#findings[data-outcome="clean"]').waitFor();
  await editor.fill("");
  await page.locator("#welcome").waitFor();
  assert.equal(await outcome(), null);
});

test("Fix all does what the command does, can be undone, and each fix alone", async () => {
  await open();
  await choose("a.json", await sample(BROKEN));
  const count = await page.locator("[data-code]").count();
  const before = await page.locator("textarea").inputValue();
  const fix = page.locator("li:has([data-code=R025]) .fix");
  await fix.click();
  await page.locator("[data-code=R025]").waitFor({ state: "detached" });
  assert.equal(await page.locator("[data-code]").count(), count - 1);
  await press("Fix all");
  await page.getByText("Fixed what can be fixed safely.").waitFor();
  await settled();
  assert.equal(await page.locator("li:has([data-code]) .fix:not(:has(small))").count(), 0);
  await page.locator("textarea").press("Control+z");
  await page.locator("textarea").press("Control+z");
  assert.equal(await page.locator("textarea").inputValue(), before);
});

test("a fix changes only the text that was checked", async () => {
  await open();
  await choose("a.json", await sample(BROKEN));
  const before = await page.locator("textarea").inputValue();
  // What is typed has not been checked yet.
  const typed = await page.evaluate(async () => {
    const area = document.querySelector("textarea");
    area.focus();
    area.setSelectionRange(0, 0);
    document.execCommand("insertText", false, "\n\n");
    await new Promise((done) => setTimeout(done));
    document.querySelector("li:has([data-code=R025]) .fix").click();
    document.querySelector("[data-code=S017] button").click();
    return [area.value, area.value.slice(area.selectionStart, area.selectionEnd)];
  });
  assert.deepEqual(typed, [`\n\n${before}`, ""]);
  await settled();
  await page.locator("textarea").press("Control+z");
  await settled();

  // The second press of two is about the text before the first.
  const twice = await page.evaluate(() => {
    const control = document.querySelector("li:has([data-code=R025]) .fix");
    control.click();
    control.click();
    return document.querySelector("textarea").value;
  });
  await settled();
  await choose("a.json", await sample(BROKEN));
  await page.locator("li:has([data-code=R025]) .fix").click();
  assert.equal(twice, await page.locator("textarea").inputValue());
  assert.notEqual(twice, before);
  assert.deepEqual(complaints, []);
});

test("what a person does last holds, however late the rest comes", async () => {
  await open();
  let release;
  const held = new Promise((done) => (release = done));
  await page.route("**/examples/*", async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest("**/examples/*");
  await press("Try one with mistakes");
  await asked;
  const editor = page.locator("textarea");
  await editor.fill('{"mine": 1}');
  await settled();
  const arrived = page.waitForResponse("**/examples/*");
  release();
  await (await arrived).finished();
  await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
  assert.deepEqual([await editor.inputValue(), await page.locator("#name").textContent()], ['{"mine": 1}', ""]);

  await page.evaluate(() => {
    const read = Blob.prototype.arrayBuffer;
    const slow = new Promise((done) => (window.letGo = done));
    Blob.prototype.arrayBuffer = async function () {
      if (this.name === "slow.json") await slow;
      return read.call(this);
    };
  });
  const slow = { name: "slow.json", mimeType: "application/json", buffer: Buffer.from("{}") };
  await page.locator("input[type=file]").setInputFiles(slow);
  await choose("quick.json", "[1]");
  await page.evaluate(() => (window.letGo(), new Promise((done) => setTimeout(done, 100))));
  assert.deepEqual([await editor.inputValue(), await outcome()], ["[1]", "findings"]);
  assert.match(await page.locator("#name").textContent(), /^quick\.json/);
});

test("checks that cannot be loaded may be tried again", async () => {
  let away = true;
  await open();
  await page.route("**/*.lzma", (route) => (away ? route.abort() : route.continue()));
  await choose("a.json", await sample("examples/reading-list.json"));
  assert.equal(await outcome(), "failed");
  await page.getByText("The checks cannot be loaded: the server cannot be reached.").waitFor();
  assert.deepEqual(await faults(page, "playground failed"), []);
  away = false;
  await press("Check again");
  await page.locator('#findings[data-outcome="clean"]').waitFor();
});

test("Promotion shows five verdicts that are no findings", async () => {
  await open();
  await choose("a.json", await sample(BROKEN));
  await press("Promotion");
  await page.locator(".verdict").first().waitFor();
  assert.equal(await page.locator(".verdict").count(), 5);
  assert.equal(await page.locator("#view [data-code]").count(), 0);
  await page.locator(".verdict .place").first().click();
  assert.equal(await page.evaluate(() => document.activeElement.id), "editor");
});

test("Graph is an inline picture in the colours of its sheet", async () => {
  await open();
  await choose("a.json", await sample("examples/crm.json"));
  await press("Graph");
  await page.locator("#view svg[role=img]").waitFor();
  const fill = await page.$eval("#view svg .node .bar", (bar) => getComputedStyle(bar).fill);
  assert.notEqual(fill, "rgb(0, 0, 0)");
  await page.getByLabel("Draw").selectOption("er");
  await page.locator("#view svg").getByText("name: text").first().waitFor();
  await press("Graph");
  assert.equal(await page.locator("#view").isHidden(), true);
  assert.deepEqual(complaints, []);
});

test("Report is styled in a sandboxed frame, and its anchors stay there", async () => {
  await open();
  await choose("a.json", await sample("examples/crm.json"));
  await press("Report");
  const element = page.locator("#view iframe");
  assert.equal(await element.getAttribute("sandbox"), "");
  const report = page.frameLocator("#view iframe");
  await report.getByRole("heading", { level: 1 }).waitFor();
  const frame = page.frames()[1];
  await frame.waitForFunction(() => getComputedStyle(document.querySelector("nav ul")).listStyleType === "none");
  await frame.evaluate(() => document.querySelector("nav a[href='#plan']").click());
  await frame.waitForFunction(() => scrollY > 0);
  assert.equal(frame.url(), "about:srcdoc#plan");
  assert.deepEqual(complaints.filter((text) => !text.includes("sandbox")), []);
});

test("Simulate applies, applies again and undoes; or says what has to be decided", async () => {
  await open();
  await choose("a.json", await sample("examples/crm.json"));
  await press("Simulate");
  await page.locator("#view").getByText("the workspace is what it was before").waitFor();
  await choose("b.json", await sample("examples/service-desk.json"));
  await page.locator("#view").getByText("mapping_required").first().waitFor();
  await choose("c.json", await sample(BROKEN));
  await page.locator("#view").getByText("checks without errors").waitFor();
});

test("Share puts the package into the address and the clipboard", async () => {
  await open();
  const bytes = await sample(BROKEN);
  await choose("a.json", bytes);
  await press("Share");
  await page.getByText("Link copied").waitFor();
  const address = page.url();
  assert.match(address, /#p=[\w-]+$/);
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);
  await open({ hash: new URL(address).hash });
  await settled();
  assert.equal(await page.locator("textarea").inputValue(), text(bytes));
  assert.deepEqual(complaints, []);
});

test("a damaged link shows a message, and the page lives on", async () => {
  for (const hash of ["#p=", "#p", "#elsewhere", "#p=%%%", "#p=AAAA", `#p=${"x".repeat(500)}`]) {
    await open({ hash });
    await page.getByRole("alert").getByText("This link is damaged").waitFor();
    await choose("a.json", await sample("examples/crm.json"));
    assert.equal(await outcome(), "clean");
  }
});

test("a link over 1 MB is refused with the reason", async () => {
  await open();
  const noise = randomBytes(900_000).toString("base64");
  await choose("a.json", Buffer.from(JSON.stringify({ noise })));
  await press("Share");
  await page.getByRole("alert").getByText(/at most 1 MB/).waitFor();
  assert.equal(await page.evaluate(() => location.hash), "");
});

test("axe finds nothing, at any width, in any colours, with any view", async () => {
  const violations = [];
  for (const { width, dark, name } of APPEARANCES) {
    await open({ width, dark });
    const run = async (state) => violations.push(...(await faults(page, `playground ${name} ${state}`)));
    await run("empty");
    await choose("a.json", await sample(BROKEN));
    await run("findings");
    for (const view of ["Promotion", "Graph", "Report", "Simulate"]) {
      await press(view);
      await page.locator("#view:not([aria-busy]) > *").first().waitFor();
      await run(view);
    }
    await choose("b.json", await sample("examples/crm.json"));
    await page.locator("#view:not([aria-busy]) > *").first().waitFor();
    await run("clean");
  }
  assert.deepEqual(violations, []);
});

test("the keyboard reaches every control, and leaves the editor", async () => {
  await open();
  await choose("a.json", await sample(BROKEN));
  const reached = [];
  await page.evaluate(() => document.activeElement?.blur());
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim().slice(0, 20)));
  }
  for (const name of ["file", "fix-all", "share", "editor", "Promotion", "Graph", "Report", "Simulate"]) {
    assert.ok(reached.includes(name), `${name}: ${reached.join(", ")}`);
  }
});
