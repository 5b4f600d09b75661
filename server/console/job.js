// A job: how far it is, and its undo.
import * as api from "./api.js";
import { shown } from "./report.js";
import { ask, attempt } from "./say.js";
import { question } from "./undo.js";
import { counted, labelsOf } from "./words.js";

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
  status.textContent = ended ? ending(job) : `${job.status}: ${phase}${total > 0 ? `, ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : ""}`;
  undo.disabled = job.status !== "completed" && job.status !== "failed";
  report.replaceChildren(...shown(job, labelsOf(manifest)));
}

function ending({ status, report }) {
  if (status !== "undone") return { completed: "Completed", failed: "Failed" }[status];
  if (report?.undo_left?.length > 0) return "Undone, but for what people changed";
  return report?.base ? "Undone: what it changed is as it was" : "Undone: what it wrote is gone";
}

async function takeBack() {
  const { id } = job;
  const { text, option } = await question(job);
  if (job?.id !== id) return;
  const force = await ask("Undo", text, option);
  if (force === null) return;
  undo.disabled = true;
  let failed = null;
  await api.post(`/v1/template-jobs/${id}/undo`, undefined, force ? { force: "true" } : {}).catch((error) => (failed = error));
  await follow(id);
  // A response may be lost of what was done all the same.
  if (failed && !(failed instanceof api.Unreachable && job?.status === "undone")) throw failed;
}

undo.addEventListener("click", () => attempt(takeBack));
