// Makes elements: text stays text, so nothing of a package becomes markup.

/** An element with attributes and children; children that are false or empty are left out. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== false && child !== undefined && child !== ""));
  return made;
}
