// The search of the page, and buttons that copy a command. Nothing here sends a request.

const byId = (id) => document.getElementById(id);
const LIMIT = 40;

/** What can be found: sections with an address of their own. */
const entries = [...document.querySelectorAll("main section[id]")].map((section) => {
  const heading = section.querySelector("h3, h4");
  return { id: section.id, title: heading.textContent, heading: heading.textContent.toLowerCase(), text: section.textContent.toLowerCase() };
});

const field = byId("search");
const hits = byId("hits");
const found = byId("found");

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text) => words.every((word) => text.includes(word));
  const titled = entries.filter((entry) => fits(entry.heading));
  const all = words.length === 0 ? [] : [...titled, ...entries.filter((entry) => !titled.includes(entry) && fits(entry.text))];
  hits.replaceChildren(...all.slice(0, LIMIT).map(hit));
  found.textContent = words.length === 0 ? "" : count(all.length);
}

function count(number) {
  if (number === 0) return "Nothing found";
  const shown = number > LIMIT ? `, ${LIMIT} shown` : "";
  return `${number} found${shown}`;
}

function hit({ id, title }) {
  const link = document.createElement("a");
  link.href = `#${id}`;
  link.textContent = title;
  const item = document.createElement("li");
  item.append(link);
  return item;
}

field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") hits.querySelector("a")?.click();
});
document.querySelector(".search").hidden = false;

// A page that is as wide as a telephone begins with the guide.
if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".contents details").open = false;

for (const command of document.querySelectorAll("pre.command")) {
  const heading = command.closest("section").querySelector("h3");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${heading.textContent}`);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      // A page that the browser does not trust with the clipboard lets the reader copy.
      getSelection().selectAllChildren(command);
    }
  });
  command.before(button);
}
