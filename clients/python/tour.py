"""A tour of the API with the client that openapi-python-client makes of its document: sign in, make a table, write and
read rows, follow pages, carry the table into another workspace as a package."""

import os
import time
from collections.abc import Iterator
from typing import TypeVar
from uuid import UUID

from workspace_data_api_client import AuthenticatedClient, Client
from workspace_data_api_client.api.auth import sign_in
from workspace_data_api_client.api.columns import create_column
from workspace_data_api_client.api.features import create_feature
from workspace_data_api_client.api.organizations import list_organizations
from workspace_data_api_client.api.rows import create_row, create_rows, list_rows, update_row
from workspace_data_api_client.api.schema import get_definitions
from workspace_data_api_client.api.template_jobs import get_template_job
from workspace_data_api_client.api.templates import apply_template, import_package, list_payloads, plan_template
from workspace_data_api_client.api.workspaces import create_workspace, export_workspace
from workspace_data_api_client.models import (
    Apply,
    Cells,
    ColumnCreateBoolean,
    ColumnCreateCurrency,
    ColumnCreateCurrencyConfig,
    ColumnCreateText,
    ColumnCreateTextConfig,
    Export,
    ExportRowsType0,
    FeatureCreate,
    GeneratedDefinitions,
    PlanRequest,
    Problem,
    Row,
    RowBatch,
    RowCreate,
    RowPatch,
    SignIn,
    TemplateJobReport,
    TemplateJobStatus,
    WorkspaceCreate,
)
from workspace_data_api_client.types import UNSET

T = TypeVar("T")


def parsed(response: T | Problem | None) -> T:
    """The body of a success; a refusal is an error with its code."""
    if isinstance(response, Problem):
        raise SystemExit(f"{response.code}: {response.detail}")
    assert response is not None, "a response that the document does not describe"
    return response


def cells(**values: object) -> Cells:
    return Cells.from_dict(values)


def signed_in(url: str, email: str, password: str) -> AuthenticatedClient:
    tokens = parsed(sign_in.sync(client=Client(url), body=SignIn(email=email, password=password)))
    return AuthenticatedClient(url, token=tokens.access_token)


def make_table(client: AuthenticatedClient, workspace: UUID) -> UUID:
    body = FeatureCreate(workspace_id=workspace, label="Parts")
    table = parsed(create_feature.sync(client=client, body=body)).id
    text = ColumnCreateTextConfig(required=True, unique=True)
    money = ColumnCreateCurrencyConfig(decimals=2, currency="EUR")
    for column in [
        ColumnCreateText(type_="text", label="Code", config=text),
        ColumnCreateCurrency(type_="currency", label="Price", config=money),
        ColumnCreateBoolean(type_="boolean", label="In stock"),
    ]:
        made = parsed(create_column.sync(table, client=client, body=column))
        assert made.label == column.label
    return table


def write_rows(client: AuthenticatedClient, table: UUID) -> None:
    body = RowCreate(data=cells(code="P-000", price=12.5, in_stock=True))
    created = parsed(create_row.sync(table, client=client, body=body))
    assert created.data["price"] == 12.5
    rows = [RowCreate(data=cells(code=f"P-{at:03}", price=at - 1, in_stock=at % 2 == 1)) for at in range(1, 61)]
    batch = parsed(create_rows.sync(table, client=client, body=RowBatch(rows=rows)))
    assert batch.count == len(batch.items) == 60
    patch = RowPatch(data=cells(price=13))
    changed = parsed(update_row.sync(table, created.id, client=client, body=patch, merge=True))
    assert changed.data["price"] == 13 and changed.data["code"] == "P-000"


def rows(client: AuthenticatedClient, table: UUID, filters: list[str]) -> Iterator[Row]:
    """Every row of a table, page after page."""
    cursor = None
    while True:
        following = UNSET if cursor is None else cursor
        page = parsed(list_rows.sync(table, client=client, filter_=filters, sort="code", limit=25, cursor=following))
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def carry(client: AuthenticatedClient, organization: UUID, workspace: UUID) -> UUID:
    """Exports the workspace, imports that as a template, and returns its id."""
    package = parsed(export_workspace.sync(workspace, client=client, body=Export(rows=ExportRowsType0.ALL)))
    template = parsed(import_package.sync(client=client, body=package, organization_id=organization)).id
    [payload] = parsed(list_payloads.sync(template, client=client)).items
    assert payload.entry.count == len(payload.entry.rows) == 61
    row = payload.entry.rows[0]
    assert row.uid.startswith("u_") and row.data["code"] == "P-000"
    return template


def apply(client: AuthenticatedClient, template: UUID, workspace: UUID) -> TemplateJobReport:
    plan = parsed(plan_template.sync(template, client=client, body=PlanRequest(workspace_id=workspace)))
    assert plan.refusals == []
    body = Apply(workspace_id=workspace, plan=plan.digest)
    job_id = parsed(apply_template.sync(template, client=client, body=body)).job_id
    while True:
        job = parsed(get_template_job.sync(job_id, client=client))
        if job.status == TemplateJobStatus.COMPLETED:
            assert job.report is not None
            return job.report
        assert job.status != TemplateJobStatus.FAILED, job.error
        time.sleep(0.1)


def main() -> None:
    client = signed_in(os.environ["URL"], os.environ["EMAIL"], os.environ["PASSWORD"])
    organization = parsed(list_organizations.sync(client=client)).items[0].id

    def make(label: str) -> UUID:
        body = WorkspaceCreate(organization_id=organization, label=label)
        return parsed(create_workspace.sync(client=client, body=body)).id

    workspace = make("Python")
    table = make_table(client, workspace)
    write_rows(client, table)
    found = list(rows(client, table, ["price:gten:10", "in_stock:eq:true"]))
    assert len(found) == 26, len(found)

    refused = list_rows.sync(table, client=client, filter_=["price:near:1"])
    assert isinstance(refused, Problem) and refused.code == "invalid_filter"

    definitions = parsed(get_definitions.sync(client=client))
    assert isinstance(definitions, GeneratedDefinitions) and definitions.column_types["text"].label == "Text"

    report = apply(client, carry(client, organization, workspace), make("Python again"))
    [inserted] = [table.inserted for table in report.rows.additional_properties.values()]
    assert inserted == 61
    print(f"python: {len(found)} rows on their pages, and a package applied")


main()
