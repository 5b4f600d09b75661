// A package: exported, checked, put into the catalog, read back, planned, applied as a job, and undone.
import assert from "node:assert/strict";
import { body, client, ended, pages } from "./client.js";

/** Exports the workspace, imports that as a template, and returns its id. */
export async function carry(organization_id: string, workspace_id: string): Promise<string> {
  const path = { workspace_id };
  const exported = await client.POST("/v1/workspaces/{workspace_id}/export", { params: { path }, body: { rows: "all" } });
  const { manifest, payloads } = body(exported);
  assert(manifest !== undefined && payloads !== undefined);
  const verdict = body(await client.POST("/v1/templates/check", { body: { manifest, payloads } }));
  assert(verdict.outcome === "clean" && verdict.findings.every(({ severity }) => severity !== "error"));
  const query = { organization_id };
  const template = body(await client.POST("/v1/templates/import", { params: { query }, body: { manifest, payloads } }));
  const template_id = template.id;
  const [payload] = body(await client.GET("/v1/templates/{template_id}/payloads", { params: { path: { template_id } } })).items;
  assert(payload !== undefined);
  assert.equal(payload.entry.count, 61);
  const [row] = payload.entry.rows;
  assert(row !== undefined && row.uid.startsWith("u_") && typeof row.data["code"] === "string");

  const whole = body(await client.GET("/v1/templates/{template_id}", { params: { path: { template_id } } }));
  assert(whole.manifest.templateVersion === 2);
  const package_ = body(await client.GET("/v1/templates/{template_id}/package", { params: { path: { template_id } } }));
  const replaced = body(await client.PUT("/v1/templates/{template_id}/package", { params: { path: { template_id } }, body: package_ }));
  assert.equal(replaced.id, template_id);
  const renamed = body(await client.PATCH("/v1/templates/{template_id}", { params: { path: { template_id } }, body: { label: "Carried" } }));
  assert.equal(renamed.label, "Carried");
  const listed = [];
  for await (const { id } of pages(async (cursor) => body(await client.GET("/v1/templates", { params: { query: { limit: 1, ...cursor } } })))) {
    listed.push(id);
  }
  assert(listed.includes(template_id));
  return template_id;
}

/** Applies a template and returns the id of the finished job. */
export async function apply(template_id: string, workspaceId: string): Promise<string> {
  const path = { template_id };
  const plan = body(await client.POST("/v1/templates/{template_id}/plan", { params: { path }, body: { workspaceId } }));
  assert.deepEqual(plan.refusals, []);
  const accepted = body(
    await client.POST("/v1/templates/{template_id}/apply", {
      params: { path },
      body: { workspaceId, plan: plan.digest },
    }),
  );
  const job = await ended(
    async () => body(await client.GET("/v1/template-jobs/{job_id}", { params: { path: { job_id: accepted.jobId } } })),
    ({ status }) => status === "completed" || status === "failed",
  );
  assert.equal(job.status, "completed", job.error?.detail ?? "");
  const [table] = Object.values(job.report?.rows ?? {});
  assert.equal(table?.inserted, 61);

  const workspace_id = workspaceId;
  const jobs = body(await client.GET("/v1/template-jobs", { params: { query: { workspace_id } } }));
  assert.deepEqual(jobs.items.map(({ id }) => id), [job.id]);
  const [applied] = body(await client.GET("/v1/workspaces/{workspace_id}/templates", { params: { path: { workspace_id } } })).items;
  assert(applied !== undefined && applied.template_id === template_id && !applied.drift);
  const drift = body(await client.GET("/v1/workspaces/{workspace_id}/templates/{template_id}/drift", { params: { path: { workspace_id, template_id } } }));
  assert.deepEqual(drift.changed, []);
  return job.id;
}

export async function undo(job_id: string): Promise<void> {
  const path = { job_id };
  body(await client.POST("/v1/template-jobs/{job_id}/undo", { params: { path } }));
  const job = await ended(
    async () => body(await client.GET("/v1/template-jobs/{job_id}", { params: { path } })),
    ({ status }) => status !== "undoing",
  );
  assert.equal(job.status, "undone");
}
