// The extension in VS Code: what people see and do, from opening a package to saving it.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { codes, eventually, start, tplkit } from "./editor.mjs";

const BROKEN = "examples/broken-invoices.json";
/** A package that is not as `fmt` writes it, and a file that is no package. */
const CROOKED = { text: '{"templateVersion":2,\n"name":"notes"}\n' };
const FORMATTED = '{\n    "a": 1\n}';
const PLAIN = { text: '{"a":1}\n' };
let editor;

afterEach(async (context) => {
  await editor?.picture(context.name.replaceAll(/\W+/g, "-"));
  await editor?.close();
  editor = undefined;
});

test("findings, hover, a fix, save", async () => {
  editor = await start({ files: { "invoices.json": BROKEN } });
  const { page } = editor;
  await editor.open("invoices.json");
  // Each once, although VS Code can learn of them in two ways.
  await editor.counted(8, 1);
  await editor.goTo("curency");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Control+i");
  const hover = page.locator(".monaco-hover", { hasText: "unknown-column-type" });
  await hover.getByRole("heading", { name: "Failing" }).waitFor();
  await editor.picture("hover");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+.");
  await page.locator(".action-widget .monaco-list-row", { hasText: "Write `currency`" }).click();
  await editor.counted(7, 1);
  await editor.save("invoices.json");
  const left = codes(join(editor.folder, "invoices.json"));
  assert.equal(left.length, 8);
  assert.ok(!left.includes("S017"), left.join());
});

test("saving fixes what is safe to fix, where the setting says so", async () => {
  const settings = { "editor.codeActionsOnSave": { "source.fixAll.tplkit": "explicit" } };
  editor = await start({ files: { "invoices.json": BROKEN, "fixed.json": BROKEN }, settings });
  const fixed = join(editor.folder, "fixed.json");
  tplkit("check", "--fix", fixed);
  await editor.open("invoices.json");
  await editor.counted(8, 1);
  await editor.page.keyboard.press("Control+s");
  const wanted = await editor.read("fixed.json");
  await editor.until("invoices.json", wanted);
});

test("keys and a command format a package, and VS Code formats what is none", async () => {
  editor = await start({ files: { "notes.json": CROOKED, "plain.json": PLAIN, "wanted.json": CROOKED } });
  const { page } = editor;
  tplkit("fmt", join(editor.folder, "wanted.json"));
  const wanted = await editor.read("wanted.json");
  assert.notEqual(wanted, CROOKED.text);
  await editor.open("notes.json");
  await page.locator(".squiggly-error").first().waitFor();
  await page.keyboard.press("Control+Shift+i");
  await page.locator(".tab.active.dirty").waitFor();
  assert.equal(await editor.save("notes.json"), wanted);
  // One formatter has this file, so that VS Code does not ask for one.
  await editor.open("plain.json");
  await editor.run("Format Document");
  await page.locator(".tab.active.dirty").waitFor();
  assert.equal(await editor.save("plain.json"), FORMATTED);
});

test("chosen for JSON, the formatter formats packages, and lets others format the rest", async () => {
  const settings = { "[json]": { "editor.defaultFormatter": "tplkit.tplkit" }, "editor.formatOnSave": true };
  editor = await start({ files: { "notes.json": CROOKED, "plain.json": PLAIN, "wanted.json": CROOKED }, settings });
  tplkit("fmt", join(editor.folder, "wanted.json"));
  const wanted = await editor.read("wanted.json");
  await editor.open("notes.json");
  await editor.page.locator(".squiggly-error").first().waitFor();
  await editor.page.keyboard.press("Control+s");
  await editor.until("notes.json", wanted);
  await editor.open("plain.json");
  await editor.page.keyboard.press("Control+s");
  await editor.until("plain.json", FORMATTED);
});

test("a ref is renamed in an unpacked folder, and its files with it", async () => {
  editor = await start({ files: { "inventory.json": "examples/inventory.json" } });
  const { page, folder } = editor;
  const [unpacked, packed] = [join(folder, "inventory"), join(folder, "packed.json")];
  tplkit("unpack", join(folder, "inventory.json"), unpacked);
  await editor.open("moves_checked.json");
  await page.locator(".view-line span", { hasText: "$f_moves" }).last().click();
  // The name of the table stands behind its ref once the server has the document.
  await page.locator(".view-line", { hasText: "Stock moves" }).first().waitFor();
  await page.keyboard.press("F2");
  await page.locator(".rename-box input").fill("f_movements");
  await page.keyboard.press("Enter");
  // VS Code saves what a rename changes, one file after the other.
  await eventually(async () => {
    tplkit("pack", unpacked, "-o", packed);
    const text = await editor.read("packed.json");
    assert.ok(text.includes('"$f_movements"') && !/f_moves\b/.test(text));
    assert.deepEqual(codes(packed), []);
  });
  for (const name of ["features/movements.json", "rows/movements.json", "rows/movements.jsonl"]) await editor.read(join("inventory", name));
});

test("without tplkit a package, and nothing else, brings the offer to install it", async () => {
  editor = await start({ files: { "invoices.json": BROKEN, "plain.json": PLAIN }, program: false });
  const { page } = editor;
  const offer = editor.notification("tplkit, which checks it, was not found");
  await editor.open("plain.json");
  // The extension has looked for it by then, and waits for nothing.
  await editor.run("tplkit: Show the log");
  await page.locator(".view-line", { hasText: "There is no tplkit in PATH" }).waitFor();
  assert.equal(await offer.count(), 0);
  await editor.open("invoices.json");
  await offer.waitFor();
  await editor.picture("offer");
  await offer.getByRole("button", { name: "Not again" }).click();
  await editor.until(editor.settings, (text) => text.includes('"tplkit.offerInstall": false'));
  // Nobody is asked again; whoever runs the command gets the offer.
  await editor.reload();
  await editor.open("invoices.json");
  await editor.run("tplkit: Show the log");
  await page.locator(".view-line", { hasText: "There is no tplkit in PATH" }).first().waitFor();
  assert.equal(await offer.count(), 0);
  await editor.run("tplkit: Restart the server");
  await editor.notification("tplkit was not found").getByRole("button", { name: "Install with pip" }).waitFor();
});

test("a tplkit.path that leads nowhere is shown, and a better one starts the server", async () => {
  editor = await start({ files: { "invoices.json": BROKEN }, program: false, settings: { "tplkit.path": "/nowhere/tplkit" } });
  await editor.open("invoices.json");
  await editor.notification("tplkit.path is /nowhere/tplkit").waitFor();
  await writeFile(editor.settings, JSON.stringify({ "tplkit.path": process.env.TPLKIT_BIN }));
  await editor.counted(8, 1);
});
