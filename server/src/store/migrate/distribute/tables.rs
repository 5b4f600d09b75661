//! The tables: which of them lie where, and how they get there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tokio_postgres::Transaction;

use super::super::run::{run, run_each};
use crate::store::dialect::WHOLE_ROWS;
use crate::store::policy::{TABLES, TablePolicy, table};
use crate::store::{Placement, StoreError, sql_log};

/// What Citus knows of the tables of the schema: the name, how they lie, and by which column.
const KNOWN: &str = "SELECT relname::text, partmethod::text, repmodel::text, \
     coalesce(column_to_column_name(logicalrelid, partkey), '') \
     FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid \
     WHERE relnamespace = 'main'::regnamespace";

const FOREIGN_KEYS: &str = "SELECT conname::text, ours.relname::text, theirs.relname::text, \
     pg_get_constraintdef(pg_constraint.oid) FROM pg_constraint \
     JOIN pg_class AS ours ON ours.oid = conrelid JOIN pg_class AS theirs ON theirs.oid = confrelid \
     WHERE contype = 'f' AND conparentid = 0 \
     AND (ours.relnamespace = 'main'::regnamespace OR theirs.relnamespace = 'main'::regnamespace) \
     ORDER BY ours.relname, conname";

const POLICIES: &str = "SELECT quote_ident(policyname), tablename::text FROM pg_policies \
     WHERE schemaname = 'main' ORDER BY tablename, policyname";

/// Tables that have to be placed yet, parents first.
pub(super) async fn left(
    transaction: &Transaction<'_>,
) -> Result<Vec<&'static TablePolicy>, StoreError> {
    sql_log::control(KNOWN);
    let mut known = BTreeMap::new();
    for row in transaction.query(KNOWN, &[]).await? {
        let (name, method, model, column): (String, String, String, String) = (
            row.try_get(0)?,
            row.try_get(1)?,
            row.try_get(2)?,
            row.try_get(3)?,
        );
        known.insert(name, (method, model, column));
    }
    let mut left = Vec::new();
    // A table with which the others lie comes first.
    let first = TABLES.iter().filter(|table| table.name == FIRST);
    let others = TABLES.iter().filter(|table| table.name != FIRST);
    for table in first.chain(others) {
        let Some((method, model, column)) = known.get(table.name) else {
            if table.placement != Placement::Coordinator {
                left.push(table);
            }
            continue;
        };
        let is_right = match table.placement {
            // By the hash of the column.
            Placement::Organization(by) => method == "h" && column == by,
            Placement::Coordinator => false,
            // Once, and not on every node.
            Placement::CoordinatorJointly => method == "n" && model != "t",
        };
        if !is_right {
            return Err(StoreError::NotDistributable(format!(
                "the table main.{} is known to Citus in another place than this program gives it ({}): run SELECT \
                 undistribute_table('main.{}', cascade_via_foreign_keys => true) first",
                table.name,
                described(table.placement),
                table.name
            )));
        }
    }
    Ok(left)
}

/// The table that the others lie with.
const FIRST: &str = "organizations";

fn described(place: Placement) -> String {
    match place {
        Placement::Organization(column) => format!("distributed by {column}"),
        Placement::Coordinator => "on the coordinator, unknown to Citus".to_owned(),
        Placement::CoordinatorJointly => "on the coordinator".to_owned(),
    }
}

/// Puts a table where it belongs, with its rows.
pub(super) async fn place(
    transaction: &Transaction<'_>,
    table: &TablePolicy,
) -> Result<(), StoreError> {
    let name = table.name;
    let placed = match table.placement {
        Placement::Organization(column) => {
            let with = if name == FIRST {
                "none".to_owned()
            } else {
                format!("main.{FIRST}")
            };
            format!(
                "SELECT create_distributed_table('main.{name}', '{column}', colocate_with => '{with}'); \
                 SELECT truncate_local_data_after_distributing_table('main.{name}')"
            )
        }
        Placement::CoordinatorJointly => {
            format!("SELECT citus_add_local_table_to_metadata('main.{name}')")
        }
        Placement::Coordinator => return Ok(()),
    };
    Ok(run_each(transaction, &placed).await?)
}

/// Takes all policies away, and with them what would keep rows from being moved.
pub(super) async fn remove_policies(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    sql_log::control(POLICIES);
    let mut text = format!("DROP VIEW IF EXISTS {WHOLE_ROWS};\n");
    for row in transaction.query(POLICIES, &[]).await? {
        let (policy, table): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        // Somebody else's table keeps its own.
        if self::table(&table).is_some() {
            let _ = writeln!(text, "DROP POLICY {policy} ON {table};");
        }
    }
    for table in &TABLES {
        let _ = writeln!(
            text,
            "ALTER TABLE {} DISABLE ROW LEVEL SECURITY;",
            table.name
        );
    }
    Ok(run_each(transaction, &text).await?)
}

/// A foreign key.
#[derive(Debug)]
pub(super) struct ForeignKey {
    name: String,
    from: String,
    to: String,
    definition: String,
}

impl ForeignKey {
    /// Whether it can be asked for in a distributed database: both tables lie on one machine.
    pub(super) fn stays(&self) -> bool {
        let of = |name: &str| table(name).map(|table| table.placement.is_coordinator());
        of(&self.from) == of(&self.to)
    }

    /// The statement that adds it.
    pub(super) fn add(&self) -> String {
        let ForeignKey {
            name,
            from,
            definition,
            ..
        } = self;
        format!("ALTER TABLE {from} ADD CONSTRAINT {name} {definition}")
    }
}

/// Takes the foreign keys of tables away while these are placed: one that leads elsewhere would keep its tables
/// together.
pub(super) async fn remove_foreign_keys(
    transaction: &Transaction<'_>,
    left: &[&TablePolicy],
) -> Result<Vec<ForeignKey>, StoreError> {
    sql_log::control(FOREIGN_KEYS);
    let mut keys = Vec::new();
    for row in transaction.query(FOREIGN_KEYS, &[]).await? {
        let key = ForeignKey {
            name: row.try_get(0)?,
            from: row.try_get(1)?,
            to: row.try_get(2)?,
            definition: row.try_get(3)?,
        };
        for name in [&key.from, &key.to] {
            if table(name).is_none() {
                return Err(StoreError::NotDistributable(format!(
                    "the table {name} is not one of this program, and the foreign key {} ties it to main.{}: drop the key \
                     first",
                    key.name, key.to
                )));
            }
        }
        let moves = |name: &str| left.iter().any(|table| table.name == name);
        if !moves(&key.from) && !moves(&key.to) {
            continue;
        }
        let words = format!("ALTER TABLE {} DROP CONSTRAINT {}", key.from, key.name);
        run(transaction, &words).await?;
        keys.push(key);
    }
    Ok(keys)
}
