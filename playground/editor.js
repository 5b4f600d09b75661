// The package as bytes, and the text area that shows them. Places are bytes of the file, a byte-order mark
// not counted; the text area counts UTF-16 units and holds line ends as LF.

const MARK = [0xef, 0xbb, 0xbf];
const area = document.getElementById("editor");
const gutter = document.getElementById("gutter");
const place = document.getElementById("place");
const encoder = new TextEncoder();

/** The bytes that are checked; nothing before there are any. */
let bytes;
/** Whether the file ends its lines with CR and LF. */
let crlf = false;
let marks = new Map();
let lines = 1;

export const content = () => bytes;
export const isEmpty = () => bytes === undefined;

const body = () => (MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(3) : bytes);
const decode = (part) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(part);
const shown = (text) => text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");

/** Shows a file: its bytes stay what is checked until somebody types. */
export function open(content) {
  bytes = content;
  const text = decode(body());
  crlf = text.includes("\r\n") && !/[^\r]\n/.test(text);
  area.value = shown(text);
  area.setSelectionRange(0, 0);
  area.scrollTop = 0;
  changed();
}

/** Takes what was typed. */
export function typed() {
  const text = crlf ? area.value.replaceAll("\n", "\r\n") : area.value;
  const marked = bytes !== undefined && body() !== bytes;
  bytes = text === "" ? undefined : encoder.encode(text);
  if (marked && bytes) bytes = new Uint8Array([...MARK, ...bytes]);
  changed();
}

/** Puts other bytes in place, as an edit that can be undone where that is quick. */
export function replace(content) {
  const before = area.value;
  bytes = content;
  const text = decode(body());
  const after = shown(text);
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const middle = after.slice(start, after.length - end);
  if (before.length - end - start + middle.length < 200_000 && before !== after) {
    area.focus();
    area.setSelectionRange(start, before.length - end);
    replacing = true;
    document.execCommand(middle === "" ? "delete" : "insertText", false, middle);
    replacing = false;
  }
  if (area.value !== after) area.value = after;
  changed();
}

let replacing = false;
/** Whether an input event comes from `replace`, which knows the bytes. */
export const isReplacing = () => replacing;

/** The bytes with edits of a finding made. */
export function edited(edits) {
  const text = body();
  const parts = [bytes.subarray(0, bytes.length - text.length)];
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.offset - b.offset)) {
    parts.push(text.subarray(at, edit.offset), encoder.encode(edit.text));
    at = edit.offset + edit.length;
  }
  parts.push(text.subarray(at));
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((start, part) => (out.set(part, start), start + part.length), 0);
  return out;
}

/** Selects bytes of the file, and shows them. */
export function select(offset, length) {
  const text = body();
  const start = shown(decode(text.subarray(0, offset))).length;
  const end = start + shown(decode(text.subarray(offset, offset + length))).length;
  reveal(start, end);
}

/** Puts the caret on a line and a column, which counts characters. */
export function selectPlace(line, column) {
  let start = 0;
  for (let left = line - 1; left > 0; left -= 1) start = area.value.indexOf("\n", start) + 1;
  const end = area.value.indexOf("\n", start);
  const text = area.value.slice(start, end < 0 ? undefined : end);
  const before = [...text].slice(0, column - 1).join("").length;
  reveal(start + before, start + text.length);
}

function reveal(start, end) {
  const line = area.value.slice(0, start).split("\n").length;
  const first = area.value.lastIndexOf("\n", start - 1) + 1;
  area.focus({ preventScroll: true });
  area.setSelectionRange(start, end);
  const { height, width } = metrics();
  area.scrollTop = Math.max(0, (line - 1) * height - area.clientHeight / 3);
  const right = (start - first) * width;
  area.scrollLeft = right > area.clientWidth * 0.7 ? right - area.clientWidth / 3 : 0;
  area.scrollIntoView({ block: "nearest" });
  paint();
}

/** Marks lines in the margin: a map from a line to a severity. */
export function mark(found) {
  marks = found;
  paint();
}

function metrics() {
  const style = getComputedStyle(area);
  const height = parseFloat(style.lineHeight);
  return { height, width: parseFloat(style.fontSize) * 0.6 };
}

function changed() {
  lines = area.value.split("\n").length;
  marks = new Map();
  paint();
}

/** Draws the numbers of the lines that are seen. */
function paint() {
  const { height } = metrics();
  const first = Math.floor(area.scrollTop / height);
  const count = Math.min(lines - first, Math.ceil(area.clientHeight / height) + 1);
  const numbers = [];
  for (let line = first + 1; line <= first + count; line += 1) {
    const number = document.createElement("span");
    number.textContent = String(line);
    if (marks.has(line)) number.className = marks.get(line);
    numbers.push(number);
  }
  gutter.replaceChildren(...numbers);
  gutter.scrollTop = area.scrollTop - first * height;
  caret();
}

function caret() {
  const before = area.value.slice(0, area.selectionStart);
  const line = before.split("\n").length;
  const column = [...before.slice(before.lastIndexOf("\n") + 1)].length + 1;
  place.textContent = isEmpty() ? "" : `Line ${line}, column ${column}`;
}

area.addEventListener("scroll", paint);
area.addEventListener("keyup", caret);
area.addEventListener("click", caret);
new ResizeObserver(paint).observe(area);
