// A package in the fragment of an address: `#p=` and its bytes, compressed (deflate) and in base64url.

const KEY = "#p=";
/** The longest link, in characters. */
const LONGEST = 1_000_000;
/** The largest package that a link may hold: a few bytes can claim to be gigabytes. */
const LARGEST = 64_000_000;

/** What a link cannot do, as a sentence. */
export class LinkError extends Error {}

const through = (bytes, stream) => new Blob([bytes]).stream().pipeThrough(stream);

async function collect(stream, most) {
  const chunks = [];
  let length = 0;
  for (let reader = stream.getReader(), part; !(part = await reader.read()).done; ) {
    length += part.value.length;
    if (length > most) {
      await reader.cancel();
      throw new LinkError("This link holds a package that is too large to open from a link.");
    }
    chunks.push(part.value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** The fragment that carries a package. */
export async function fragment(bytes, address) {
  const packed = await collect(through(bytes, new CompressionStream("deflate-raw")), Infinity);
  const parts = [];
  for (let at = 0; at < packed.length; at += 0x8000) {
    parts.push(String.fromCharCode(...packed.subarray(at, at + 0x8000)));
  }
  const text = btoa(parts.join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  const length = address.length + KEY.length + text.length;
  if (length > LONGEST) {
    const size = (length / 1_000_000).toFixed(1);
    throw new LinkError(`This package makes a link of ${size} MB; a link holds at most 1 MB. Share the file instead.`);
  }
  return KEY + text;
}

/** Whether a fragment is to carry a package: nothing else on this page has one. */
export const carries = (hash) => hash.length > 1;

/** The package of a fragment. */
export async function unpack(hash) {
  const damaged = new LinkError("This link is damaged: the package in it cannot be read. Ask for the link again.");
  const text = hash.startsWith(KEY) ? hash.slice(KEY.length) : "";
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw damaged;
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return await collect(through(packed, new DecompressionStream("deflate-raw")), LARGEST);
  } catch (error) {
    throw error instanceof LinkError ? error : damaged;
  }
}
