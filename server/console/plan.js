// What an apply would do, and the apply itself.
import * as api from "./api.js";
import * as catalog from "./catalog.js";
import * as conflicts from "./conflicts.js";
import * as decisions from "./decisions.js";
import { element } from "./element.js";
import { ask, attempt } from "./say.js";
import * as templates from "./templates.js";
import { called, cellText, coded, counted, countedKinds, distinct, kindWord, labelsOf } from "./words.js";

const byId = (id) => document.getElementById(id);
const [place, again, apply, way, upgrades] = ["plan", "make-plan", "apply", "way", "upgrade"].map(byId);

let subject = null;
let plan = null;
let turn = 0;
let listeners = { agreed: () => async () => {}, started: async () => {} };

/** `agreed` is called before something is applied, and gives what is called when the server refuses it; `started` is called
 * with the id of the job. */
export const listen = (given) => (listeners = given);

/** Nothing is planned. */
export function close() {
  turn += 1;
  [subject, plan] = [null, null];
  place.removeAttribute("aria-busy");
  decisions.clear();
  conflicts.clear();
  place.replaceChildren();
  again.disabled = true;
  apply.disabled = true;
  way.hidden = true;
}

/** Plans a template of the catalog for a workspace, with the bytes of a package in place of its own where there are any;
 * as an upgrade where an older version was applied. */
export async function open({ template, manifest, bytes, workspace, upgrade }) {
  close();
  const mine = { template, manifest, bytes, workspace, upgrade, labels: labelsOf(manifest) };
  subject = mine;
  way.hidden = !templates.isApplied(template);
  upgrades.checked = upgrade;
  await decisions.show(manifest, workspace, upgrade, () => attempt(make));
  if (subject !== mine) return;
  again.disabled = false;
  await make();
}

/** Where and how it would be applied. */
async function terms({ workspace, upgrade }) {
  return { workspaceId: workspace.id, resolutions: await decisions.resolutions(), ...(upgrade && { upgrade: true, ...conflicts.terms() }) };
}

const planOf = ({ template, bytes }, body) => api.post(`/v1/templates/${template.id}/plan`, bytes ? catalog.withPackage(body, bytes) : body);

async function make() {
  const asked = subject;
  const mine = (turn += 1);
  apply.disabled = true;
  place.setAttribute("aria-busy", "true");
  try {
    const body = await terms(asked);
    const found = await planOf(asked, body);
    // Of several choices the last holds, in whichever order the plans come.
    if (mine === turn) show(body, found);
  } catch (error) {
    if (mine !== turn) return;
    place.replaceChildren();
    throw error;
  } finally {
    if (mine === turn) place.removeAttribute("aria-busy");
  }
}

function show(body, found) {
  plan = { turn, body, found, key: api.newKey() };
  if (subject.upgrade) conflicts.show(found, subject.labels, () => attempt(make));
  place.replaceChildren(...shown(found, subject.labels));
  apply.disabled = found.refusals.length > 0;
}

