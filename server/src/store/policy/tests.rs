//! Tests of the declarations, and of the generated text for PostgreSQL.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;

use uuid::Uuid;

use super::migration_text::changes;
use super::table::ONE_BY_ONE;
use super::{Access, Form, MARKS, Rows, Rule, TABLES, postgres_policies, sees_file, table};
use crate::store::{OneTable, Visible};

const HEAD: &str = "\
-- The row security of every table on PostgreSQL, made from server/src/store/policy.rs by
-- `UPDATE=1 cargo test -p tplkit-server --lib policies_are_written_down`, which appends what changed to the migration
-- that MIGRATION names. No store runs this text; tests compare it with what all migrations make.
";

/// The text of all policies. A change of it is a change that a new migration has to make: the one that `MIGRATION` names.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "UPDATE=1 rewrites the text, and appends to the MIGRATION"
)]
fn policies_are_written_down() {
    let tables = postgres_policies().into_iter();
    let tables = tables.map(|(_, policies)| format!("\n{policies}"));
    let text = format!("{HEAD}{}", tables.collect::<String>());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/policies.sql");
    let written = fs::read_to_string(file).expect("the text");
    if std::env::var_os("UPDATE").is_none() {
        assert_eq!(written, text, "UPDATE=1 rewrites {file}");
        return;
    }
    if let Ok(migration) = std::env::var("MIGRATION") {
        append(&migration, &changes(&written, &text));
    }
    fs::write(file, text).expect("is written");
}

/// Appends statements to a migration of PostgreSQL that is there.
fn append(migration: &str, statements: &str) {
    assert!(!statements.is_empty(), "policies.sql has all changes");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/postgres");
    let file = format!("{folder}/{migration}.sql");
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    file.write_all(statements.as_bytes()).expect("is written");
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

/// The mark for a rule, on the columns of a table that a statement calls `alias`.
fn mark(rule: &Rule, alias: &str) -> String {
    let mark = MARKS.iter().find(|mark| mark.condition == rule.condition);
    let word = mark.expect("a mark for the rule").word;
    let columns = rule.columns.iter();
    let columns = columns.map(|column| format!(" {alias}.{column}"));
    format!("{{{word}{}}}", columns.collect::<String>())
}

/// What statements about files ask is the policy of `files`, word by word.
#[test]
fn statements_show_the_files_that_the_policy_shows() {
    let rules = |name: &str| match table(name).map(|table| table.caller.rows) {
        Some(Rows::Where(rules, _)) => rules,
        _ => &[],
    };
    let files = table("files").expect("a table");
    let restriction = files.read_restriction.expect("it has one");
    let pairs = restriction.pairs.iter();
    let pairs = pairs.map(|(theirs, ours)| format!("uses.{theirs} = files.{ours}"));
    let through = rules(restriction.through).iter();
    let through = through.map(|rule| mark(rule, "uses"));
    let own = rules("files").iter().map(|rule| mark(rule, "files"));
    let expected = format!(
        "{} AND ({} OR EXISTS (SELECT 1 FROM {} AS uses WHERE {}{ONE_BY_ONE}))",
        own.collect::<Vec<_>>().join(" AND "),
        mark(&restriction.own, "files"),
        restriction.through,
        pairs.chain(through).collect::<Vec<_>>().join(" AND "),
    );
    assert_eq!(sees_file!(), expected);
    let bound = " AND uses.organization_id = $1";
    assert_eq!(sees_file!(in "$1").replace(bound, ""), expected);
}

#[test]
fn the_program_shows_the_rows_that_the_policy_shows() {
    let [caller, other, run, workspace, feature] = [1, 2, 3, 4, 5].map(Uuid::from_u128);
    let seen = |visible: &Visible| {
        let creators = [Some(caller), Some(other), Some(run), None];
        creators.map(|creator| visible.sees_row(workspace, feature, creator))
    };
    let open = Visible {
        caller,
        ..Visible::default()
    };
    assert_eq!(seen(&open), [true; 4]);
    let hidden = Visible {
        hidden: vec![workspace],
        ..open.clone()
    };
    assert_eq!(seen(&hidden), [false; 4]);
    assert!(open.sees_workspace(workspace) && !hidden.sees_workspace(workspace));
    let guarded = Visible {
        guarded: vec![feature],
        ..open.clone()
    };
    assert_eq!(seen(&guarded), [true, false, false, false]);
    let of_run = Visible {
        run: Some(run),
        ..guarded
    };
    assert_eq!(seen(&of_run), [true, false, true, false]);
    let one = |feature| Visible {
        only: Some(OneTable { workspace, feature }),
        ..open.clone()
    };
    assert_eq!(seen(&one(Some(feature))), [true; 4]);
    assert_eq!(seen(&one(Some(other))), [false; 4]);
    assert_eq!(seen(&one(None)), [true; 4]);
    assert!(one(None).sees_workspace(workspace) && !one(None).sees_workspace(other));
}

/// Citus refuses a policy with a subquery, and loses on its workers that one restricts others.
#[test]
fn distributed_policies_are_what_citus_can_send_to_workers() {
    let mut policies = 0;
    for table in &TABLES {
        for policy in table
            .postgres(Form::Distributed)
            .split("CREATE POLICY ")
            .skip(1)
        {
            let (policy, _) = policy.split_once(';').expect("an end");
            for word in ["SELECT 1", "(SELECT", "CASE", "RESTRICTIVE"] {
                assert!(!policy.contains(word), "{word}: {policy}");
            }
            policies += 1;
        }
    }
    assert!(policies > TABLES.len(), "{policies}");
    let files = table("files").expect("a table").postgres(Form::Distributed);
    assert!(
        files.contains("OR leads_to_files(organization_id, id))"),
        "{files}"
    );
}
