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
  const [catalog, page] = await Promise.all([api.all("/v1/templates"), api.all(`/v1/workspaces/${workspace.id}/templates`)]);
  if (mine !== turn) return;
  applied = new Map(page.map((entry) => [entry.template_id, entry]));
  const gone = page.filter(({ template_id }) => !catalog.some(({ id }) => id === template_id));
  const lines = [...catalog.map((template) => line(template, applied.get(template.id))), ...gone.map((entry) => line(null, entry))];
  body.replaceChildren(...(lines.length > 0 ? lines : [element("tr", {}, element("td", { colspan: "5" }, "The catalog is empty."))]));
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
