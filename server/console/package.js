// A package that somebody drops: to the server, and what it says of it.
import * as api from "./api.js";
import * as findings from "./findings.js";
import * as plan from "./plan.js";
import * as workspaces from "./workspaces.js";

const byId = (id) => document.getElementById(id);
const section = byId("package");

/** What was put into the catalog for a look and is not applied. */
let looked = null;
let turn = 0;
let changed = async () => {};

/** Calls `listener` when the catalog is another one. */
export const whenChanged = (listener) => (changed = listener);

export function close() {
  turn += 1;
  section.hidden = true;
  plan.close();
}

/** It stays in the catalog: something in a workspace comes from it. */
export const keep = () => (looked = null);

/** Sends a file, shows what is wrong with it, else its plan. */
export async function open(file) {
  const mine = (turn += 1);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const workspace = workspaces.current;
  begin(file.name);
  findings.checking();
  section.scrollIntoView({ block: "start" });
  await forget();
  let template;
  try {
    const verdict = await api.post("/v1/templates/check", bytes);
    if (mine !== turn) return;
    findings.show(verdict, bytes);
    if (verdict.outcome !== "clean") return;
    template = await api.post("/v1/templates/import", bytes, { organization_id: workspace?.organization_id });
  } catch (error) {
    if (mine === turn && !findings.known()) {
      if (error instanceof api.Refusal && findings.refused(error, bytes)) return;
      findings.failed();
    }
    throw error;
  }
  looked = template;
  if (mine !== turn) return;
  await changed();
  if (workspace) await plan.open(template, workspace, false);
  section.scrollIntoView({ block: "start" });
}

/** Shows the plan of a template that is in the catalog, where it was checked. */
export async function openTemplate(template, upgrade) {
  turn += 1;
  if (looked && looked.id !== template.id) {
    await forget();
    await changed();
  }
  begin(template.label);
  findings.checking();
  findings.clean();
  await plan.open(template, workspaces.current, upgrade);
  section.scrollIntoView({ block: "start" });
}

function begin(name) {
  plan.close();
  section.hidden = false;
  byId("package-name").textContent = name;
}

/** Takes the last one out of the catalog again, when nothing came of it. */
export async function forget() {
  const template = looked;
  looked = null;
  if (template) await api.remove(`/v1/templates/${template.id}`).catch(() => {});
}
