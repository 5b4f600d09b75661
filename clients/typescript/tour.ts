// A tour of the API with types from its document: sign in, make a table, write and read rows, follow pages, carry the
// table into another workspace as a package. Nothing here is cast: what a cell holds is unknown until it is looked at.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Row = components["schemas"]["Row"];
type ColumnCreate = components["schemas"]["ColumnCreate"];

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`set ${name}`);
  return value;
};

const client = createClient<paths>({ baseUrl: setting("URL") });

/** The body of a success; a refusal is an error with its code. */
function body<T>(response: { data?: T; error?: { code: string; detail: string } }): T {
  if (response.error) throw new Error(`${response.error.code}: ${response.error.detail}`);
  assert(response.data !== undefined);
  return response.data;
}

async function signIn(email: string, password: string): Promise<void> {
  const tokens = body(await client.POST("/v1/auth/token", { body: { email, password } }));
  const bearer: Middleware = {
    onRequest: ({ request }) => request.headers.set("authorization", `Bearer ${tokens.access_token}`),
  };
  client.use(bearer);
}

async function makeTable(workspace_id: string): Promise<string> {
  const table = body(await client.POST("/v1/features", { body: { workspace_id, label: "Parts" } }));
  const columns: ColumnCreate[] = [
    { type: "text", label: "Code", config: { required: true, unique: true } },
    { type: "currency", label: "Price", config: { decimals: 2, currency: "EUR" } },
    { type: "boolean", label: "In stock" },
    { type: "multi_select", label: "Tags", config: { options: ["new", "sale"] } },
  ];
  for (const column of columns) {
    const path = { feature_id: table.id };
    const made = body(await client.POST("/v1/features/{feature_id}/columns", { params: { path }, body: column }));
    assert.equal(made.label, column.label);
  }
  return table.id;
}

async function writeRows(feature_id: string): Promise<void> {
  const path = { feature_id };
  const data = { code: "P-000", price: 12.5, in_stock: true, tags: ["new"] };
  const created = body(await client.POST("/v1/features/{feature_id}/rows", { params: { path }, body: { data } }));
  const { price } = created.data;
  assert(typeof price === "number" && price === 12.5);

  const rows = Array.from({ length: 60 }, (_, at) => ({
    data: { code: `P-${String(at + 1).padStart(3, "0")}`, price: at, in_stock: at % 2 === 0, tags: null },
  }));
  const batch = body(await client.POST("/v1/features/{feature_id}/rows:batch", { params: { path }, body: { rows } }));
  assert.equal(batch.count, 60);

  const changed = body(
    await client.PATCH("/v1/features/{feature_id}/rows/{row_id}", {
      params: { path: { feature_id, row_id: created.id }, query: { merge: true } },
      body: { data: { price: 13 } },
    }),
  );
  assert.equal(changed.data["price"], 13);
}

/** Every row of a table, page after page. */
async function* rows(feature_id: string, filter: string[]): AsyncGenerator<Row> {
  let cursor: string | null = null;
  do {
    const query: { filter: string[]; limit: number; sort: string; cursor?: string } = { filter, limit: 25, sort: "code" };
    if (cursor !== null) query.cursor = cursor;
    const page: components["schemas"]["RowPage"] = body(
      await client.GET("/v1/features/{feature_id}/rows", { params: { path: { feature_id }, query } }),
    );
    yield* page.items;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

/** Exports the workspace, imports that as a template, and returns its id. */
async function carry(organization_id: string, workspace_id: string): Promise<string> {
  const path = { workspace_id };
  const exported = await client.POST("/v1/workspaces/{workspace_id}/export", { params: { path }, body: { rows: "all" } });
  const { manifest, payloads } = body(exported);
  assert(manifest !== undefined && payloads !== undefined);
  const query = { organization_id };
  const template = body(await client.POST("/v1/templates/import", { params: { query }, body: { manifest, payloads } }));
  const template_id = template.id;
  const stored = body(
    await client.GET("/v1/templates/{template_id}/payloads", { params: { path: { template_id } } }),
  );
  const [payload] = stored.items;
  assert(payload !== undefined);
  assert.equal(payload.entry.count, 61);
  const [row] = payload.entry.rows;
  assert(row !== undefined && row.uid.startsWith("u_") && typeof row.data["code"] === "string");
  return template_id;
}

async function apply(template_id: string, workspaceId: string): Promise<void> {
  const path = { template_id };
  const plan = body(await client.POST("/v1/templates/{template_id}/plan", { params: { path }, body: { workspaceId } }));
  assert.deepEqual(plan.refusals, []);
  const accepted = body(
    await client.POST("/v1/templates/{template_id}/apply", {
      params: { path },
      body: { workspaceId, plan: plan.digest },
    }),
  );
  for (;;) {
    const job = body(
      await client.GET("/v1/template-jobs/{job_id}", { params: { path: { job_id: accepted.jobId } } }),
    );
    if (job.status === "completed") {
      const [table] = Object.values(job.report?.rows ?? {});
      assert.equal(table?.inserted, 61);
      return;
    }
    if (job.status === "failed") throw new Error(job.error?.detail);
    await sleep(100);
  }
}

await signIn(setting("EMAIL"), setting("PASSWORD"));
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

await apply(await carry(organization_id, workspace), await make("TypeScript again"));
console.log(`typescript: ${found} rows on their pages, and a package applied`);
