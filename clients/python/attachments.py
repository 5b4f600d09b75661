"""Files: as a form and as they are, in a cell, whole and in part, and by a link."""

import os
from datetime import UTC, datetime
from io import BytesIO
from uuid import UUID

from session import done, pages, parsed, refused
from table import cells, rows
from workspace_data_api_client import AuthenticatedClient
from workspace_data_api_client.api.files import (
    create_file_link,
    delete_file,
    get_file,
    get_file_content,
    list_files,
    upload_file,
)
from workspace_data_api_client.api.rows import update_row
from workspace_data_api_client.models import FileLinkCreate, FileUpload, RowPatch
from workspace_data_api_client.types import File

TEXT = b"code,price\nP-000,12.5\n"


def content(response: object) -> bytes:
    assert isinstance(response, File), response
    return response.payload.read()


def files(client: AuthenticatedClient, workspace: UUID, table: UUID) -> None:
    part = File(payload=BytesIO(TEXT), file_name="prices.csv", mime_type="text/csv")
    form = parsed(upload_file.sync(client=client, body=FileUpload(file=part), workspace_id=workspace))
    assert (form.name, form.content_type, form.size) == ("prices.csv", "text/csv", len(TEXT))
    plain = File(payload=BytesIO(TEXT))
    plain = parsed(upload_file.sync(client=client, body=plain, workspace_id=workspace, name="unused.bin"))
    assert plain.sha256 == form.sha256

    [row] = rows(client, table, ["code:eq:P-000"])
    patch = RowPatch(data=cells(data_sheet=str(form.id)))
    parsed(update_row.sync(table, row.id, client=client, body=patch, merge=True))
    attached = pages(lambda at: list_files.sync(client=client, workspace_id=workspace, attached=True, cursor=at))
    assert [file.id for file in attached] == [form.id]

    assert parsed(get_file.sync(form.id, client=client)) == form
    assert content(get_file_content.sync(form.id, client=client)) == TEXT
    ranged = AuthenticatedClient(os.environ["URL"], token=client.token, headers={"Range": "bytes=0-3"})
    first = get_file_content.sync_detailed(form.id, client=ranged)
    assert first.status_code == 206 and content(first.parsed) == b"code"
    link = parsed(create_file_link.sync(form.id, client=client, body=FileLinkCreate(expires_in=60)))
    assert link.expires_at > datetime.now(UTC)
    assert client.get_httpx_client().get(link.url, headers={"Authorization": ""}).content == TEXT

    done(delete_file.sync_detailed(plain.id, client=client))
    assert refused(delete_file.sync(form.id, client=client)) == "not_empty"
