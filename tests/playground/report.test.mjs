// The page of `tplkit report` in Chromium: on a telephone, on a desktop, and on paper.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { APPEARANCES, built, faults, launch, newPage, root } from "./tools.mjs";

const program = process.env.TPLKIT_BIN ?? built("tplkit");
const skip = !program && "there is no tplkit in target";

let browser;
let folder;
let address;

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "report-"));
  const file = join(folder, "crm.html");
  execFileSync(program, ["report", join(root, "examples/crm.json"), "-o", file], { stdio: "ignore" });
  address = pathToFileURL(file).href;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true });
});

test("on paper every cell stays within its column, and every column within the sheet", { skip }, async () => {
  const { page } = await newPage(browser, { width: 720 });
  await page.emulateMedia({ media: "print" });
  await page.goto(address);
  const cells = await page.$$eval(".preview td", (cells) => cells.filter((cell) => cell.getBoundingClientRect().width > 0).length);
  assert.ok(cells > 100, `${cells} cells`);
  const outside = await page.$$eval(".preview td", (cells) =>
    cells.flatMap((cell) => {
      const { right } = cell.getBoundingClientRect();
      const inner = [...cell.querySelectorAll("*")].map((part) => part.getBoundingClientRect().right);
      return inner.some((edge) => edge > right + 1) || right > innerWidth ? [cell.textContent] : [];
    }),
  );
  assert.deepEqual(outside, []);
});

test("axe finds nothing in a report, at any width, in any colours", { skip }, async () => {
  const violations = [];
  for (const { width, dark, name } of APPEARANCES) {
    const { page, requests, complaints } = await newPage(browser, { width, dark });
    await page.goto(address);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    violations.push(...(await faults(page, `report ${name}`)));
    assert.deepEqual([requests, complaints], [[address], []]);
    await page.context().close();
  }
  assert.deepEqual(violations, []);
});

test("a telephone leads to each table, by the keyboard too, and a desktop shows the way at once", { skip }, async () => {
  for (const width of [390, 1280]) {
    const { page } = await newPage(browser, { width });
    await page.goto(address);
    const links = page.locator("nav .within a");
    const tables = await page.locator("details.card[id^=table-]").count();
    assert.equal(await links.count(), tables);
    assert.equal(await links.first().isVisible(), width > 960);
    if (width < 960) {
      await page.locator("nav summary").focus();
      await page.keyboard.press("Enter");
      await links.first().waitFor({ state: "visible" });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
    } else {
      assert.equal(await page.locator("nav summary").isVisible(), false);
      await links.first().click();
    }
    await page.waitForFunction(() => location.hash === "#table-0");
    await page.context().close();
  }
});
