// A package that somebody drops: to the server, and what it says of it.
import * as api from "./api.js";
import * as catalog from "./catalog.js";
import { visible } from "./element.js";
import * as findings from "./findings.js";
import * as plan from "./plan.js";
import { attempt, withdraw } from "./say.js";
import * as templates from "./templates.js";
import * as workspaces from "./workspaces.js";

const byId = (id) => document.getElementById(id);
const section = byId("package");

/** What was put into the catalog for a look and is not applied. */
let looked = null;
let turn = 0;

export function close() {
  turn += 1;
  section.hidden = true;
  byId("package-name").textContent = "";
  findings.clear();
  catalog.clear();
  plan.close();
}

/** The session is over, and with it the right to take something out of the catalog. */
export function end() {
  looked = null;
  close();
}

/** It stays in the catalog from before it is applied: a response may be lost, and something in a workspace come from it.
 * Gives what takes that back, for a server that refused it. */
export function keep() {
  const template = looked;
  looked = null;
  return async () => {
    if (template && looked) await leave(template);
    else looked ??= template;
  };
}

/** The page goes: what was only looked at leaves the catalog with it. The browser may keep the page to come back to, and then
 * no plan of it stands there. */
export function left() {
  if (!looked) return;
  api.removeOnTheWay(unused(looked));
  looked = null;
  withdraw();
  close();
}

/** Sends a file, shows what is wrong with it, else its plan. */
export async function open(file) {
  const mine = (turn += 1);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (mine !== turn) return;
  const workspace = workspaces.current;
  begin(file.name);
  findings.checking();
  section.scrollIntoView({ block: "start" });
  await forget();
  try {
    const verdict = await api.post("/v1/templates/check", bytes);
    if (mine !== turn) return;
    findings.show(verdict, bytes);
    if (verdict.outcome !== "clean" || !workspace) return;
  } catch (error) {
    if (mine !== turn || findings.refused(error, bytes)) return;
    findings.failed();
    throw error;
  }
  const dropped = { bytes, workspace, manifest: catalog.manifestOf(bytes) };
  const found = await catalog.candidates(dropped.manifest, workspace);
  if (mine !== turn) return;
  await look(dropped, catalog.show(found, dropped.manifest, (choice) => attempt(() => look(dropped, choice))));
  section.scrollIntoView({ block: "start" });
}

/** Shows the plan of a file: in place of a template, which has its own until it is applied, or as another template. */
async function look({ bytes, workspace, manifest }, replaced) {
  const mine = (turn += 1);
  plan.close();
  await forget();
  const template = replaced ?? (await entered(bytes, workspace));
  if (mine !== turn) {
    if (!replaced) await leave(template);
    return;
  }
  if (!replaced) looked = template;
  await templates.refresh();
  if (mine !== turn) return;
  await plan.open({ template, manifest, workspace, ...(replaced && { bytes }), upgrade: templates.isApplied(template) });
}

/** Puts a file into the catalog. */
async function entered(bytes, { organization_id }) {
  try {
    return await api.post("/v1/templates/import", bytes, { organization_id });
  } catch (error) {
    findings.refused(error, bytes);
    // The refusal does not say of what, and nobody has asked for it by name.
    if (error.status === 403) error.message = `A package is put into the catalog to be planned. ${error.message}`;
    throw error;
  }
}

/** Shows the plan of a template that is in the catalog, where it was checked. */
export async function openTemplate(template, upgrade) {
  const mine = (turn += 1);
  begin(template.label);
  findings.checking();
  if (looked && looked.id !== template.id) await forget();
  let found;
  try {
    found = await api.get(`/v1/templates/${template.id}`);
  } catch (error) {
    if (mine === turn) findings.failed();
    throw error;
  }
  if (mine !== turn) return;
  findings.clean();
  const { manifest } = found;
  await plan.open({ template, manifest, workspace: workspaces.current, upgrade });
  section.scrollIntoView({ block: "start" });
}

function begin(name) {
  catalog.clear();
  plan.close();
  section.hidden = false;
  byId("package-name").textContent = visible(name ?? "");
}

/** Takes the last one out of the catalog again, when nothing came of it, and out of its list. */
export async function forget() {
  const template = looked;
  looked = null;
  if (!template) return;
  await leave(template);
  // What is done next does not wait for a list that cannot be had.
  await templates.refresh().catch(() => {});
}

/** What somebody else has applied or changed meanwhile stays: the server decides, in the request that removes it. */
const unused = ({ id }) => `/v1/templates/${id}?unused=true`;
const leave = (template) => api.remove(unused(template)).catch(() => {});
