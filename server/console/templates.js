// The catalog, and what of it stands in the workspace: versions and drift.
import * as api from "./api.js";
import { element } from "./element.js";
import { attempt } from "./say.js";

const body = document.querySelector("#templates tbody");

let listeners = { plan: () => {}, job: () => {} };
let applied = new Map();
let shown = null;
let turn = 0;

/** Whether the workspace that is shown has something of a template. */
export const isApplied = ({ id }) => applied.has(id);

/** `plan` is called with a template and whether it is an upgrade, `job` with the id of a job. */
export const listen = (given) => (listeners = given);

/** Nothing is shown. */
export function clear() {
  turn += 1;
  [shown, applied] = [null, new Map()];
  body.replaceChildren();
}

/** Shows them anew, after something has changed them. */
export const refresh = async () => shown && (await show(shown));

/** Shows both lists for a workspace. */
export async function show(workspace) {
  const mine = (turn += 1);
  shown = workspace;
  const [{ catalog, isCut }, page] = await Promise.all([catalogFor(workspace), api.all(`/v1/workspaces/${workspace.id}/templates`)]);
  const unlisted = page.filter(({ template_id }) => !catalog.some(({ id }) => id === template_id));
  const rest = await Promise.all(unlisted.map(async (entry) => [await recordOf(entry), entry]));
  if (mine !== turn) return;
  applied = new Map(page.map((entry) => [entry.template_id, entry]));
  const lines = [...catalog.map((template) => line(template, applied.get(template.id))), ...rest.map(([template, entry]) => line(template, entry))];
  if (lines.length === 0) lines.push(note("The catalog is empty."));
  if (isCut) lines.push(note("The catalog has more templates than are shown here."));
  body.replaceChildren(...lines);
}

const note = (words) => element("tr", {}, element("td", { colspan: "5" }, words));

/** The catalog, as far as a person can look through it, those of the workspace's own organization first. Anybody may make any
 * number of templates public, so each kind has room of its own. */
async function catalogFor({ organization_id }) {
  const kinds = await Promise.all(["org", "system", "public"].map((visibility) => api.some("/v1/templates", { visibility })));
  // One that became another kind meanwhile may stand in two of the lists.
  const catalog = [...new Map(kinds.flatMap(({ items }) => items).map((template) => [template.id, template])).values()];
  const isOwn = (template) => template.organization_id === organization_id;
  return { catalog: [...catalog.filter(isOwn), ...catalog.filter((template) => !isOwn(template))], isCut: kinds.some(({ isCut }) => isCut) };
}

/** The record of a template that the list does not have; nothing of one that is no longer there. */
async function recordOf({ template_id, label, semver }) {
  try {
    return await api.get(`/v1/templates/${template_id}`);
  } catch (error) {
    if (error instanceof api.Refusal && error.status === 404) return null;
    // It is not known: it is shown as it was applied.
    if (api.passes(error)) return { id: template_id, label, semver };
    throw error;
  }
}

function line(template, entry) {
  const label = template?.label ?? entry.label;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("div", { dir: "auto" }, label)),
    element("td", {}, template ? (template.semver ?? "no version") : "no longer there"),
    element("td", {}, entry ? `${entry.semver ?? "applied"}${entry.newer ? `, ${entry.newer} is newer` : ""}` : "not applied"),
    element("td", {}, entry ? (entry.drift ? "changed since" : "none") : ""),
    element("td", {}, ...actions(template, entry, label)),
  );
}

function actions(template, entry, label) {
  const made = [];
  if (template) {
    const upgrade = Boolean(entry?.newer);
    made.push(action(upgrade ? "Upgrade…" : "Plan…", label, () => listeners.plan(template, upgrade)));
  }
  if (entry) made.push(action("Job…", label, () => listeners.job(entry.job_id)));
  return made;
}

function action(word, label, act) {
  const button = element("button", { type: "button", "aria-label": `${word} ${label}` }, word);
  button.addEventListener("click", () => attempt(act));
  return button;
}
