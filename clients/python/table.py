"""A table, its columns and its rows."""

from collections.abc import Iterator
from uuid import UUID

from session import done, pages, parsed
from workspace_data_api_client import AuthenticatedClient
from workspace_data_api_client.api.columns import create_column, list_columns
from workspace_data_api_client.api.features import create_feature, get_feature
from workspace_data_api_client.api.rows import (
    aggregate_rows,
    create_row,
    create_rows,
    delete_row,
    get_row,
    list_rows,
    update_row,
)
from workspace_data_api_client.models import (
    AggregateRowsOp,
    Cells,
    ColumnCreateBoolean,
    ColumnCreateCurrency,
    ColumnCreateCurrencyConfig,
    ColumnCreateFile,
    ColumnCreateText,
    ColumnCreateTextConfig,
    FeatureCreate,
    Row,
    RowBatch,
    RowCreate,
    RowPatch,
)


def cells(**values: object) -> Cells:
    return Cells.from_dict(values)


def make_table(client: AuthenticatedClient, workspace: UUID) -> UUID:
    body = FeatureCreate(workspace_id=workspace, label="Parts")
    table = parsed(create_feature.sync(client=client, body=body)).id
    text = ColumnCreateTextConfig(required=True, unique=True)
    money = ColumnCreateCurrencyConfig(decimals=2, currency="EUR")
    for column in [
        ColumnCreateText(type_="text", label="Code", config=text),
        ColumnCreateCurrency(type_="currency", label="Price", config=money),
        ColumnCreateBoolean(type_="boolean", label="In stock"),
        ColumnCreateFile(type_="file", label="Data sheet"),
    ]:
        made = parsed(create_column.sync(table, client=client, body=column))
        assert made.label == column.label
    columns = parsed(list_columns.sync(table, client=client))
    assert [column.name for column in columns] == ["code", "price", "in_stock", "data_sheet"]
    assert parsed(get_feature.sync(table, client=client)).name == "parts"
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
    assert parsed(get_row.sync(table, created.id, client=client)) == changed
    two = ["code:in:P-000|P-002"]
    total = parsed(aggregate_rows.sync(table, client=client, op=AggregateRowsOp.SUM, column="price", filter_=two))
    assert (total.result, total.rows_considered) == (14, 2)
    extra = parsed(create_row.sync(table, client=client, body=RowCreate(data=cells(code="X"))))
    done(delete_row.sync_detailed(table, extra.id, client=client))


def rows(client: AuthenticatedClient, table: UUID, filters: list[str]) -> Iterator[Row]:
    """Every row of a table, page after page."""
    return pages(lambda at: list_rows.sync(table, client=client, filter_=filters, sort="code", limit=25, cursor=at))
