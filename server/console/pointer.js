// Where the value of a JSON pointer stands in a text.

/** `[start, end]` of the value, or of the nearest one around it; null when the text is not JSON. */
export function locate(text, pointer) {
  const wanted = pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at = 0;
  let found = null;

  const blank = () => {
    while (" \t\r\n\ufeff".includes(text[at] || "x")) at += 1;
  };

  function string() {
    const start = at;
    for (at += 1; text[at] !== '"'; at += text[at] === "\\" ? 2 : 1) if (at >= text.length) throw new SyntaxError();
    at += 1;
    return JSON.parse(text.slice(start, at));
  }

  /** Reads a value; `depth` parts of the pointer lead to it, or it is off the way. */
  function value(depth) {
    blank();
    const start = at;
    if (text[at] === "{" || text[at] === "[") container(depth);
    else if (text[at] === '"') string();
    else while (at < text.length && !",]} \t\r\n".includes(text[at])) at += 1;
    if (at === start) throw new SyntaxError();
    if (depth >= 0 && (!found || depth > found.depth)) found = { depth, place: [start, at] };
  }

  function container(depth) {
    const close = text[at] === "{" ? "}" : "]";
    at += 1;
    blank();
    for (let index = 0; text[at] !== close; index += 1) {
      let key = String(index);
      if (close === "}") {
        key = string();
        blank();
        at += 1;
      }
      value(depth >= 0 && wanted[depth] === key ? depth + 1 : -1);
      blank();
      if (text[at] === ",") at += 1;
      else if (text[at] !== close) throw new SyntaxError();
      blank();
    }
    at += 1;
  }

  try {
    value(0);
  } catch {
    return found?.place ?? null;
  }
  return found.place;
}
