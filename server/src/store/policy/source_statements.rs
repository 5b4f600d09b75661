//! Whether statements have the marks that the policies of their tables demand, as far as their text stands in the source.
//!
//! `translate` asks of a caller's statement that some mark names an owner. What else the policy of a table asks of a
//! row, each statement on that table has to ask, too, or its file is listed here. Conditions that are composed at run
//! time are not seen here: those of the queries of rows are in the snapshots of their SQL.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{Condition, MARKS, ROW, Rows, SEEN, TablePolicy, WORKSPACE, sees_file, table};
use crate::store::lease;

/// The statements of a file that leave marks out.
struct Unmarked {
    file: &'static str,
    statements: usize,
    why: &'static str,
}

const UNMARKED: [Unmarked; 11] = [
    Unmarked {
        file: "automation/file_holds.rs",
        statements: 2,
        why: "files that a version names, by id: those that the caller sees, by the policy alone, and those that the \
              automation holds, whoever sees them",
    },
    Unmarked {
        file: "files/find.rs",
        statements: 3,
        why: "a file is in use whoever sees the use",
    },
    Unmarked {
        file: "files/remove.rs",
        statements: 4,
        why: "a file that was found with all marks, and the files of a workspace that goes with them",
    },
    Unmarked {
        file: "model/import.rs",
        statements: 1,
        why: "a workspace has rows whoever sees them",
    },
    Unmarked {
        file: "model/remove.rs",
        statements: 7,
        why: "a record has content whoever sees it, and all of it goes with the record",
    },
    Unmarked {
        file: "rows/fill.rs",
        statements: 5,
        why: "a background task, for all rows",
    },
    Unmarked {
        file: "rows/row_values.rs",
        statements: 2,
        why: "a value is unique among all rows of a table",
    },
    Unmarked {
        file: "rows/search_fill.rs",
        statements: 9,
        why: "background tasks, for all rows",
    },
    Unmarked {
        file: "rows/slot_allocation.rs",
        statements: 3,
        why: "a slot is of all rows of a table, which was found with all marks",
    },
    Unmarked {
        file: "rows/slot_assignment.rs",
        statements: 2,
        why: "a background task, for all tables",
    },
    Unmarked {
        file: "workspace/file_holds.rs",
        statements: 2,
        why: "a job that is undone gives back what it took, whoever sees it",
    },
];

/// How a literal in the source begins that is a statement.
const HEADS: [&str; 4] = [
    "\"SELECT ",
    "\"UPDATE main.",
    "\"DELETE FROM main.",
    "\"INSERT INTO main.",
];

/// The statements of a file of the source, each from its head to the next one, or to the end of the Rust statement.
fn statements(source: &str) -> Vec<String> {
    let tests = source.find("#[cfg(test)]\nmod tests {");
    let source = &source[..tests.unwrap_or(source.len())];
    let heads = HEADS.iter().flat_map(|head| source.match_indices(*head));
    let mut starts: Vec<usize> = heads.map(|(start, _)| start).collect();
    starts.sort_unstable();
    let ends = starts.iter().skip(1).copied().chain([source.len()]);
    let parts = starts.iter().zip(ends).map(|(start, end)| {
        let part = &source[*start..end];
        let part = &part[..part.find(";\n").unwrap_or(part.len())];
        part.replace("\\\n", " ")
            .replace("lease!(row)", lease!(row))
            .replace("lease!(fence)", lease!(fence))
            .replace("sees_file!()", sees_file!())
            .replace("sees_file!(in \"$1\")", sees_file!())
    });
    parts.collect()
}

fn has_mark(statement: &str, word: &str) -> bool {
    statement.contains(&format!("{{{word} "))
}

/// Whether a caller may run it: others are refused by `translate`.
fn is_of_callers(statement: &str) -> bool {
    let owners = MARKS.iter().filter(|mark| mark.names_owner);
    let mut owners = owners.map(|mark| mark.word).chain(["into", "own"]);
    owners.any(|word| has_mark(statement, word))
}

