// The page: a package comes in by typing, file, drop, example or link; it is checked, and shown.
import { call } from "./engine.js";
import * as editor from "./editor.js";
import { visible } from "./element.js";
import * as findings from "./findings.js";
import * as views from "./views.js";
import { LinkError, carries, fragment, unpack } from "./share.js";

/** Milliseconds without a key press before what was typed is checked. */
const PAUSE = 120;

const byId = (id) => document.getElementById(id);
const [area, file, fixAll, share, name, message, drop] = ["editor", "file", "fix-all", "share", "name", "message", "drop"].map(byId);

let title = "";
let pause;
let running = false;
let stale = false;
let reading = false;
let turn = 0;

/** Of what a person does the last holds: whatever is still on its way for an earlier turn is dropped when it comes. */
function begin() {
  reading = false;
  return (turn += 1);
}

/** Checks what is there now. While a check runs, the next one waits for it, and only the last counts. */
async function check() {
  clearTimeout(pause);
  enable(!editor.isEmpty());
  if (editor.isEmpty()) return findings.empty();
  findings.checking();
  stale = true;
  if (running) return;
  running = true;
  while (stale) {
    stale = false;
    await checkOnce();
  }
  running = false;
}

async function checkOnce() {
  const current = () => !stale && !reading && !editor.isEmpty();
  const checked = editor.content();
  let document;
  try {
    document = await call("check", checked, { path: title || "package.json" });
  } catch (error) {
    if (current()) findings.failed(error.message, check);
    return;
  }
  if (!current()) return;
  const marks = new Map();
  for (const { line, severity } of document.files[0].findings) {
    if (marks.get(line) !== "error") marks.set(line, severity);
  }
  editor.mark(marks);
  // Places of the text that was checked are none of another: findings stay in sight until those of the next come.
  const ofChecked = (act) => (finding) => editor.content() === checked && act(finding);
  findings.show(document, {
    jump: ofChecked(({ offset, length }) => editor.select(offset, length)),
    fix: ofChecked(({ fix }) => put(editor.edited(fix.edits))),
  });
  await views.refresh();
}

function enable(enabled) {
  fixAll.disabled = !enabled;
  share.disabled = !enabled;
  views.enable(enabled);
}

function say(text, kind = "problem") {
  message.textContent = visible(text);
  message.className = kind;
  message.hidden = text === "";
}

function open(bytes, called) {
  say("");
  title = called;
  name.textContent = called && visible(`${called}, ${size(bytes.length)}`);
  editor.open(bytes);
  return check();
}

const size = (bytes) => (bytes < 1000 ? `${bytes} bytes` : bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`);

function put(bytes) {
  begin();
  editor.replace(bytes);
  return check();
}

async function openFile(chosen) {
  if (!chosen) return;
  const mine = begin();
  // What is shown is of the text before it.
  reading = true;
  findings.checking();
  try {
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    if (mine !== turn) return;
    reading = false;
    await open(bytes, chosen.name);
  } catch (error) {
    if (mine === turn) await missing(`${chosen.name} cannot be read: ${error.message}`);
  }
}

/** Says why something does not come. What is there instead is checked, where that was put off. */
async function missing(why) {
  reading = false;
  say(why);
  if (byId("findings").hasAttribute("aria-busy")) await check();
}

async function openLink() {
  if (!carries(location.hash)) return;
  const mine = begin();
  try {
    const bytes = await unpack(location.hash);
    if (mine === turn) await open(bytes, "");
  } catch (error) {
    if (mine === turn) await missing(error.message);
  }
}

let typing = false;
area.addEventListener("input", () => {
  if (editor.isReplacing() || typing) return;
  // A browser may announce every line of what is inserted: read the text once, when all of it is there.
  typing = true;
  queueMicrotask(typed);
});

function typed() {
  typing = false;
  begin();
  say("");
  editor.typed();
  clearTimeout(pause);
  if (editor.isEmpty()) {
    title = "";
    name.textContent = "";
    stale = false;
    check();
    return;
  }
  // A check that runs is of another text.
  stale = running;
  findings.checking();
  pause = setTimeout(check, PAUSE);
}

file.addEventListener("change", async () => {
  const [chosen] = file.files;
  await openFile(chosen);
  // So that the same file, changed, can be chosen again.
  file.value = "";
});

fixAll.addEventListener("click", async () => {
  say("");
  try {
    const [before, mine] = [editor.content(), turn];
    const fixed = new TextEncoder().encode(await call("fix", before));
    if (editor.content() !== before) {
      if (!same(fixed, editor.content())) say("The package was changed meanwhile. Press Fix all again.");
      return;
    }
    // A file that was chosen meanwhile is about to take its place.
    if (mine !== turn) return;
    if (same(fixed, before)) return say("Nothing here can be fixed safely without you.", "notice");
    await put(fixed);
    say("Fixed what can be fixed safely.", "notice");
  } catch (error) {
    say(error.message);
  }
});

const same = (one, other) => one.length === other?.length && one.every((byte, index) => byte === other[index]);

share.addEventListener("click", async () => {
  say("");
  const [address] = location.href.split("#");
  try {
    history.replaceState(null, "", await fragment(editor.content(), address));
  } catch (error) {
    return say(error instanceof LinkError ? error.message : `The link cannot be made: ${error.message}`);
  }
  const copied = await copy(location.href);
  say(copied ? "Link copied. The package is in the link itself." : "The link is in the address bar; this browser does not let the page copy it.", "notice");
});

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** The way of pages that the browser does not trust with the clipboard itself. */
function copySelected(text) {
  const holder = document.createElement("textarea");
  holder.value = text;
  holder.className = "offstage";
  document.body.append(holder);
  holder.select();
  const copied = document.execCommand("copy");
  holder.remove();
  share.focus();
  return copied;
}

byId("findings").addEventListener("click", async ({ target }) => {
  const example = target.closest?.("[data-example]")?.dataset.example;
  if (!example) return;
  const mine = begin();
  const loaded = await load(example);
  if (mine !== turn) return;
  if (typeof loaded === "string") await missing(`The example cannot be loaded: ${loaded}`);
  else await open(loaded, example);
});

/** The bytes of an example, or in words why there are none. */
async function load(example) {
  try {
    const response = await fetch(new URL(`./examples/${example}`, import.meta.url));
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : String(response.status);
  } catch {
    return "the server cannot be reached.";
  }
}

const holdsFiles = ({ dataTransfer }) => dataTransfer?.files.length > 0 || [...(dataTransfer?.types ?? [])].includes("Files");

addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  drop.hidden = false;
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) drop.hidden = true;
});
addEventListener("drop", async (event) => {
  drop.hidden = true;
  if (!holdsFiles(event)) return;
  event.preventDefault();
  await openFile(event.dataTransfer.files[0]);
});
addEventListener("hashchange", openLink);

if (carries(location.hash)) openLink();
// A browser may bring back what was typed before a reload.
else if (area.value !== "") {
  editor.typed();
  check();
}
