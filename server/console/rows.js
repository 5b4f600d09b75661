// The rows of a table: a filter, a sort, and one page after the other.
import * as api from "./api.js";
import { element, verbatim, visible } from "./element.js";
import { fileCell } from "./files.js";
import { attempt } from "./say.js";
import { cellText, coded, counted } from "./words.js";

const LIMIT = 25;

const byId = (id) => document.getElementById(id);
const [section, filter, next, first] = ["rows", "filter", "next-page", "first-page"].map(byId);
const [head, body] = ["thead", "tbody"].map((name) => section.querySelector(name));

// What was chosen; it is shown from the moment that its columns are known.
let chosen = null;
let table = null;
let columns = [];
let sort = "";
let held = "";
let cursor = null;
let page = 1;
let turn = 0;
// Where this page began.
let from;

/** Shows a table, or none. Nothing of the one before stands under its name, whatever fails. */
export async function show(wanted) {
  const mine = (turn += 1);
  [chosen, table, columns] = [wanted, null, []];
  [sort, held, filter.value, cursor, page, from] = ["", "", "", null, 1, undefined];
  section.hidden = !chosen;
  byId("table-name").textContent = visible(chosen?.label ?? "");
  for (const part of [head, body, byId("row-count")]) part.replaceChildren();
  [next.disabled, first.disabled] = [true, true];
  if (!chosen) return;
  const found = await api.get(`/v1/features/${chosen.id}/columns`);
  if (mine !== turn) return;
  [table, columns] = [chosen, found];
  await load({ page: 1 });
}

/** Shows the table anew, as its record is now, with filter, sort and page: a job may have changed all of it. */
export async function refresh(record) {
  if (!table || record?.id !== table.id) return;
  const mine = (turn += 1);
  const found = await api.get(`/v1/features/${table.id}/columns`);
  if (mine !== turn) return;
  [chosen, table, columns] = [record, record, found];
  byId("table-name").textContent = visible(table.label);
  await load({ page, cursor: from });
}

async function load(wanted) {
  const mine = (turn += 1);
  const query = { limit: LIMIT, filter: wanted.filter ?? held, sort: wanted.sort ?? sort, cursor: wanted.cursor };
  const found = await api.rows(`/v1/features/${table.id}/rows`, query);
  if (mine !== turn) return;
  // Only what the server took is shown as being in force.
  [held, sort, page, cursor, from] = [query.filter, query.sort, wanted.page, found.next_cursor, wanted.cursor];
  head.replaceChildren(element("tr", {}, ...columns.map(heading)));
  body.replaceChildren(...found.items.map(row));
  next.disabled = cursor === null;
  first.disabled = page === 1;
  const count = found.items.length === 0 ? "No rows" : `Page ${page}: ${counted(found.items.length, "row")}`;
  byId("row-count").replaceChildren(...coded([count, ...found.unknown.map((name) => `there is no column \`${name}\``)].join("; ")));
  byId("grid").scrollTop = 0;
}

const alignment = (type) => (type === "number" || type === "currency" ? "number" : "text");

function heading({ name, label, type }) {
  const order = { [name]: "ascending", [`-${name}`]: "descending" }[sort] ?? "none";
  const button = element("button", { type: "button", dir: "auto", title: name }, label);
  button.addEventListener("click", async () => {
    await attempt(() => load({ page: 1, sort: order === "ascending" ? `-${name}` : name }));
    // The heading was made anew.
    head.querySelectorAll("button")[columns.findIndex((column) => column.name === name)]?.focus();
  });
  return element("th", { scope: "col", "aria-sort": order, class: alignment(type) }, button);
}

const row = (record) => element("tr", {}, ...columns.map((column) => element("td", { class: alignment(column.type) }, cell(record, column))));

function cell(record, column) {
  if (column.type !== "file") return element("div", { dir: "auto" }, verbatim(cellText(record.data[column.name])));
  const shown = table;
  // An upload takes its time, and another table may be looked at by then.
  return fileCell(shown, record, column, async () => table?.id === shown.id && (await load({ page, cursor: from })));
}

byId("filter-form").addEventListener("submit", (event) => {
  event.preventDefault();
  // Blanks at its end belong to the value that is looked for.
  const typed = filter.value.trim() === "" ? "" : filter.value.trimStart();
  attempt(() => (table ? load({ page: 1, filter: typed }) : show(chosen)));
});
next.addEventListener("click", () => attempt(() => load({ page: page + 1, cursor })));
first.addEventListener("click", () => attempt(() => load({ page: 1 })));
