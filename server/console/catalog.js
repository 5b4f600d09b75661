// What the catalog has of a package that somebody drops: which template it takes the place of, as `tplkit template push`
// finds it. With an id the one of the organization that has the same, whatever both are called; without, those of its
// name that have none either, and then only if somebody says so.
import * as api from "./api.js";
import { element } from "./element.js";
import { stringify } from "./json.js";

const place = document.getElementById("place");

/** The manifest of a package, to look at: its numbers have lost digits. */
export function manifestOf(bytes) {
  const root = JSON.parse(new TextDecoder().decode(bytes));
  return root.manifest ?? root;
}

/** The templates of an organization that a package could replace. */
export async function candidates({ id = null, name }, { organization_id }) {
  const fits = (record) => record.organization_id === organization_id && (id !== null || record.name === name);
  const own = await api.all("/v1/templates", {}, { fits, most: Infinity });
  const found = [];
  for (const record of own) {
    if ((await idOf(record)) === id) found.push(record);
  }
  return found;
}

/** The id that a template has by its manifest. One that went meanwhile has none that fits. */
async function idOf({ id }) {
  try {
    const { manifest } = await api.get(`/v1/templates/${id}`);
    return manifest.id ?? null;
  } catch (error) {
    if (error instanceof api.Refusal && error.status === 404) return undefined;
    throw error;
  }
}

/** Nothing is dropped. */
export const clear = () => place.replaceChildren();

/** Says where a package goes, and asks where that is not clear; gives the template that it replaces, or none.
 * `changed` is called with another choice. */
export function show(found, { id }, changed) {
  clear();
  if (found.length === 0) return null;
  if (found.length === 1 && id) {
    place.append(element("p", {}, "Once you apply it, it takes the place of “", element("bdi", {}, titled(found[0])), "” in the catalog, which has the same id."));
    return found[0];
  }
  const select = element("select", { id: "replaced" }, element("option", { value: "" }, "Another template"), ...found.map((record) => element("option", { value: record.id }, `In place of ${titled(record)}`)));
  select.addEventListener("change", () => changed(found.find((record) => record.id === select.value) ?? null));
  const why = id ? "The catalog has more than one template of this id." : "The catalog has a template of this name.";
  place.append(element("p", {}, why), element("p", { class: "decision" }, element("label", { for: "replaced" }, "In the catalog it becomes"), select));
  return null;
}

/** A template by label and version. */
export const titled = ({ label, name, semver }) => [label || name, semver].filter(Boolean).join(", ");

const MARK = [0xef, 0xbb, 0xbf];

/** What an apply takes, with the bytes of a package in place of the template's. */
export function withPackage(terms, bytes) {
  const content = MARK.every((byte, at) => bytes[at] === byte) ? bytes.subarray(MARK.length) : bytes;
  return new Blob([stringify(terms).slice(0, -1), ',"package":', content, "}"], { type: "application/json" });
}

/** Gives a template another package, looks at what it does by then, and goes on with that; where it does not come so far,
 * or the server refuses it, it has its own again. */
export async function replacing({ id }, bytes, look, goOn) {
  const path = `/v1/templates/${id}/package`;
  const before = await api.bytes(path);
  let put = null;
  let gone = false;
  try {
    await api.put(path, bytes).catch((error) => {
      if (error.status === 403) error.message = `A package is put into the catalog to be applied. ${error.message}`;
      throw error;
    });
    put = await api.bytes(path);
    const seen = await look();
    gone = true;
    return await goOn(seen);
  } catch (error) {
    // Later a job may have begun with it, and the next session is somebody else's.
    if ((!gone || api.isRefused(error)) && !(error instanceof api.Ended)) await restore(path, put, before, error);
    throw error;
  }
}

/** Puts back what was there, unless somebody else has replaced it meanwhile. */
async function restore(path, put, before, error) {
  try {
    const now = await api.bytes(path);
    if (await same(now, before)) return;
    if (!put) throw new Error("Nobody knows whose this is.");
    if (await same(now, put)) await api.put(path, before);
  } catch {
    error.message += " The catalog may keep the package that was dropped in: the one before could not be put back.";
  }
}

async function same(one, other) {
  if (one.size !== other.size) return false;
  const [these, those] = await Promise.all([one, other].map(async (blob) => new Uint8Array(await blob.arrayBuffer())));
  return these.every((byte, at) => byte === those[at]);
}
