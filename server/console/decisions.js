// What a package needs of its destination: one choice for each dependency.
import * as api from "./api.js";
import { element } from "./element.js";
import { kindWord } from "./words.js";

const place = document.getElementById("decisions");

const FROM_PACKAGE = "import";
const SKIP = "skip";
const MAP = "map ";

// A dependency may be of a kind that no record of this server is.
const WORDS = { workflow: "automation of the earlier format" };

let shown = [];
let turn = 0;

/** Nothing has to be decided. */
export function clear() {
  turn += 1;
  shown = [];
  place.replaceChildren();
}

/** Shows the dependencies of a manifest; `changed` is called after every choice. What was decided before an upgrade
 * holds until it is decided anew. */
export async function show(manifest, workspace, upgrade, changed) {
  const mine = (turn += 1);
  const dependencies = manifest.dependencies ?? [];
  const targets = targetsIn(workspace);
  const found = await Promise.all(dependencies.map(async (dependency, at) => ({ dependency, targets: await targets(dependency.kind), select: element("select", { id: `decision-${at}` }) })));
  if (mine !== turn) return;
  shown = found;
  const lines = shown.map((one) => line(one, upgrade));
  for (const { select } of shown) select.addEventListener("change", changed);
  place.replaceChildren(...(lines.length > 0 ? [element("p", {}, "This package names things that it does not bring. Decide what takes their place."), ...lines] : []));
}

function line({ dependency, targets, select }, upgrade) {
  const { ref, kind, identity, required, blueprint } = dependency;
  const label = identity?.label || identity?.name || ref;
  select.append(element("option", { value: "" }, upgrade ? "As it was decided before" : "Decide…"));
  if (blueprint) select.append(element("option", { value: FROM_PACKAGE }, "Create it from the package"));
  for (const target of targets) select.append(element("option", { value: MAP + target.id }, `Use ${target.label ?? target.name}`));
  select.append(element("option", { value: SKIP }, "Leave it out"));
  select.value = blueprint && !upgrade ? FROM_PACKAGE : "";
  return element("p", { class: "decision" }, element("label", { for: select.id }, element("bdi", {}, label), " ", element("small", {}, [WORDS[kind] ?? kindWord(kind), ref, required && "required", targets.length === 0 && "there is none here"].filter(Boolean).join(", "))), select);
}

/** What is decided, as an apply takes it. */
export async function resolutions() {
  const decided = {};
  for (const { dependency, targets, select } of shown) {
    if (select.value === FROM_PACKAGE || select.value === SKIP) decided[dependency.ref] = { action: select.value };
    if (select.value.startsWith(MAP)) decided[dependency.ref] = await mapped(dependency, targets.find(({ id }) => MAP + id === select.value));
  }
  return decided;
}

async function mapped({ kind, form, identity }, target) {
  const resolution = { action: "map", id: form === "name" ? target.name : target.id };
  if (kind !== "feature" || !identity?.columns?.length) return resolution;
  // Columns of one name belong together; what is left the plan asks for.
  const columns = await api.get(`/v1/features/${target.id}/columns`);
  const pairs = identity.columns.flatMap(({ ref, name }) => columns.filter((column) => column.name === name).map(({ id }) => [ref, id]));
  return { ...resolution, columns: Object.fromEntries(pairs) };
}

/** What is there of each kind, asked for once. */
function targetsIn({ id, organization_id }) {
  // A choice that lacks something without a word would be a wrong one.
  const every = (path, query, fits) => api.all(path, query, { fits, most: Infinity });
  const once = (ask) => {
    let asked;
    return () => (asked ??= ask());
  };
  // A table of another workspace may be shared with this one.
  const tables = once(async () => {
    const isShared = (table) => table.is_shared && table.workspace_id !== id && table.organization_id === organization_id;
    const found = await Promise.all([every("/v1/features", { workspace_id: id }), every("/v1/features", {}, isShared)]);
    return found.flat();
  });
  const modules = once(() => every("/v1/modules", { workspace_id: id }));
  const connections = once(() => every("/v1/connections", { organization_id }));
  const kinds = {
    feature: tables,
    view: once(async () => {
      const of = new Set((await tables()).map((table) => table.id));
      return every("/v1/views", {}, ({ feature_id }) => of.has(feature_id));
    }),
    module: modules,
    rail: once(async () => (await Promise.all((await modules()).map((module) => every("/v1/rails", { module_id: module.id })))).flat()),
    channel: once(() => every("/v1/channels", { organization_id })),
    connection: async () => (await connections()).filter((one) => one.kind !== "timer"),
    timerProfile: async () => (await connections()).filter((one) => one.kind === "timer"),
    workflowV2: once(async () => {
      const versions = await every("/v1/workflows-v2", { workspace_id: id });
      return [...new Map(versions.map((version) => [version.workflow_id, { id: version.workflow_id, name: version.name }])).values()];
    }),
  };
  // The server has no automations of the earlier format.
  return async (kind) => kinds[kind]?.() ?? [];
}
