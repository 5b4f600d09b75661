// Which characters of a text the pages show as they are, in Node: those that the program shows, too.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const read = (path) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");
// By its text: no package.json says to Node that the pages consist of modules.
const { visible } = await import(`data:text/javascript,${encodeURIComponent(await read("playground/element.js"))}`);

/** The ranges of `visible` in the program, as `[first, last]`. */
async function ranges() {
  const [, arms] = (await read("src/printable.rs")).match(/pub fn visible[^]*?match character \{([^]*?)other => other/);
  const patterns = arms.replaceAll(/=>[^,]*/g, "");
  const code = (written) => ({ "\\0": 0, "\\t": 9 })[written] ?? Number.parseInt(written.slice(3, -1), 16);
  return [...patterns.matchAll(/'(\\[^']+)'(?:\.\.='(\\[^']+)')?/g)].map(([, first, last = first]) => [code(first), code(last)]);
}

test("stand-ins take the place of the characters that the program does not print", async () => {
  const steering = await ranges();
  assert.ok(steering.length > 8, JSON.stringify(steering));
  for (let point = 0; point <= 0x10ffff; point += point === 0xd7ff ? 0x801 : 1) {
    const character = String.fromCodePoint(point);
    const kept = character === "\n" || character === "\t" || !steering.some(([first, last]) => first <= point && point <= last);
    if ((visible(character) === character) !== kept) assert.fail(`U+${point.toString(16)}`);
  }
  assert.equal(visible("a\u202eb\u009b31m\u{e0041}\u001b[2J\r שלום"), "a\ufffdb\ufffd31m\ufffd\u241b[2J\u240d שלום");
});