function shown(found, labels) {
  if (found.refusals.length > 0) {
    const refusals = found.refusals.map(({ code, ref, detail }) => element("li", {}, element("code", {}, code), " ", ...(ref ? [element("bdi", {}, called(labels, ref)), ": "] : []), element("span", { dir: "auto" }, ...coded(detail))));
    return [element("p", {}, "It cannot be applied yet:"), element("ul", { class: "refusals" }, ...refusals), ...changes(found, labels)];
  }
  const rows = Object.entries(found.rows);
  const lines = [
    sentence("Creates", countedKinds(found.create)),
    sentence("Uses what is there", countedKinds(found.bind)),
    sentence("Changes", countedKinds(distinct(found.update))),
    sentence("Keeps what people made of", countedKinds(distinct(found.kept))),
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

/** Leaves that become something else, and those that stay as people made them. */
function changes({ update, kept }, labels) {
  const line = ({ kind, ref, path }, words) => element("li", {}, `${kindWord(kind)} `, element("bdi", {}, called(labels, ref)), ` ${path ?? "as a whole"}: `, element("bdi", {}, words));
  const valueText = (value) => (value === null ? "(none)" : cellText(value));
  const lines = [...update.map((one) => line(one, `${valueText(one.before)} → ${valueText(one.after)}`)), ...kept.map((one) => line(one, `stays ${valueText(one.ours)}`))];
  return lines.length > 0 ? [element("details", {}, element("summary", {}, "Every change"), element("ul", {}, ...lines))] : [];
}

/** Rows by table, with a number for each thing that may become of them. */
export function rowTable(rows, labels, names = ["insert", "update", "existing", "skipped", "failed"]) {
  const headings = ["Rows of", ...names].map((name) => element("th", { scope: "col" }, name));
  const lines = rows.map(([ref, counts]) => element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, called(labels, ref))), ...names.map((name) => element("td", { class: "number" }, String(counts[name] ?? 0)))));
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Numbers of rows" }, element("table", {}, element("thead", {}, element("tr", {}, ...headings)), element("tbody", {}, ...lines)));
}

async function carryOut() {
  const [asked, agreed] = [subject, plan];
  if ((await ask("Apply", question(asked, agreed.found))) === null) return;
  apply.disabled = true;
  const takeBack = listeners.agreed();
  let begun;
  try {
    begun = await (asked.bytes ? replacing(asked, agreed) : begin(asked, agreed));
  } catch (error) {
    if (api.isRefused(error)) await takeBack();
    // What the catalog has by now is another thing than what failed.
    await templates.refresh().catch(() => {});
    throw error;
  }
  await listeners.started(begun.jobId);
}

function question({ template, manifest, bytes, workspace }, found) {
  const rows = Object.values(found.rows).reduce((sum, { insert, update }) => sum + insert + update, 0);
  const what = [countedKinds(found.create), found.update.length > 0 && counted(found.update.length, "change"), rows > 0 && counted(rows, "row")].filter(Boolean).join(" and ") || "nothing new";
  const question = `“${(bytes && manifest.label) || template.label}” to the workspace “${workspace.label}”: ${what}.`;
  return bytes ? `${question} In the catalog it takes the place of “${catalog.titled(template)}”.` : question;
}

/** Starts the job. Where nobody knows whether it began, the same button asks once more, with the same key. */
async function begin(asked, agreed) {
  try {
    return await api.postOnce(`/v1/templates/${asked.template.id}/apply`, { ...agreed.body, plan: agreed.found.digest }, agreed.key);
  } catch (error) {
    if (api.isUncertain(error)) {
      error.message += " It may be applied all the same. Press Apply again to be sure: it is applied once.";
      // The template has the package by now.
      asked.bytes = undefined;
      if (agreed.turn === turn) [plan, apply.disabled] = [agreed, false];
    }
    throw error;
  }
}

/** Gives the template the package, and applies it if that still does what was agreed to. */
const replacing = (asked, agreed) =>
  catalog.replacing(
    asked.template,
    asked.bytes,
    () => planOf({ template: asked.template }, agreed.body),
    async (now) => {
      if (sameBut("digest", now, agreed.found)) return begin(asked, { ...agreed, found: now });
      // The template has the package by now, and keeps it.
      asked.bytes = undefined;
      if (agreed.turn === turn) show(agreed.body, now);
      throw new Error("The workspace has changed since it was planned: look at the plan again.");
    },
  );

const sameBut = (name, one, other) => JSON.stringify({ ...one, [name]: null }) === JSON.stringify({ ...other, [name]: null });

upgrades.addEventListener("change", () => attempt(() => open({ ...subject, upgrade: upgrades.checked })));
again.addEventListener("click", () => attempt(make));
apply.addEventListener("click", () => attempt(carryOut));
