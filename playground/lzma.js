// Unpacks a file of the format that `xz --format=lzma` writes. Browsers unpack gzip themselves, but the module
// is a fifth smaller this way.

/** Half of a probability, and how fast one moves. */
const HALF = 1024;
const SHIFT = 5;

const probabilities = (count) => new Uint16Array(count).fill(HALF);

/** Reads bits of the range coder. */
class Bits {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at + 5;
    this.range = 0xffffffff;
    this.code = 0;
    for (let index = 1; index < 5; index += 1) this.code = ((this.code << 8) | bytes[at + index]) >>> 0;
  }

  normalize() {
    if (this.range < 0x1000000) {
      this.range = (this.range << 8) >>> 0;
      this.code = ((this.code << 8) | this.bytes[this.at]) >>> 0;
      this.at += 1;
    }
  }

  bit(model, index) {
    const bound = (this.range >>> 11) * model[index];
    let bit = 0;
    if (this.code < bound) {
      this.range = bound;
      model[index] += (2048 - model[index]) >>> SHIFT;
    } else {
      this.range -= bound;
      this.code -= bound;
      model[index] -= model[index] >>> SHIFT;
      bit = 1;
    }
    this.normalize();
    return bit;
  }

  tree(model, offset, count) {
    let node = 1;
    for (let left = count; left > 0; left -= 1) node = (node << 1) | this.bit(model, offset + node);
    return node - (1 << count);
  }

  reversed(model, offset, count) {
    let node = 1;
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      const bit = this.bit(model, offset + node);
      node = (node << 1) | bit;
      value |= bit << index;
    }
    return value;
  }

  direct(count) {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      this.range >>>= 1;
      const bit = this.code >= this.range ? 1 : 0;
      if (bit) this.code -= this.range;
      value = ((value << 1) | bit) >>> 0;
      this.normalize();
    }
    return value;
  }
}

/** Reads lengths of matches. */
class Lengths {
  constructor() {
    this.choice = probabilities(2);
    this.low = probabilities(16 << 3);
    this.middle = probabilities(16 << 3);
    this.high = probabilities(256);
  }

  read(bits, position) {
    if (!bits.bit(this.choice, 0)) return bits.tree(this.low, position << 3, 3);
    if (!bits.bit(this.choice, 1)) return 8 + bits.tree(this.middle, position << 3, 3);
    return 16 + bits.tree(this.high, 0, 8);
  }
}

/** The bytes that a file holds. */
export function unpack(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let [properties] = file;
  const context = properties % 9;
  properties = Math.floor(properties / 9);
  const literalMask = (1 << (properties % 5)) - 1;
  const positionMask = (1 << Math.floor(properties / 5)) - 1;
  // `xz` does not always write the length, and ends with a mark then.
  const known = view.getUint32(9, true) === 0xffffffff ? undefined : view.getUint32(5, true);
  const out = new Output(known);
  const bits = new Bits(file, 13);

  const literals = probabilities(0x300 << (context + (properties % 5)));
  const isMatch = probabilities(12 << 4);
  const isRepeat = [probabilities(12), probabilities(12), probabilities(12), probabilities(12 << 4)];
  const isAgain = probabilities(12);
  const slots = probabilities(4 << 6);
  const special = probabilities(128);
  const aligned = probabilities(16);
  const [lengths, repeatLengths] = [new Lengths(), new Lengths()];
  let repeats = [0, 0, 0, 0];
  let state = 0;

  const literal = () => {
    const before = out.length > 0 ? out.back(1) : 0;
    const offset = 0x300 * (((out.length & literalMask) << context) + (before >> (8 - context)));
    let symbol = 1;
    if (state >= 7) {
      let match = out.back(repeats[0] + 1);
      do {
        const wanted = (match >> 7) & 1;
        match <<= 1;
        const bit = bits.bit(literals, offset + ((1 + wanted) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (bit !== wanted) break;
      } while (symbol < 0x100);
    }
    while (symbol < 0x100) symbol = (symbol << 1) | bits.bit(literals, offset + symbol);
    out.push(symbol & 0xff);
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  };

  const distance = (length) => {
    const slot = bits.tree(slots, Math.min(length, 3) << 6, 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const base = ((2 | (slot & 1)) << count) >>> 0;
    if (slot < 14) return base + bits.reversed(special, base - slot, count);
    return base + ((bits.direct(count - 4) << 4) >>> 0) + bits.reversed(aligned, 0, 4);
  };

  /** Moves the chosen distance to the front. */
  const chosen = (index) => {
    const [found] = repeats.splice(index, 1);
    repeats = [found, ...repeats];
  };

  while (known === undefined || out.length < known) {
    const position = out.length & positionMask;
    if (!bits.bit(isMatch, (state << 4) + position)) {
      literal();
      continue;
    }
    let length;
    if (bits.bit(isRepeat[0], state)) {
      if (!bits.bit(isRepeat[1], state)) {
        if (!bits.bit(isRepeat[3], (state << 4) + position)) {
          state = state < 7 ? 9 : 11;
          out.copy(repeats[0] + 1, 1);
          continue;
        }
      } else if (!bits.bit(isRepeat[2], state)) {
        chosen(1);
      } else {
        chosen(bits.bit(isAgain, state) ? 3 : 2);
      }
      length = repeatLengths.read(bits, position);
      state = state < 7 ? 8 : 11;
    } else {
      length = lengths.read(bits, position);
      state = state < 7 ? 7 : 10;
      repeats = [distance(length), ...repeats.slice(0, 3)];
      if (repeats[0] === 0xffffffff) break;
    }
    out.copy(repeats[0] + 1, length + 2);
  }
  return out.bytes();
}

/** What was unpacked so far. */
class Output {
  constructor(known) {
    this.buffer = new Uint8Array(known ?? 1 << 22);
    this.length = 0;
  }

  push(byte) {
    if (this.length === this.buffer.length) {
      const larger = new Uint8Array(this.length * 2);
      larger.set(this.buffer);
      this.buffer = larger;
    }
    this.buffer[this.length] = byte;
    this.length += 1;
  }

  back(distance) {
    if (distance > this.length) throw new Error("the file is damaged");
    return this.buffer[this.length - distance];
  }

  copy(distance, length) {
    for (let left = length; left > 0; left -= 1) this.push(this.back(distance));
  }

  bytes() {
    return this.buffer.subarray(0, this.length);
  }
}
