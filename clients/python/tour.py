"""A tour of the API with the client that openapi-python-client makes of its document: sign in, make a table, write and
read rows, follow pages, attach files, try an automation, carry the table into another workspace as a package."""

import os
from uuid import UUID

from attachments import files
from automations import automations
from packages import apply, carry, undo
from session import parsed, refused, signed_in
from table import make_table, rows, write_rows
from workspace_data_api_client.api.me import get_me
from workspace_data_api_client.api.organizations import list_organizations
from workspace_data_api_client.api.rows import list_rows
from workspace_data_api_client.api.schema import get_definitions
from workspace_data_api_client.api.workspaces import create_workspace
from workspace_data_api_client.models import GeneratedDefinitions, MeKind, WorkspaceCreate


def main() -> None:
    client = signed_in(os.environ["URL"], os.environ["EMAIL"], os.environ["PASSWORD"])
    me = parsed(get_me.sync(client=client))
    assert (me.kind, me.email) == (MeKind.USER, os.environ["EMAIL"])
    organization = parsed(list_organizations.sync(client=client)).items[0].id

    def make(label: str) -> UUID:
        body = WorkspaceCreate(organization_id=organization, label=label)
        return parsed(create_workspace.sync(client=client, body=body)).id

    workspace = make("Python")
    table = make_table(client, workspace)
    write_rows(client, table)
    found = list(rows(client, table, ["price:gten:10", "in_stock:eq:true"]))
    assert len(found) == 26, len(found)
    assert refused(list_rows.sync(table, client=client, filter_=["price:near:1"])) == "invalid_filter"

    definitions = parsed(get_definitions.sync(client=client))
    assert isinstance(definitions, GeneratedDefinitions) and definitions.column_types["text"].label == "Text"

    files(client, workspace, table)
    automations(client, workspace, table)
    undo(client, apply(client, carry(client, organization, workspace), make("Python again")))
    print(f"python: {len(found)} rows on their pages, files, an automation, and a package applied and undone")


main()
