"""An automation: validated, published, run for trial."""

from uuid import UUID

from session import done, ended, pages, parsed, refused
from workspace_data_api_client import AuthenticatedClient
from workspace_data_api_client.api.workflow_runs import get_run
from workspace_data_api_client.api.workflows_v2 import (
    create_workflow,
    delete_workflow,
    get_workflow,
    list_runs,
    list_workflow_versions,
    publish_workflow,
    start_run,
    validate_workflow,
)
from workspace_data_api_client.models import (
    Graph,
    RunCreate,
    RunStatus,
    Trigger,
    WorkflowApply,
    WorkflowCreate,
    WorkflowIssueTarget,
    WorkflowValidate,
)


def automations(client: AuthenticatedClient, workspace: UUID, table: UUID) -> None:
    trigger = Trigger.from_dict({"type": "manual", "config": {}})
    binding = {"targetColumn": "code", "type": "literal", "value": "A-001"}
    config = {"mode": "insert", "targetFeatureId": str(table), "bindings": [binding]}
    graph = Graph.from_dict({"steps": [{"key": "feature.write", "config": config}]})
    broken = WorkflowValidate(workspace_id=workspace, trigger_config=trigger, graph_config=Graph.from_dict({"steps": [{}]}))
    verdict = parsed(validate_workflow.sync(client=client, body=broken))
    assert not verdict.ok and verdict.issues[0].target == WorkflowIssueTarget.GRAPH
    whole = WorkflowValidate(workspace_id=workspace, trigger_config=trigger, graph_config=graph)
    assert parsed(validate_workflow.sync(client=client, body=whole)).issues == []

    body = WorkflowCreate(workspace_id=workspace, name="Add a part", trigger_config=trigger, graph_config=graph)
    draft = parsed(create_workflow.sync(client=client, body=body))
    assert draft.is_draft and not draft.is_active and draft.version == 1
    automation = draft.workflow_id
    published = publish_workflow.sync(automation, client=client, body=WorkflowApply(version_id=draft.id))
    assert not parsed(published).is_draft
    assert parsed(get_workflow.sync(automation, client=client)).id == draft.id
    versions = pages(lambda at: list_workflow_versions.sync(client=client, workspace_id=workspace, cursor=at))
    assert [version.name for version in versions] == ["Add a part"]

    # Only an operator activates one; a dry run shows what it would do.
    assert refused(start_run.sync(automation, client=client, body=RunCreate())) == "no_active_version"
    started = parsed(start_run.sync(automation, client=client, body=RunCreate(dry_run=True)))
    last = (RunStatus.SUCCEEDED, RunStatus.FAILED)
    run = ended(lambda: get_run.sync(started.id, client=client), lambda run: run.status in last)
    assert run.status == RunStatus.SUCCEEDED, run.error
    assert [step.key for step in run.steps] == ["feature.write"]
    runs = list(pages(lambda at: list_runs.sync(automation, client=client, cursor=at)))
    assert [(one.id, one.dry_run) for one in runs] == [(run.id, True)]
    done(delete_workflow.sync_detailed(automation, client=client, force=True))
