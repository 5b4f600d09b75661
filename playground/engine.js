// Calls of the checks, which run in a worker so that the page stays alive. A worker that dies (memory, a
// bug) is replaced: what was asked of it fails, what comes after works.

let worker;
let next = 0;
const waiting = new Map();

function start() {
  worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    if (data.error) reject?.(Object.assign(new Error(data.error.message), { document: data.error.document }));
    else resolve?.(data.result);
    if (data.broken) fail("The checks stopped and start again.");
  };
  worker.onerror = () => fail("The checks could not be loaded.");
}

function fail(message) {
  worker.terminate();
  worker = undefined;
  for (const { reject } of waiting.values()) reject(new Error(message));
  waiting.clear();
}

/** Calls a function of `@tplkit/wasm` by name. */
export function call(name, ...values) {
  if (!worker) start();
  return new Promise((resolve, reject) => {
    waiting.set(next, { resolve, reject });
    worker.postMessage({ id: next, name, values });
    next += 1;
  });
}
