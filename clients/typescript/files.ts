// Files: as a form and as they are, in a cell, whole and in part, and by a link.
import assert from "node:assert/strict";
import { body, client, done, pages, setting } from "./client.js";
import { rows } from "./rows.js";

const TEXT = "code,price\nP-000,12.5\n";

export async function files(workspace_id: string, feature_id: string): Promise<void> {
  const form = body(
    await client.POST("/v1/files", {
      params: { query: { workspace_id } },
      body: { file: TEXT },
      bodySerializer: (sent) => {
        const form = new FormData();
        form.append("file", new Blob([typeof sent === "object" ? sent.file : TEXT], { type: "text/csv" }), "prices.csv");
        return form;
      },
    }),
  );
  assert(form.name === "prices.csv" && form.content_type === "text/csv" && form.size === TEXT.length);
  const plain = body(
    await client.POST("/v1/files", {
      params: { query: { workspace_id, name: "unused.csv" } },
      headers: { "Content-Type": "text/csv" },
      body: TEXT,
      bodySerializer: (sent) => sent,
    }),
  );
  assert.equal(plain.sha256, form.sha256);

  for await (const row of rows(feature_id, ["code:eq:P-000"])) {
    const path = { feature_id, row_id: row.id };
    const data = { data_sheet: form.id };
    body(await client.PATCH("/v1/features/{feature_id}/rows/{row_id}", { params: { path, query: { merge: true } }, body: { data } }));
  }
  const attached = [];
  for await (const file of pages(async (cursor) =>
    body(await client.GET("/v1/files", { params: { query: { workspace_id, attached: true, ...cursor } } })),
  )) {
    attached.push(file.id);
  }
  assert.deepEqual(attached, [form.id]);

  const path = { file_id: form.id };
  const record = body(await client.GET("/v1/files/{file_id}", { params: { path } }));
  assert.deepEqual(record, form);
  const whole = await client.GET("/v1/files/{file_id}/content", { params: { path }, parseAs: "text" });
  assert.equal(body(whole), TEXT);
  const part = await client.GET("/v1/files/{file_id}/content", { params: { path }, headers: { Range: "bytes=0-3" }, parseAs: "text" });
  assert(part.response.status === 206 && body(part) === "code");
  const link = body(await client.POST("/v1/files/{file_id}/links", { params: { path }, body: { expires_in: 60 } }));
  assert(Date.parse(link.expires_at) > Date.now());
  const linked = await fetch(setting("URL") + link.url);
  assert.equal(await linked.text(), TEXT);

  done(await client.DELETE("/v1/files/{file_id}", { params: { path: { file_id: plain.id } } }));
  const used = await client.DELETE("/v1/files/{file_id}", { params: { path } });
  assert.equal(used.error?.code, "not_empty");
}
