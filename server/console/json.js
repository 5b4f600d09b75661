// JSON whose numbers keep all their digits: JavaScript has about sixteen, a cell may have more.

/** A number that JavaScript would write otherwise, as the server wrote it. */
export class ExactNumber {
  constructor(text) {
    this.text = text;
  }
}

// What no text has, to find these numbers in what JSON.parse and JSON.stringify make: they know no others.
const MARK = `number ${crypto.getRandomValues(new Uint32Array(4)).join(" ")} `;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, "g");
// One at a time: of a whole text, whose characters and escapes alternate, an expression would use up the stack.
const QUOTES_ESCAPES_NUMBERS = /"|\\.|-?\d[\d.eE+-]*/g;

/** The value of a text; throws a SyntaxError where it is not JSON. */
export function parse(text) {
  const value = JSON.parse(text);
  let [exact, inText] = [false, false];
  const marked = text.replace(QUOTES_ESCAPES_NUMBERS, (found) => {
    if (found === '"') inText = !inText;
    if (found === '"' || inText || String(Number(found)) === found) return found;
    exact = true;
    return `"${MARK}${found}"`;
  });
  if (!exact) return value;
  return JSON.parse(marked, (_, one) => (typeof one === "string" && one.startsWith(MARK) ? new ExactNumber(one.slice(MARK.length)) : one));
}

/** The text of a value. */
export const stringify = (value) => JSON.stringify(value, (_, one) => (one instanceof ExactNumber ? MARK + one.text : one)).replace(MARKED, "$1");
