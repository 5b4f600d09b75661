// A tour of the API with types from its document: sign in, make a table, write and read rows, follow pages, attach files,
// run an automation, carry the table into another workspace as a package. Nothing here is cast: what a cell holds is
// unknown until it is looked at.
import assert from "node:assert/strict";
import { automations } from "./automations.js";
import { body, client, setting, signIn } from "./client.js";
import { files } from "./files.js";
import { makeTable, rows, writeRows } from "./rows.js";
import { apply, carry, undo } from "./templates.js";

await signIn(setting("EMAIL"), setting("PASSWORD"));
const me = body(await client.GET("/v1/me"));
assert(me.kind === "user" && me.email === setting("EMAIL"));
const [organization] = body(await client.GET("/v1/organizations")).items;
assert(organization !== undefined);
const organization_id = organization.id;
const make = async (label: string): Promise<string> =>
  body(await client.POST("/v1/workspaces", { body: { organization_id, label } })).id;

const workspace = await make("TypeScript");
const table = await makeTable(workspace);
await writeRows(table);

let found = 0;
for await (const row of rows(table, ["price:gten:10", "in_stock:eq:true"])) {
  const { code } = row.data;
  assert(typeof code === "string" && code.startsWith("P-"));
  found += 1;
}
assert.equal(found, 26);

const missing = await client.GET("/v1/features/{feature_id}/rows", {
  params: { path: { feature_id: table }, query: { filter: ["price:near:1"] } },
});
assert.equal(missing.error?.code, "invalid_filter");

const definitions = body(await client.GET("/v1/schema/definitions"));
assert(definitions.source === "generated" && definitions.column_types["text"] !== undefined);

await files(workspace, table);
await automations(workspace, table);

const template = await carry(organization_id, workspace);
await undo(await apply(template, await make("TypeScript again")));
console.log(`typescript: ${found} rows on their pages, files, an automation, and a package applied and undone`);
