// What a job wrote, and what it could not.
import { element } from "./element.js";
import { rowTable } from "./plan.js";
import { called, counted, countedKinds, distinct } from "./words.js";

/** The report of a job as elements, with the words of its template. */
export function shown({ error, report }, labels) {
  const parts = [];
  if (error) parts.push(element("p", { class: "failure" }, element("code", {}, error.code), ` ${error.detail}`));
  if (!report) return parts;
  const tables = Object.entries(report.rows ?? {});
  if (tables.length > 0) parts.push(rowTable(tables, labels, ["inserted", "updated", "existing", "skipped", "failed"]));
  const lines = facts(report);
  if (lines.length > 0) parts.push(element("ul", {}, ...lines.map(([words, what]) => element("li", {}, words, element("bdi", {}, what)))));
  return [...parts, ...lists(report, labels)];
}

function facts({ rows = {}, renamed = [], not_published: drafts = [], unresolved = [], structure_updated: values = 0, kept = [] }) {
  const cells = Object.values(rows).reduce((sum, table) => sum + (table.kept ?? 0), 0);
  const stays = [countedKinds(distinct(kept)), cells > 0 && counted(cells, "cell")].filter(Boolean).join(", ");
  return [
    values > 0 && ["Changed: ", `${counted(values, "value")} of records`],
    stays !== "" && ["Stays as people made it: ", stays],
    ...renamed.map(({ from, to }) => ["Has another name: ", `${from} → ${to}`]),
    ...drafts.map(({ name }) => ["Stays a draft: ", name]),
    unresolved.length > 0 && ["Was left empty: ", counted(unresolved.length, "reference")],
  ].filter(Boolean);
}

/** What somebody has to look at. */
function lists({ rows = {}, errors = [], moved = [], undo_left: left = [] }, labels) {
  const more = Object.values(rows).reduce((sum, table) => sum + (table.errors_more ?? 0), 0);
  const of = ({ ref }) => element("bdi", {}, called(labels, ref));
  const failed = (one) => element("li", {}, of(one), ` ${one.first === one.last ? `row ${one.first}` : `rows ${one.first} to ${one.last}`}: `, element("span", { dir: "auto" }, one.message), " ", element("code", {}, one.code));
  const changed = (one) => element("li", {}, of(one), ` ${one.path ?? one.column ?? counted(one.count ?? 0, "hidden cell")}`);
  return [
    list("Could not be written", errors.map(failed), more),
    list("People changed it meanwhile, and it stays", moved.map(changed)),
    list("People changed it since, and the undo left it", left.map(changed)),
  ].flat();
}

function list(words, entries, more = 0) {
  if (entries.length === 0) return [];
  return [element("details", { open: "" }, element("summary", {}, words), element("ul", {}, ...entries, more > 0 && element("li", {}, `And ${more.toLocaleString("en")} more.`)))];
}
