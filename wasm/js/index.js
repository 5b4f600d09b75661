// @tplkit/wasm: the checks of tplkit for browsers and Node. See index.d.ts for what each function takes.
import start, * as raw from "./tplkit_wasm.js";

/** Why a call has no result. `document` says where, when it is the package that is wrong. */
export class TplkitError extends Error {
  constructor(message, document) {
    super(message);
    this.name = "TplkitError";
    if (document !== undefined) this.document = document;
  }
}

const encoder = new TextEncoder();
let started;
let ready = false;

/** Where the module is, in a form that it can be started from. */
async function place() {
  const url = new URL("./tplkit_wasm_bg.wasm", import.meta.url);
  if (url.protocol !== "file:") return url;
  // Node does not fetch files. The name is a variable, so that bundlers for browsers leave it alone.
  const files = "node:fs/promises";
  const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ files);
  return readFile(url);
}

/** Starts the module, once; later calls wait for the first. */
export default function init(source) {
  started ??= (async () => {
    await start({ module_or_path: source ?? (await place()) });
    ready = true;
  })().catch((error) => {
    started = undefined;
    throw error;
  });
  return started;
}

function bytesOf(content, name) {
  if (typeof content === "string") return encoder.encode(content);
  if (content instanceof Uint8Array) return content;
  throw new TypeError(`the ${name} is a Uint8Array or a string`);
}

function call(name, ...contents) {
  if (!ready) throw new Error("await init() first");
  const options = contents.pop();
  const packages = contents.map((content) => bytesOf(content, "package"));
  try {
    return raw[name](...packages, options === undefined ? "" : JSON.stringify(options));
  } catch (thrown) {
    if (!(thrown instanceof raw.ThrownFailure)) throw thrown;
    const { message, document } = thrown;
    thrown.free();
    throw new TplkitError(message, document && JSON.parse(document));
  }
}

export const check = (content, options) => JSON.parse(call("check", content, options));
export const promote = (content, options) => JSON.parse(call("promote", content, options));
export const fix = (content, options) => call("fix", content, options);
export const fmt = (content, options) => call("fmt", content, options);
export const diff = (first, second, options) => JSON.parse(call("diff", first, second, options));
export const graph = (content, options) => call("graph", content, options);
export const report = (content, options) => call("report", content, options);
export const simulate = (content, options) => JSON.parse(call("simulate", content, options));
