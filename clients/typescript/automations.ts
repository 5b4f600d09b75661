// An automation: validated, published, run for trial.
import assert from "node:assert/strict";
import { body, client, done, ended, pages } from "./client.js";

export async function automations(workspace_id: string, feature_id: string): Promise<void> {
  const trigger_config = { type: "manual", config: {} };
  const step = { key: "feature.write", config: { mode: "insert", targetFeatureId: feature_id, bindings: [{ targetColumn: "code", type: "literal", value: "A-001" }] } };
  const broken = body(
    await client.POST("/v1/workflows-v2/validate", { body: { workspace_id, trigger_config, graph_config: { steps: [{ key: "nothing" }] } } }),
  );
  assert(!broken.ok && broken.issues.some(({ severity, target }) => severity === "error" && target === "graph"));
  const definition = { workspace_id, trigger_config, graph_config: { steps: [step] } };
  assert.deepEqual(body(await client.POST("/v1/workflows-v2/validate", { body: definition })).issues, []);

  const draft = body(await client.POST("/v1/workflows-v2", { body: { ...definition, name: "Add a part" } }));
  assert(draft.is_draft && !draft.is_active && draft.version === 1);
  const path = { workflow_id: draft.workflow_id };
  const published = body(await client.POST("/v1/workflows-v2/{workflow_id}/apply", { params: { path }, body: { version_id: draft.id } }));
  assert(!published.is_draft);
  const inForce = body(await client.GET("/v1/workflows-v2/{workflow_id}", { params: { path } }));
  assert.equal(inForce.id, draft.id);
  const listed = [];
  for await (const version of pages(async (cursor) =>
    body(await client.GET("/v1/workflows-v2", { params: { query: { workspace_id, ...cursor } } })),
  )) {
    listed.push(version.name);
  }
  assert.deepEqual(listed, ["Add a part"]);

  // Only an operator activates one; a dry run shows what it would do.
  const inactive = await client.POST("/v1/workflows-v2/{workflow_id}/runs", { params: { path } });
  assert.equal(inactive.error?.code, "no_active_version");
  const started = body(await client.POST("/v1/workflows-v2/{workflow_id}/runs", { params: { path }, body: { dry_run: true } }));
  const run = await ended(
    async () => body(await client.GET("/v1/workflow-runs/{run_id}", { params: { path: { run_id: started.id } } })),
    ({ status }) => status === "succeeded" || status === "failed",
  );
  assert.equal(run.status, "succeeded", run.error?.detail ?? "");
  assert.deepEqual(run.steps.map(({ key, status }) => [key, status]), [["feature.write", "succeeded"]]);
  const runs = body(await client.GET("/v1/workflows-v2/{workflow_id}/runs", { params: { path } }));
  assert.deepEqual(runs.items.map(({ id, dry_run }) => [id, dry_run]), [[run.id, true]]);
  done(await client.DELETE("/v1/workflows-v2/{workflow_id}", { params: { path, query: { force: true } } }));
}
