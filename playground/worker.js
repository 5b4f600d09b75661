// The worker of the page: one call after the other.
import init, * as tplkit from "./tplkit/index.js";
import { unpack } from "./lzma.js";

let ready;

/** Loads the module, once. */
function start() {
  ready ??= (async () => {
    await init(unpack(await loaded(new URL("./tplkit/tplkit_wasm_bg.wasm.lzma", import.meta.url))));
  })().catch((error) => {
    ready = undefined;
    throw error;
  });
  return ready;
}

/** What browsers say of a connection that breaks is another sentence in each, and none says what was asked for. */
async function loaded(address) {
  const unreachable = () => {
    throw new Error("The checks cannot be loaded: the server cannot be reached.");
  };
  const response = await fetch(address).catch(unreachable);
  if (!response.ok) throw new Error(`The checks cannot be loaded: the server returned status ${response.status}.`);
  return new Uint8Array(await response.arrayBuffer().catch(unreachable));
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
