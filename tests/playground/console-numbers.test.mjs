// What the console reads and writes as JSON, in Node: numbers keep their digits, and texts are left alone.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

// By its text: no package.json says to Node that the console consists of modules.
const source = await readFile(new URL("../../server/console/json.js", import.meta.url), "utf8");
const { ExactNumber, parse, stringify } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

test("numbers that JavaScript would write otherwise keep their digits", () => {
  const text = String.raw`{"a":"\\","b":12345678901234567890,"c":[-0,1e400,1.10,0.5],"d":"1e400 \"-0\" 12345678901234567890"}`;
  const value = parse(text);
  assert.deepEqual(value.b, new ExactNumber("12345678901234567890"));
  assert.deepEqual(value.c, [new ExactNumber("-0"), new ExactNumber("1e400"), new ExactNumber("1.10"), 0.5]);
  assert.equal(value.d, '1e400 "-0" 12345678901234567890');
  assert.equal(stringify(value), text);
});

test("members of any name are members", () => {
  const text = '{"__proto__":1e400,"constructor":{"__proto__":"1"}}';
  assert.equal(stringify(parse(text)), text);
  assert.throws(() => parse('{"a":1e400'), SyntaxError);
});

test("a long text of characters and escapes is read", () => {
  const long = 'a"'.repeat(2_600_000);
  const text = `{"long":${JSON.stringify(long)},"number":1e400}`;
  const value = parse(text);
  assert.ok(value.long === long);
  assert.deepEqual(value.number, new ExactNumber("1e400"));
});
