"""A package: exported, checked, put into the catalog, read back, planned, applied as a job, and undone."""

from uuid import UUID

from session import ended, pages, parsed
from workspace_data_api_client import AuthenticatedClient
from workspace_data_api_client.api.template_jobs import get_template_job, list_template_jobs, undo_template_job
from workspace_data_api_client.api.templates import (
    apply_template,
    check_package,
    get_package,
    get_template,
    get_template_drift,
    import_package,
    list_applied_templates,
    list_payloads,
    list_templates,
    plan_template,
    replace_package,
    update_template,
)
from workspace_data_api_client.api.workspaces import export_workspace
from workspace_data_api_client.models import (
    Apply,
    Export,
    ExportRowsType0,
    PackageToCheck,
    PackageVerdictOutcome,
    PlanRequest,
    TemplateJobStatus,
    TemplatePatch,
)


def carry(client: AuthenticatedClient, organization: UUID, workspace: UUID) -> UUID:
    """Exports the workspace, imports that as a template, and returns its id."""
    package = parsed(export_workspace.sync(workspace, client=client, body=Export(rows=ExportRowsType0.ALL)))
    verdict = parsed(check_package.sync(client=client, body=PackageToCheck.from_dict(package.to_dict())))
    assert verdict.outcome == PackageVerdictOutcome.CLEAN, verdict.findings
    template = parsed(import_package.sync(client=client, body=package, organization_id=organization)).id
    [payload] = parsed(list_payloads.sync(template, client=client)).items
    assert payload.entry.count == len(payload.entry.rows) == 61
    row = payload.entry.rows[0]
    assert row.uid.startswith("u_") and row.data["code"] == "P-000"

    assert parsed(get_template.sync(template, client=client)).manifest["templateVersion"] == 2
    stored = parsed(get_package.sync(template, client=client))
    assert parsed(replace_package.sync(template, client=client, body=stored)).id == template
    renamed = parsed(update_template.sync(template, client=client, body=TemplatePatch(label="Carried")))
    assert renamed.label == "Carried"
    listed = pages(lambda at: list_templates.sync(client=client, limit=1, cursor=at))
    assert template in [one.id for one in listed]
    return template


def apply(client: AuthenticatedClient, template: UUID, workspace: UUID) -> UUID:
    """Applies a template and returns the id of the finished job."""
    plan = parsed(plan_template.sync(template, client=client, body=PlanRequest(workspace_id=workspace)))
    assert plan.refusals == []
    body = Apply(workspace_id=workspace, plan=plan.digest)
    job_id = parsed(apply_template.sync(template, client=client, body=body)).job_id
    last = (TemplateJobStatus.COMPLETED, TemplateJobStatus.FAILED)
    job = ended(lambda: get_template_job.sync(job_id, client=client), lambda job: job.status in last)
    assert job.status == TemplateJobStatus.COMPLETED and job.report is not None, job.error
    assert [table.inserted for table in job.report.rows.additional_properties.values()] == [61]

    jobs = parsed(list_template_jobs.sync(client=client, workspace_id=workspace)).items
    assert [one.id for one in jobs] == [job_id]
    [applied] = parsed(list_applied_templates.sync(workspace, client=client)).items
    assert applied.template_id == template and not applied.drift
    drift = parsed(get_template_drift.sync(workspace, template, client=client))
    assert drift.changed == [] and not drift.drift
    return job_id


def undo(client: AuthenticatedClient, job: UUID) -> None:
    parsed(undo_template_job.sync(job, client=client))
    found = ended(
        lambda: get_template_job.sync(job, client=client), lambda found: found.status != TemplateJobStatus.UNDOING
    )
    assert found.status == TemplateJobStatus.UNDONE
