// What an apply would do, and the apply itself.
import * as api from "./api.js";
import * as conflicts from "./conflicts.js";
import * as decisions from "./decisions.js";
import { element } from "./element.js";
import { ask, attempt } from "./say.js";
import { called, cellText, counted, countedKinds, kindWord, labelsOf } from "./words.js";

const byId = (id) => document.getElementById(id);
const [place, again, apply] = ["plan", "make-plan", "apply"].map(byId);

let subject = null;
let plan = null;
let started = () => {};

/** Calls `listener` with the id of each job that is started. */
export const whenStarted = (listener) => (started = listener);

/** Nothing is planned. */
export function close() {
  [subject, plan] = [null, null];
  decisions.clear();
  conflicts.clear();
  place.replaceChildren();
  again.disabled = true;
  apply.disabled = true;
}

/** Plans a template of the catalog for a workspace; as an upgrade where an older version was applied. */
export async function open(template, workspace, upgrade) {
  close();
  const { manifest } = await api.get(`/v1/templates/${template.id}`);
  const mine = { template, workspace, upgrade, labels: labelsOf(manifest) };
  subject = mine;
  await decisions.show(manifest, workspace, upgrade, () => attempt(make));
  if (subject !== mine) return;
  again.disabled = false;
  await make();
}

async function make() {
  const asked = subject;
  apply.disabled = true;
  place.setAttribute("aria-busy", "true");
  const body = { workspaceId: asked.workspace.id, resolutions: await decisions.resolutions(), ...(asked.upgrade && { upgrade: true, ...conflicts.terms() }) };
  try {
    const found = await api.post(`/v1/templates/${asked.template.id}/plan`, body);
    if (subject !== asked) return;
    plan = { body, found };
    if (asked.upgrade) conflicts.show(found, asked.labels, () => attempt(make));
    place.replaceChildren(...shown(found, asked.labels));
    apply.disabled = found.refusals.length > 0;
  } catch (error) {
    place.replaceChildren();
    throw error;
  } finally {
    place.removeAttribute("aria-busy");
  }
}

function shown(found, labels) {
  if (found.refusals.length > 0) {
    const refusals = found.refusals.map(({ code, ref, detail }) => element("li", {}, element("code", {}, code), " ", ...(ref ? [element("bdi", {}, called(labels, ref)), ": "] : []), element("span", { dir: "auto" }, detail)));
    return [element("p", {}, "It cannot be applied yet:"), element("ul", { class: "refusals" }, ...refusals), ...changes(found, labels)];
  }
  const rows = Object.entries(found.rows);
  const lines = [
    sentence("Creates", countedKinds(found.create)),
    sentence("Uses what is there", countedKinds(found.bind)),
    sentence("Changes", countedKinds(records(found.update))),
    sentence("Keeps what people made of", countedKinds(records(found.kept))),
    sentence("No longer in the package, and left", found.left.map(({ label }) => label).join(", ")),
    sentence("Gives another name to", countedKinds(found.rename)),
    sentence("Goes live", found.go_live.map(({ name }) => name).join(", ")),
    sentence("Stays a draft", found.stays_draft.map(({ name }) => name).join(", ")),
  ].filter(Boolean);
  return [
    lines.length > 0 ? element("ul", {}, ...lines) : element("p", {}, "Nothing is created: all of it is there."),
    rows.length > 0 && rowTable(rows, labels),
    ...changes(found, labels),
    found.create.length > 0 && element("details", {}, element("summary", {}, "Everything that is created"), element("ul", {}, ...found.create.map(creation))),
  ].filter(Boolean);
}

const sentence = (words, what) => what !== "" && element("li", {}, `${words}: `, element("bdi", {}, what));
const creation = ({ kind, label, name }) => element("li", {}, `${kindWord(kind)} `, element("bdi", {}, label || name));

/** Each record once, of entries about leaves. */
const records = (entries) => [...new Map(entries.map((entry) => [entry.ref, entry])).values()];

/** Leaves that become something else, and those that stay as people made them. */
function changes({ update, kept }, labels) {
  const line = ({ kind, ref, path }, words) => element("li", {}, `${kindWord(kind)} `, element("bdi", {}, called(labels, ref)), ` ${path ?? "as a whole"}: `, element("bdi", {}, words));
  const told = (value) => (value === null ? "(none)" : cellText(value));
  const lines = [...update.map((one) => line(one, `${told(one.before)} → ${told(one.after)}`)), ...kept.map((one) => line(one, `stays ${told(one.ours)}`))];
  return lines.length > 0 ? [element("details", {}, element("summary", {}, "Every change"), element("ul", {}, ...lines))] : [];
}

/** Rows by table, with a number for each thing that may become of them. */
export function rowTable(rows, labels, names = ["insert", "update", "existing", "skipped", "failed"]) {
  const headings = ["Rows of", ...names].map((name) => element("th", { scope: "col" }, name));
  const lines = rows.map(([ref, counts]) => element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, called(labels, ref))), ...names.map((name) => element("td", { class: "number" }, String(counts[name] ?? 0)))));
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Numbers of rows" }, element("table", {}, element("thead", {}, element("tr", {}, ...headings)), element("tbody", {}, ...lines)));
}

async function carryOut() {
  const { found, body } = plan;
  const { template, workspace } = subject;
  const rows = Object.values(found.rows).reduce((sum, { insert, update }) => sum + insert + update, 0);
  const what = [countedKinds(found.create), found.update.length > 0 && counted(found.update.length, "change"), rows > 0 && counted(rows, "row")].filter(Boolean).join(" and ") || "nothing new";
  const sure = await ask("Apply", `“${template.label}” to the workspace “${workspace.label}”: ${what}.`);
  if (sure === null) return;
  apply.disabled = true;
  const { jobId } = await api.post(`/v1/templates/${template.id}/apply`, { ...body, plan: found.digest });
  await started(jobId);
}

again.addEventListener("click", () => attempt(make));
apply.addEventListener("click", () => attempt(carryOut));
