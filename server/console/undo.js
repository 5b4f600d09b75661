// What is asked before a job is undone: what goes, and what it may go with.
import * as api from "./api.js";
import { counted } from "./words.js";
import { labelOf } from "./workspaces.js";

const OPTION = "Also what people added or changed in it since";
// In what was there before it, the undo of an upgrade overwrites nothing of people.
const UPGRADE_OPTION = "Leave what people changed since in what was there before, and take back the rest";

/** The question, and the option that stands with it. */
export async function question(job) {
  const { workspace_id, report } = job;
  const found = await madeBy(job).catch(() => null);
  // A job that failed may have no report.
  const isUpgrade = Boolean(report?.base ?? found?.base);
  const sum = (number) => Object.values(report?.rows ?? {}).reduce((sum, table) => sum + (number(table) ?? 0), 0);
  const rows = sum(({ recorded, inserted }) => recorded ?? inserted);
  const does = isUpgrade ? upgradeLoss(report?.structure_updated, sum(({ updated }) => updated), rows, found?.tables) : loss(rows, found?.tables);
  const workspace = labelOf(workspace_id);
  const text = `${workspace ? `In the workspace “${workspace}” it` : "It"} ${does}. This cannot be taken back.`;
  return { text, option: isUpgrade ? UPGRADE_OPTION : OPTION };
}

const loss = (rows, tables) => `takes away ${counted(rows, "row")} that this job wrote, and what it created: ${tables ? named(tables) : "tables"} with columns, views, navigation and automations`;

/** An upgrade writes over what was there, and its undo writes that back. */
function upgradeLoss(values, updated, rows, tables) {
  const back = [values > 0 && counted(values, "value"), updated > 0 && `what it changed in ${counted(updated, "row")}`].filter(Boolean).join(" and ");
  const created = [rows > 0 && counted(rows, "row"), tables?.length > 0 && named(tables), "columns, views, navigation and automations"].filter(Boolean).join(", ");
  return `writes back ${back || "what it changed"}, and takes away the ${created} that it created`;
}

const named = (tables) => `${counted(tables.length, "table")}${tables.length > 0 ? ` (${tables.map(({ label, name }) => label || name).join(", ")})` : ""}`;

/** The tables that a job created and that are still there, and what it started from: a plan of the job itself binds to
 * them, and what an earlier job of the template created is older. */
async function madeBy({ id, template_id, workspace_id, created_at }) {
  const { bind, base } = await api.post(`/v1/templates/${template_id}/plan`, { workspaceId: workspace_id, jobId: id });
  const bound = new Set(bind.filter(({ kind }) => kind === "feature").map((one) => one.id));
  const tables = await api.all("/v1/features", { workspace_id });
  return { base, tables: tables.filter((table) => bound.has(table.id) && Date.parse(table.created_at) >= Date.parse(created_at)) };
}
