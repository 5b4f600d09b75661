//! Tests of the declarations, and of the generated text for PostgreSQL.

use std::collections::HashSet;
use std::fs;

use super::{Access, Rows, TABLES, postgres_policies};

const HEAD: &str = "\
-- The row security of every table on PostgreSQL, made from server/src/store/policy.rs by
-- `UPDATE=1 cargo test -p tplkit-server --lib policies_are_written_down`. No store runs this: a migration for a
-- new table copies the paragraph of that table, and tests compare what all migrations make with this text.
";

/// The text that migrations copy from. A change of it is a change that a new migration has to make.
#[test]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 rewrites the text")]
fn policies_are_written_down() {
    let tables = postgres_policies().into_iter();
    let tables = tables.map(|(_, policies)| format!("\n{policies}"));
    let text = format!("{HEAD}{}", tables.collect::<String>());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/policies.sql");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(file, text).expect("is written");
    } else {
        let written = fs::read_to_string(file).expect("the text");
        assert_eq!(written, text, "UPDATE=1 rewrites {file}");
    }
}

#[test]
fn every_table_has_one_policy() {
    let names: HashSet<&str> = TABLES.iter().map(|table| table.name).collect();
    assert_eq!(names.len(), TABLES.len());
}

/// Privileges without rows, or rows without privileges, would say one thing and do another.
#[test]
fn who_may_do_nothing_sees_nothing() {
    for table in &TABLES {
        for Access { privileges, rows } in [table.authentication, table.operator, table.caller] {
            let none = matches!(rows, Rows::None);
            assert_eq!(privileges.is_empty(), none, "{}", table.name);
        }
    }
}
