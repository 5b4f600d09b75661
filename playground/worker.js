// The worker of the page: one call after the other.
import init, * as tplkit from "./tplkit/index.js";
import { unpack } from "./lzma.js";

let ready;

/** Loads the module, once. */
function start() {
  ready ??= (async () => {
    const response = await fetch(new URL("./tplkit/tplkit_wasm_bg.wasm.lzma", import.meta.url));
    if (!response.ok) throw new Error(`the checks cannot be loaded: ${response.status}`);
    await init(unpack(new Uint8Array(await response.arrayBuffer())));
  })().catch((error) => {
    ready = undefined;
    throw error;
  });
  return ready;
}

self.onmessage = async ({ data: { id, name, values } }) => {
  try {
    await start();
    self.postMessage({ id, result: tplkit[name](...values) });
  } catch (error) {
    // After a trap the memory of the module is not to be trusted any more.
    const broken = error instanceof WebAssembly.RuntimeError;
    self.postMessage({ id, broken, error: { message: error.message, document: error.document } });
  }
};
// The page is about to ask: loading begins before it does.
start().catch(() => {});
