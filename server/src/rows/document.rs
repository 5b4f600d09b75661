//! What bodies and responses hold of rows: for their schemas.
//!
//! Rows are many, and their cells are text from the body to the store and back: [`write_row`](super::write_row)
//! writes them and [`Submission`](super::Submission) reads them, piece by piece. A test holds the writer to the
//! type.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::MOST_ROWS;
use crate::json_schemas::{Cells, UtcInstant};

/// A record of a table.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Row<'a> {
    /// Id of the record.
    id: Uuid,
    /// The table.
    feature_id: Uuid,
    /// When it was created.
    created_at: UtcInstant,
    /// When it last changed.
    updated_at: UtcInstant,
    /// Cells by the technical names of their columns.
    #[schemars(with = "Cells")]
    data: &'a RawValue,
}

/// The rows that were made, in the order they were sent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RowBatchResult<'a> {
    /// How many.
    count: u64,
    /// The records.
    items: Vec<Row<'a>>,
}

/// A row to make.
#[derive(JsonSchema)]
#[expect(
    dead_code,
    reason = "`Submission` reads it without a copy of its cells"
)]
pub(crate) struct RowCreate {
    /// Cells by the technical names of their columns.
    data: Cells,
}

/// The new cells of a row: all of them, or with `merge=true` those that change.
#[derive(JsonSchema)]
#[expect(
    dead_code,
    reason = "`Submission` reads it without a copy of its cells"
)]
pub(crate) struct RowPatch {
    /// Cells by the technical names of their columns.
    data: Option<Cells>,
}

/// Up to 500 rows to make, all or none.
#[derive(JsonSchema)]
#[expect(
    dead_code,
    reason = "`Submission` reads it without a copy of its cells"
)]
pub(crate) struct RowBatch {
    /// Rows.
    #[schemars(length(min = 1, max = MOST_ROWS))]
    rows: Vec<RowCreate>,
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use uuid::Uuid;

    use super::{Row, RowBatchResult};
    use crate::json_schemas::UtcInstant;
    use crate::rows::{RowHead, write_row};

    #[test]
    fn a_row_is_written_as_its_type_says() {
        let (id, feature) = (Uuid::from_u128(0xA), Uuid::from_u128(0xB));
        let (created, updated) = (1_700_000_000_123_456, 1_700_000_001_000_000);
        let cells = r#"{"a":1.50,"b":"\u00e9"}"#;
        let row = || Row {
            id,
            feature_id: feature,
            created_at: UtcInstant(created),
            updated_at: UtcInstant(updated),
            data: serde_json::from_str::<&RawValue>(cells).expect("JSON"),
        };
        let mut written = String::new();
        let head = RowHead {
            id,
            feature,
            created_at: created,
            updated_at: updated,
        };
        write_row(&mut written, head, cells);
        assert_eq!(written, serde_json::to_string(&row()).expect("JSON"));
        let batch = RowBatchResult {
            count: 2,
            items: vec![row(), row()],
        };
        let batch = serde_json::to_string(&batch).expect("JSON");
        let together = format!(r#"{{"count":2,"items":[{written},{written}]}}"#);
        assert_eq!(batch, together);
    }
}