/// The tables that a statement reads, changes or deletes from.
fn named_tables(statement: &str) -> Vec<&'static TablePolicy> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let names = words.windows(2).filter_map(|pair| {
        let names_table = pair[0].ends_with("FROM") || ["JOIN", "\"UPDATE"].contains(&pair[0]);
        let name = pair[1].strip_prefix("main.").unwrap_or(pair[1]);
        let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        names_table.then(|| &name[..end.unwrap_or(name.len())])
    });
    names.filter_map(table).collect()
}

/// The marks that ask together what a condition does. Of the owner, `translate` asks.
fn marks(condition: &Condition) -> &'static [&'static str] {
    if *condition == WORKSPACE {
        &["workspace"]
    } else if *condition == ROW {
        &["row"]
    } else if *condition == SEEN {
        &["workspace", "row"]
    } else {
        &[]
    }
}

/// Whether a statement lacks a mark that the policy of the table demands.
fn lacks_mark(statement: &str, table: &TablePolicy) -> bool {
    let Rows::Where(rules, _) = table.caller.rows else {
        return false;
    };
    let mut demanded = rules.iter().flat_map(|rule| marks(&rule.condition));
    !has_mark(statement, "seen") && demanded.any(|word| !has_mark(statement, word))
}

#[test]
fn statements_have_the_marks_of_their_tables() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let tests = ["tests.rs", "source_statements.rs"];
    let mut folders = vec![root.clone()];
    let (mut checked, mut unmarked) = (0, BTreeMap::<String, Vec<String>>::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_source = path.extension().is_some_and(|ending| ending == "rs");
            if !is_source || tests.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            let file = path.strip_prefix(&root).expect("below the root");
            let file = file.to_string_lossy().replace('\\', "/");
            let source = fs::read_to_string(&path).expect("a file");
            for statement in statements(&source) {
                if !is_of_callers(&statement) {
                    continue;
                }
                checked += 1;
                let mut tables = named_tables(&statement).into_iter();
                if tables.any(|table| lacks_mark(&statement, table)) {
                    unmarked.entry(file.clone()).or_default().push(statement);
                }
            }
        }
    }
    assert!(checked > 200, "{checked} statements were found");
    for known in &UNMARKED {
        let Unmarked {
            file,
            statements,
            why,
        } = known;
        let found = unmarked.remove(*file).unwrap_or_default();
        assert_eq!(found.len(), *statements, "{file} ({why}): {found:#?}");
    }
    assert!(
        unmarked.is_empty(),
        "these leave out marks that the policies of their tables demand: {unmarked:#?}"
    );
}

#[test]
fn a_statement_without_the_mark_of_its_table_is_found() {
    let lacks = |source: &str| {
        let found = statements(source);
        let [statement] = found.as_slice() else {
            return None;
        };
        let mut tables = named_tables(statement).into_iter();
        Some(tables.any(|table| lacks_mark(statement, table)))
    };
    for (marks, expected) in [
        ("{tenant organization_id}", true),
        (
            "{tenant organization_id} AND {workspace workspace_id}",
            true,
        ),
        (
            "{tenant organization_id} AND {workspace workspace_id} AND {row feature_id created_by}",
            false,
        ),
        (
            "{tenant organization_id} AND {seen workspace_id feature_id created_by}",
            false,
        ),
    ] {
        let source = format!("let sql = \"SELECT id \\\n    FROM rows WHERE {marks}\";\n");
        assert_eq!(lacks(&source), Some(expected), "{marks}");
    }
    let fenced = "concat!(\"UPDATE main.workflow_runs SET wake_at = $4 WHERE \", lease!(fence));\n";
    assert_eq!(lacks(fenced), Some(false));
    let without = "let sql = \"UPDATE main.workflow_runs SET wake_at = $1 WHERE {tenant organization_id}\";\n";
    assert_eq!(lacks(without), Some(true));
}
