// A VS Code with the extension, seen in Chromium: what scripts/test-vscode has installed, a folder of files, and hands.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");
const home = join(root, "target/vscode");
const need = createRequire(join(home, "npm/package.json"));
const main = join(home, "package/lib/vscode/out/server-main.js");

/** Without what would only be in the way, or ask another host. */
const QUIET = {
  "chat.disableAIFeatures": true,
  // In a browser it saves by itself otherwise.
  "files.autoSave": "off",
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "telemetry.telemetryLevel": "off",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

/** What tplkit prints; finding something is no failure. */
export function tplkit(...words) {
  const { stdout, status } = spawnSync(process.env.TPLKIT_BIN, words, { encoding: "utf8" });
  if (status > 1) throw new Error(`tplkit ${words.join(" ")} exits with ${status}`);
  return stdout;
}

/** Does it again until it does not fail, for half a minute. */
export async function eventually(work) {
  const end = Date.now() + 30_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

/** The codes of a file's findings, as the command line reports them. */
export const codes = (file) => JSON.parse(tplkit("check", "--format", "json", file)).files[0].findings.map((one) => one.code);

/**
 * Starts VS Code with copies of `files` (`{ name: path in the repository, or { text } }`) in its folder, and with
 * or without tplkit in PATH.
 */
export async function start({ files, program = true, settings = {} }) {
  const folder = await mkdtemp(join(tmpdir(), "tplkit-vscode-"));
  const [bin, data, work] = ["bin", "data", "work"].map((name) => join(folder, name));
  const machine = join(data, "data/Machine/settings.json");
  await Promise.all([mkdir(bin), mkdir(work), mkdir(dirname(machine), { recursive: true })]);
  if (program) await symlink(process.env.TPLKIT_BIN, join(bin, "tplkit"));
  await writeFile(machine, JSON.stringify({ ...QUIET, ...settings }));
  for (const [name, from] of Object.entries(files)) {
    await (from.text === undefined ? cp(join(root, from), join(work, name)) : writeFile(join(work, name), from.text));
  }
  // No other tplkit than ours.
  const env = { ...process.env, PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` };
  const options = ["--server-data-dir", data, "--accept-server-license-terms", "--telemetry-level", "off"];
  execFileSync(process.execPath, [main, ...options, "--install-extension", join(home, "tplkit.vsix")], { env, stdio: "pipe" });
  const words = [main, ...options, "--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--disable-workspace-trust", "--force-disable-user-env"];
  const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "ignore"] });
  process.once("exit", () => child.kill());
  let said = "";
  // What it says later has to go somewhere, too.
  const output = child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false });
  for await (const chunk of output) {
    said += chunk;
    if (said.includes("agent started")) break;
  }
  child.stdout.resume();
  const port = /Web UI available at http:\/\/localhost:(\d+)/.exec(said)?.[1];
  if (!port) throw new Error(`VS Code does not start: ${said}`);
  const browser = await need("playwright-core").chromium.launch({ executablePath: process.env.TPLKIT_CHROMIUM, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  page.setDefaultTimeout(30_000);
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(work)}`);
  const editor = new Editor(page, work, machine, async () => {
    await browser.close();
    child.kill();
    await new Promise((done) => child.once("exit", done));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await editor.ready();
  return editor;
}

class Editor {
  constructor(page, folder, settings, close) {
    Object.assign(this, { page, folder, settings, close });
  }

  ready = () => this.page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();

  async reload() {
    await this.page.reload();
    await this.ready();
  }

  /** Takes what a list of choices has under this name. A list closes when something else takes the focus. */
  async choose(key, words, name) {
    const { page } = this;
    for (let last = 3; ; last -= 1) {
      await page.keyboard.press(key);
      const input = page.locator(".quick-input-widget input").first();
      try {
        await input.fill(words, { timeout: 3000 });
        await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name }).waitFor({ timeout: 5000 });
        return await input.press("Enter", { timeout: 3000 });
      } catch (error) {
        if (last === 0) throw error;
        await page.keyboard.press("Escape");
      }
    }
  }

  async open(name) {
    await this.choose("Control+p", name, name);
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
    await this.page.locator(".editor-instance .view-lines").first().waitFor();
  }

  run = (command) => this.choose("F1", `>${command}`, command.split(": ").at(-1));

  /** Saves, and waits until the disk has it. */
  async save(name) {
    await this.page.keyboard.press("Control+s");
    await this.page.locator(`.tab.active[data-resource-name="${name}"]:not(.dirty)`).waitFor();
    return this.read(name);
  }

  /** Waits until a file on the disk has this text, or one that is good. */
  until(name, wanted) {
    return eventually(async () => {
      const text = await this.read(name);
      const good = typeof wanted === "string" ? text === wanted : wanted(text);
      assert.ok(good, `${name}:\n${text.slice(0, 1000)}`);
    });
  }

  read = (name) => readFile(resolve(this.folder, name), "utf8");

  /** Waits for as many findings: `Errors: 8, Warnings: 1` in the status bar. */
  counted = (errors, warnings) => this.page.locator(`#status\\.problems[aria-label="Errors: ${errors}, Warnings: ${warnings}"]`).waitFor();

  /** Goes to a finding in the Problems view. */
  async goTo(message) {
    const { page } = this;
    if (!(await page.locator(".markers-panel").isVisible())) await page.keyboard.press("Control+Shift+m");
    await page.locator(".markers-panel .monaco-list-row", { hasText: message }).first().dblclick();
    await page.locator(".monaco-editor.focused").waitFor();
  }

  notification = (text) => this.page.locator(".notification-toast", { hasText: text });

  /** Keeps a picture where TPLKIT_PICTURES names a folder. */
  async picture(name) {
    if (process.env.TPLKIT_PICTURES) await this.page.screenshot({ path: join(process.env.TPLKIT_PICTURES, `${name}.png`) });
  }
}
