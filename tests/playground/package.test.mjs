// The npm package, as somebody installs it: in Node.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { before, test } from "node:test";
import { built, cases, need, root, sample } from "./tools.mjs";

let folder;
let tplkit;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "tplkit-wasm-"));
  const [archive] = (await readdir(join(root, "target/wasm"))).filter((name) => name.endsWith(".tgz"));
  await writeFile(join(folder, "package.json"), '{"private": true, "type": "module"}');
  execFileSync("npm", ["install", "--silent", "--offline", "--no-audit", "--no-fund", "--no-package-lock", join(root, "target/wasm", archive)], { cwd: folder });
  tplkit = await import(pathToFileURL(join(folder, "node_modules/@tplkit/wasm/index.js")));
});

test("nothing works before init, and init works twice", async () => {
  assert.throws(() => tplkit.check("{}"), /init/);
  await Promise.all([tplkit.default(), tplkit.default()]);
  assert.equal(tplkit.check("{}").outcome, "findings");
});

test("the sample packages have the codes, places and verdicts of the table", async () => {
  for (const { name, bytes, required } of await cases()) {
    const { findings } = tplkit.check(bytes).files[0];
    const codes = [...new Set(findings.map((finding) => finding.code))].sort();
    assert.deepEqual(codes, [...required.codes].sort(), name);
    if (required.positions && required.main) {
      const fits = ({ code, line, column }) => code === required.main && required.positions.some((place) => place[0] === line && place[1] === column);
      assert.ok(findings.some(fits), `${name}: ${required.main} is at none of ${required.positions}`);
    }
    const verdicts = tplkit.promote(bytes).files[0].promotion;
    if (required.promotion === null) assert.equal(verdicts, undefined, name);
    for (const [code, passed] of Object.entries(required.promotion ?? {})) {
      assert.equal(verdicts.find((verdict) => verdict.code === code)?.passed, passed, `${name}: ${code}`);
    }
  }
});

const native = built("tplkit");

test("documents are those of the native program", { skip: !native && "there is no tplkit in target" }, async () => {
  const run = (input, ...args) => {
    try {
      return execFileSync(native, args, { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"], cwd: folder });
    } catch (error) {
      return error.stdout;
    }
  };
  for (const { name, bytes } of (await cases()).filter((_, index) => index % 7 === 0)) {
    assert.deepEqual(tplkit.check(bytes, { promotion: true }), JSON.parse(run(bytes, "check", "-", "--promotion", "system", "--format", "json")), name);
    assert.deepEqual(tplkit.promote(bytes), JSON.parse(run(bytes, "promote", "-", "--format", "json")), name);
  }
  for (const path of ["examples/broken-invoices.json", "examples/service-desk.json", "examples/crm.json"]) {
    const bytes = await sample(path);
    assert.equal(tplkit.fix(bytes), run(bytes, "check", "-", "--fix"), path);
    assert.equal(tplkit.fmt(bytes), run(bytes, "fmt", "-"), path);
    for (const kind of ["refs", "er", "plan", "deps", "automations"]) {
      assert.equal(tplkit.graph(bytes, { kind }), run(bytes, "graph", "-", "--kind", kind, "--format", "svg"), path);
      assert.equal(tplkit.graph(bytes, { kind, format: "dot" }), run(bytes, "graph", "-", "--kind", kind), path);
    }
    assert.equal(tplkit.report(bytes), run(bytes, "report", "-"), path);
    const { outcome, report, refusals } = tplkit.simulate(bytes);
    const expected = JSON.parse(run(bytes, "simulate", "-", "--format", "json"));
    assert.deepEqual({ outcome, rows: report?.rows, refusals }, { outcome: expected.outcome, rows: expected.report?.rows, refusals: expected.refusals }, path);
  }
});

test("strings and bytes are alike, and packages differ by what is in them", async () => {
  const bytes = await sample("examples/crm.json");
  const text = new TextDecoder().decode(bytes);
  assert.deepEqual(tplkit.check(text), tplkit.check(bytes));
  assert.equal(tplkit.diff(bytes, text).identical, true);
  const other = tplkit.diff(text, text.replace('"label": "Industries"', '"label": "Trades"'), { rows: true });
  assert.equal(other.identical, false);
});

test("options choose rules, promotion and unsafe fixes", async () => {
  const bytes = await sample("examples/broken-invoices.json");
  assert.deepEqual([...new Set(tplkit.check(bytes, { select: ["R025"], path: "a.json" }).files[0].findings.map(({ code }) => code))], ["R025"]);
  assert.equal(tplkit.check(bytes, { path: "a.json" }).files[0].path, "a.json");
  assert.equal(tplkit.check(bytes, { promotion: "system" }).files[0].promotion.length, 5);
  assert.notEqual(tplkit.fix(bytes), tplkit.fix(bytes, { ignore: ["R025"] }));
  assert.throws(() => tplkit.check(bytes, { select: ["Z999"] }), /Z999/);
});

test("what has no result throws an error that says where", () => {
  for (const name of ["fmt", "graph", "report"]) {
    assert.throws(() => tplkit[name]("[1,"), (error) => error instanceof tplkit.TplkitError && error.document.files[0].findings[0].code === "J001", name);
  }
  assert.throws(() => tplkit.diff("{}", "{}"), tplkit.TplkitError);
  assert.throws(() => tplkit.check(5), TypeError);
  assert.equal(tplkit.fix("[1,"), "[1,");
});

test("types hold under strict, and none is any", async () => {
  const types = await readFile(join(folder, "node_modules/@tplkit/wasm/index.d.ts"), "utf8");
  assert.doesNotMatch(types, /:\s*any\b|<any\b|any\[\]/);
  await writeFile(
    join(folder, "use.ts"),
    `import init, { check, promote, fix, fmt, diff, graph, report, simulate, TplkitError } from "@tplkit/wasm";
await init();
const document = check(new Uint8Array(), { promotion: true, deny: ["warnings"] });
const codes: string[] = document.files.flatMap((file) => file.findings.map((finding) => finding.code));
const texts: string[] = [fix(""), fmt("", {}), graph("", { kind: "er", format: "dot" }), report("", { rows: 3 })];
const same: boolean = diff("", "", { rows: true }).identical;
const result = simulate("", { noRows: true });
if ("undo" in result) console.log(result.undo?.restored);
// @ts-expect-error: no such kind
graph("", { kind: "nothing" });
// @ts-expect-error: no package
check(5);
try { promote(""); } catch (error) { if (error instanceof TplkitError) console.log(error.document?.outcome, codes, texts, same); }
`,
  );
  const tsc = join(need.resolve("typescript/package.json"), "../bin/tsc");
  execFileSync(process.execPath, [tsc, "--strict", "--noUncheckedIndexedAccess", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom", "use.ts"], { cwd: folder, stdio: "inherit" });
});
