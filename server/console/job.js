// A job: how far it is, what it wrote, and its undo.
import * as api from "./api.js";
import { element } from "./element.js";
import { rowTable } from "./plan.js";
import { ask, attempt } from "./say.js";
import { counted, labelsOf } from "./words.js";
import * as workspaces from "./workspaces.js";

const PAUSE = 250;
// Without a response it is asked again after pauses that grow from the one to the other.
const [SOON, LATE] = [1000, 30_000];

const byId = (id) => document.getElementById(id);
const [section, status, progress, report, undo] = ["job", "job-status", "progress", "report", "undo"].map(byId);

const ENDED = ["completed", "failed", "undone"];

let job = null;
let manifest = {};
let changed = () => {};

/** Calls `listener` when a job has changed the workspace. */
export const whenChanged = (listener) => (changed = listener);

export function close() {
  [job, manifest] = [null, {}];
  section.hidden = true;
  undo.disabled = true;
  status.textContent = "";
  report.replaceChildren();
}

/** Shows a job until it has ended. */
export async function watch(id) {
  section.hidden = false;
  section.scrollIntoView({ block: "nearest" });
  undo.disabled = true;
  status.textContent = "";
  report.replaceChildren();
  [job, manifest] = [{ id }, {}];
  await follow(id);
}

async function follow(id) {
  for (;;) {
    const found = await asked(id);
    // Another one is looked at by now.
    if (job?.id !== id) return;
    job = found;
    await readManifest();
    if (job?.id !== id) return;
    show();
    if (ENDED.includes(found.status)) break;
    await waited(PAUSE);
  }
  await changed();
}

/** The job as it is. It goes on whether or not this page hears of it, so it is asked for until there is a response. */
async function asked(id) {
  for (let pause = SOON; ; pause = Math.min(2 * pause, LATE)) {
    try {
      return await api.get(`/v1/template-jobs/${id}`);
    } catch (error) {
      if (job?.id !== id) return null;
      if (!api.passes(error)) throw error;
      status.textContent = `${error.message} The job is asked for again in ${counted(pause / 1000, "second")}.`;
      await waited(pause);
    }
  }
}

const waited = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** For labels, and for what an undo takes away. Of a template that is gone there is none. */
async function readManifest() {
  if (manifest.plan || !job.template_id) return;
  const found = await api.get(`/v1/templates/${job.template_id}`).catch(() => null);
  manifest = found?.manifest ?? { plan: {} };
}

function show() {
  const { done, total, phase } = job.progress;
  const ended = ENDED.includes(job.status);
  progress.hidden = ended;
  progress.max = Math.max(total, 1);
  if (total > 0) progress.value = done;
  else progress.removeAttribute("value");
  status.textContent = ended ? WORDS[job.status] : `${job.status}: ${phase}${total > 0 ? `, ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : ""}`;
  undo.disabled = job.status !== "completed" && job.status !== "failed";
  report.replaceChildren(...shown());
}

const WORDS = { completed: "Completed", failed: "Failed", undone: "Undone: what it wrote is gone" };

function shown() {
  const parts = [];
  if (job.error) parts.push(element("p", { class: "failure" }, element("code", {}, job.error.code), ` ${job.error.detail}`));
  if (!job.report) return parts;
  const { rows = {}, renamed = [], not_published: drafts = [], unresolved = [] } = job.report;
  if (Object.keys(rows).length > 0) parts.push(rowTable(Object.entries(rows), labelsOf(manifest), ["inserted", "updated", "existing", "skipped", "failed"]));
  const lines = [
    ...renamed.map(({ from, to }) => ["Has another name: ", `${from} → ${to}`]),
    ...drafts.map(({ name }) => ["Stays a draft: ", name]),
    unresolved.length > 0 && ["Was left empty: ", counted(unresolved.length, "reference")],
  ].filter(Boolean);
  if (lines.length > 0) parts.push(element("ul", {}, ...lines.map(([words, what]) => element("li", {}, words, element("bdi", {}, what)))));
  return parts;
}

/** What an undo takes away, in words. */
async function loss() {
  const rows = Object.values(job.report?.rows ?? {}).reduce((sum, { recorded, inserted }) => sum + (recorded ?? inserted ?? 0), 0);
  const tables = await created(job).catch(() => null);
  const what = tables ? `${counted(tables.length, "table")}${tables.length > 0 ? ` (${tables.map(({ label, name }) => label || name).join(", ")})` : ""}` : "tables";
  return `${counted(rows, "row")} that this job wrote, and what it created: ${what} with columns, views, navigation and automations`;
}

/** The tables that a job created and that are still there: a plan of the job itself binds to them, and what an earlier
 * job of the template created is older. */
async function created({ id, template_id, workspace_id, created_at }) {
  const { bind } = await api.post(`/v1/templates/${template_id}/plan`, { workspaceId: workspace_id, jobId: id });
  const bound = new Set(bind.filter(({ kind }) => kind === "feature").map((one) => one.id));
  const tables = await api.all("/v1/features", { workspace_id });
  return tables.filter((table) => bound.has(table.id) && Date.parse(table.created_at) >= Date.parse(created_at));
}

async function takeBack() {
  const { id, workspace_id } = job;
  const workspace = workspaces.labelOf(workspace_id);
  const force = await ask("Undo", `${workspace ? `In the workspace “${workspace}” it` : "It"} takes away ${await loss()}. This cannot be taken back.`, "Also what people added or changed in it since");
  if (force === null) return;
  undo.disabled = true;
  try {
    await api.post(`/v1/template-jobs/${id}/undo`, undefined, force ? { force: "true" } : {});
  } finally {
    await follow(id);
  }
}

undo.addEventListener("click", () => attempt(takeBack));
