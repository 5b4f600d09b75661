// Cells of columns of files: the file by its name, which saves it, and a button that uploads another one.
import * as api from "./api.js";
import { element, verbatim } from "./element.js";
import { attempt } from "./say.js";
import { cellText } from "./words.js";

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What a cell of a row shows; `changed` is called when it holds another file. */
export function fileCell(table, { id, data }, { name, label }, changed) {
  const value = data[name];
  const shown = element("span", { dir: "auto" }, verbatim(cellText(value)));
  if (typeof value === "string" && ID.test(value)) named(shown, value);
  const upload = element("button", { type: "button", title: `Upload a file into ${label}` }, "Upload");
  upload.addEventListener("click", async () => {
    const file = await chosen();
    if (file) await attempt(() => put(table, id, name, file, changed));
  });
  return element("div", { class: "file" }, shown, upload);
}

/** Shows the name in place of the id, where there is a file that may be seen. */
async function named(shown, id) {
  let file;
  try {
    file = await api.get(`/v1/files/${id}`);
  } catch {
    // It went, or is somebody else's: the cell stays a text.
    return;
  }
  const save = element("button", { type: "button", title: `Save ${file.name}` }, file.name);
  save.addEventListener("click", () => attempt(() => saved(file)));
  shown.replaceChildren(save);
}

async function saved(file) {
  const address = URL.createObjectURL(await api.bytes(`/v1/files/${file.id}/content`));
  element("a", { href: address, download: file.name }).click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A file that a person chooses; none when they choose none. */
function chosen() {
  const input = element("input", { type: "file" });
  return new Promise((done) => {
    input.addEventListener("change", () => done(input.files[0]));
    input.addEventListener("cancel", () => done(undefined));
    input.click();
  });
}

async function put(table, row, column, file, changed) {
  const query = new URLSearchParams({ workspace_id: table.workspace_id, name: file.name });
  const { id } = await api.post(`/v1/files?${query}`, file);
  try {
    await api.patch(`/v1/features/${table.id}/rows/${row}`, { data: { [column]: id } }, { merge: "true" });
  } catch (error) {
    // A file that the row does not take is of no use; one that it did take stays.
    await api.remove(`/v1/files/${id}`).catch(() => {});
    throw error;
  }
  await changed();
}
