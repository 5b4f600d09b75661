//! The view that hides a table, and the triggers that check each written row.

use super::PREFIX;
use super::predicates::RowPredicates;
use crate::store::policy::TablePolicy;

/// The SQL that makes them.
pub(super) fn definition(table: &TablePolicy, predicates: &RowPredicates) -> String {
    let name = table.name;
    let of = |predicate: &str, row: &str| predicate.replace('@', row);
    let seen = of(&predicates.read, "");
    let (old, new) = (of(&predicates.write, "OLD."), of(&predicates.write, "NEW."));
    let (before, after) = (
        of(&predicates.change, "OLD."),
        of(&predicates.becomes, "NEW."),
    );
    let moment = if table.upserted { "BEFORE" } else { "AFTER" };
    format!(
        "CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} WHERE {seen};
         CREATE TEMP TRIGGER {PREFIX}insert_{name} {moment} INSERT ON main.{name} WHEN NOT {new}
         BEGIN SELECT RAISE(ABORT, 'outside the scope'); END;
         CREATE TEMP TRIGGER {PREFIX}delete_{name} BEFORE DELETE ON main.{name} WHEN NOT {old}
         BEGIN SELECT RAISE(IGNORE); END;
         CREATE TEMP TRIGGER {PREFIX}update_{name} BEFORE UPDATE ON main.{name} WHEN NOT {before}
         BEGIN SELECT RAISE(IGNORE); END;
         CREATE TEMP TRIGGER {PREFIX}updated_{name} BEFORE UPDATE ON main.{name}
         WHEN {before} AND NOT {after}
         BEGIN SELECT RAISE(ABORT, 'outside the scope'); END;"
    )
}
