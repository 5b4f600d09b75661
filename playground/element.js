// Makes elements: text stays text, so nothing of a package becomes markup, and none of its characters steers what is read.

// Controls, and marks that disguise text: those of `visible` in src/printable.rs. Line ends and tabs are blanks in a page.
const STEERING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** A text of strangers with stand-ins for characters that steer or disguise it. */
export const visible = (text) => text.replace(STEERING, (found) => (found < " " ? String.fromCharCode(0x2400 + found.charCodeAt(0)) : "\ufffd"));

/** A text as it is: what stands in a cell is data. */
export const verbatim = (text) => document.createTextNode(text);

// Attributes that people read.
const READ = ["title", "aria-label"];

/** An element with attributes and children; children that are false or empty are left out, texts are made visible. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, READ.includes(key) ? visible(value) : value);
  const there = children.filter((child) => child !== false && child !== undefined && child !== "");
  made.append(...there.map((child) => (typeof child === "string" ? visible(child) : child)));
  return made;
}
