// A table, its columns and its rows.
import assert from "node:assert/strict";
import { body, client, done, pages } from "./client.js";
import type { components } from "./schema.js";

type Row = components["schemas"]["Row"];
type ColumnCreate = components["schemas"]["ColumnCreate"];

export async function makeTable(workspace_id: string): Promise<string> {
  const table = body(await client.POST("/v1/features", { body: { workspace_id, label: "Parts" } }));
  const columns: ColumnCreate[] = [
    { type: "text", label: "Code", config: { required: true, unique: true } },
    { type: "currency", label: "Price", config: { decimals: 2, currency: "EUR" } },
    { type: "boolean", label: "In stock" },
    { type: "multi_select", label: "Tags", config: { options: ["new", "sale"] } },
    { type: "file", label: "Data sheet" },
  ];
  const path = { feature_id: table.id };
  for (const column of columns) {
    const made = body(await client.POST("/v1/features/{feature_id}/columns", { params: { path }, body: column }));
    assert.equal(made.label, column.label);
  }
  const listed = body(await client.GET("/v1/features/{feature_id}/columns", { params: { path } }));
  assert.deepEqual(listed.map(({ name }) => name), ["code", "price", "in_stock", "tags", "data_sheet"]);
  const read = body(await client.GET("/v1/features/{feature_id}", { params: { path } }));
  assert.equal(read.name, "parts");
  return table.id;
}

export async function writeRows(feature_id: string): Promise<void> {
  const path = { feature_id };
  const data = { code: "P-000", price: 12.5, in_stock: true, tags: ["new"] };
  const created = body(await client.POST("/v1/features/{feature_id}/rows", { params: { path }, body: { data } }));
  const { price } = created.data;
  assert(typeof price === "number" && price === 12.5);

  const rows = Array.from({ length: 60 }, (_, at) => ({
    data: { code: `P-${String(at + 1).padStart(3, "0")}`, price: at, in_stock: at % 2 === 0, tags: null },
  }));
  const batch = body(await client.POST("/v1/features/{feature_id}/rows:batch", { params: { path }, body: { rows } }));
  assert(batch.count === 60 && batch.items.length === 60);

  const one = { feature_id, row_id: created.id };
  const changed = body(
    await client.PATCH("/v1/features/{feature_id}/rows/{row_id}", {
      params: { path: one, query: { merge: true } },
      body: { data: { price: 13 } },
    }),
  );
  assert.equal(changed.data["price"], 13);
  const again = body(await client.GET("/v1/features/{feature_id}/rows/{row_id}", { params: { path: one } }));
  assert.deepEqual(again, changed);

  const sum = body(
    await client.GET("/v1/features/{feature_id}/rows:aggregate", {
      params: { path, query: { op: "sum", column: "price", filter: ["code:in:P-000|P-002"] } },
    }),
  );
  assert(sum.result === 14 && sum.rows_considered === 2);

  const extra = body(await client.POST("/v1/features/{feature_id}/rows", { params: { path }, body: { data: { code: "X" } } }));
  done(await client.DELETE("/v1/features/{feature_id}/rows/{row_id}", { params: { path: { feature_id, row_id: extra.id } } }));
}

/** Every row of a table, page after page. */
export const rows = (feature_id: string, filter: string[]): AsyncGenerator<Row> =>
  pages(async (cursor) => {
    const query = { filter, limit: 25, sort: "code", ...cursor };
    return body(await client.GET("/v1/features/{feature_id}/rows", { params: { path: { feature_id }, query } }));
  });
