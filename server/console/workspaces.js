// The lists at the side: workspaces, and the tables of one of them.
import * as api from "./api.js";
import { element } from "./element.js";
import { attempt } from "./say.js";

const lists = { workspaces: document.getElementById("workspaces"), tables: document.getElementById("tables") };

/** The workspace that is looked at. */
export let current = null;

let known = [];
let turn = 0;
let chosen = { workspace: () => {}, table: () => {} };
let table = null;

/** Nothing is shown. */
export function close() {
  turn += 1;
  [current, table, known] = [null, null, []];
  for (const list of Object.values(lists)) list.replaceChildren();
}

/** Shows the workspaces, and the first of them. `listeners` hear of every choice. */
export async function open(listeners) {
  chosen = listeners;
  const mine = (turn += 1);
  const found = await api.some("/v1/workspaces");
  if (mine !== turn) return;
  known = found.items;
  fill(lists.workspaces, found, choose, "There is no workspace that you see.");
  if (known.length > 0) await choose(known[0]);
}

/** What people call a workspace, where it is seen. */
export const labelOf = (id) => known.find((one) => one.id === id)?.label;

async function choose(workspace) {
  current = workspace;
  table = null;
  mark(lists.workspaces, workspace);
  lists.tables.replaceChildren();
  chosen.table(null);
  await Promise.all([refresh(), chosen.workspace(workspace)]);
}

/** Shows the tables anew, after a job; gives the record of the one whose rows are shown. */
export async function refresh() {
  const mine = (turn += 1);
  if (!current) return undefined;
  const tables = await api.some("/v1/features", { workspace_id: current.id });
  if (mine !== turn) return undefined;
  fill(lists.tables, tables, chooseTable, "This workspace has no table yet.");
  const there = tables.items.find((one) => one.id === table?.id);
  if (there) mark(lists.tables, there);
  else if (table) await chooseTable(null);
  return there;
}

async function chooseTable(wanted) {
  table = wanted;
  if (wanted) mark(lists.tables, wanted);
  await chosen.table(wanted);
}

function fill(list, { items, isCut }, choose, none) {
  const entries = items.map((record) => {
    const button = element("button", { type: "button", "data-id": record.id, dir: "auto" }, record.label);
    button.addEventListener("click", () => attempt(() => choose(record)));
    return element("li", {}, button);
  });
  if (entries.length === 0) entries.push(element("li", { class: "none" }, none));
  if (isCut) entries.push(element("li", { class: "none" }, "There are more than are shown here."));
  list.replaceChildren(...entries);
}

function mark(list, record) {
  for (const button of list.querySelectorAll("button")) {
    if (button.dataset.id === record.id) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}
