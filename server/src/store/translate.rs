//! SQL statements: one text for both stores, with marks where the scope or the store makes a
//! difference.
//!
//! | Mark | Becomes |
//! |---|---|
//! | `$1`, `$2`… | the parameter |
//! | `{tenant COLUMN}`, `{caller COLUMN}`, `{catalog COLUMN VISIBILITY}`, `{promoting COLUMN}`, `{workspace COLUMN}`, `{row FEATURE CREATOR}`, `{seen WORKSPACE FEATURE CREATOR}`, `{uploader ORGANIZATION CREATOR}` | a predicate of the module `policy` for the scope, on these columns |
//! | `{whole rows}` | the rows; where the caller sees all of the only organization, or of the one table, without the columns by which SQLite's row security decides, which no index has |
//! | `{counted rows}` | the same on both stores, for statements that need no order: PostgreSQL plans its view apart |
//! | `{into $n}` | nothing; the parameter is checked to be an organization of the scope |
//! | `{queue COLUMN}` | in what looks for work: the organization of that column is the one whose queues are looked at; of one machine, all are |
//! | `{own $n}` | nothing; the parameter is checked to be the caller |
//! | `{lock}` | `FOR UPDATE` where the store has more than one writer |
//! | `{lock_fields}` | `FOR NO KEY UPDATE` where the store has more than one writer: as `{lock}`, but what refers to the row may be written |
//! | `{skip}` | `FOR UPDATE SKIP LOCKED` where the store has more than one writer |
//! | `{clock}` | the time of the database when the statement reached it, in microseconds since 1970 |
//! | `{share TABLE}` | `FOR SHARE OF` that table (by its alias) where the store has more than one writer |
//! | `{any COLUMN $n}` | the column is one of the values of the parameter, a list |
//! | `{clock $n}` | the time by the clock that all who share the store go by: the database's; the parameter is that of this process, which has a SQLite file to itself |
//! | `{json $n}` | the parameter, a text, as a document |
//! | `{text COLUMN}` | a column of a document, as the text that was written |
//! | `{across WHY}` | nothing; the statement may read the rows of many organizations, for a reason of the module `distribution` |
//! | `{anew}` | nothing; PostgreSQL plans the statement for its parameters, each time |
//! | `{bounded}` | nothing; the response ends with the row that makes it larger than [`BOUND`](super::BOUND) |
//!
//! Tables are read by their name and written as `main.TABLE` (SQLite's full-text index, too, which alone takes
//! `INSERT OR REPLACE`). `main` stands once in a statement, at
//! its head, or not at all: that is what SQLite's row security rests on. `ON CONFLICT` is for tables whose row security
//! is asked before an insert. A caller's statement names an owner; that it has the other marks of its tables, a test
//! finds in the source (`policy/source_statements.rs`).

use super::dialect::{Dialect, Shape, WHOLE_ROWS, push};
#[cfg(any(test, feature = "row-security-off"))]
use super::distribution::check;
use super::distribution::{IN_TESTS, OF_A_TEST, REASONS};
use super::policy::{self, FULL_TEXT, Predicates, table};
use super::statement::{ScopeParameter, Statement};
use super::{Isolation, Scope, StoreError};

/// The time of PostgreSQL. Not `now()`, which stands still in a transaction; nor `clock_timestamp()`, which goes on
/// during a statement: a database of several nodes could not read it once for all of them, and an index cannot be
/// searched for it.
const CLOCK: &str = "CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)";

/// Puts a statement into the words of a store. Fails on statements that break the rules above.
pub(super) fn translate(
    source: &str,
    given: usize,
    dialect: Dialect,
    scope: &Scope,
    isolation: Isolation,
) -> Result<Statement, StoreError> {
    let refuse = |why: &str| Err(StoreError::Internal(format!("{why}: {source}")));
    let writes = match written_table(source) {
        Ok(writes) => writes,
        Err(why) => return refuse(why),
    };
    let mut statement = Statement::of(String::with_capacity(source.len() + 64));
    statement.writes = writes;
    let shape = Shape::of(scope);
    let mut guarded = false;
    #[cfg(any(test, feature = "row-security-off"))]
    let mut across = None;
    let mut rest = source;
    while let Some(open) = rest.find('{') {
        push(&mut statement.text, &rest[..open], dialect);
        let Some(close) = rest[open..].find('}') else {
            return refuse("an open mark");
        };
        let mark = &rest[open + 1..open + close];
        rest = &rest[open + close + 1..];
        let (word, argument) = mark.split_once(' ').unwrap_or((mark, ""));
        if let Some(predicate) = policy::mark(word) {
            guarded |= predicate.names_owner;
            if !matches!(scope, Scope::Caller(_)) || !isolation.predicates {
                statement.text.push_str("true");
                continue;
            }
            let mut predicates = Predicates {
                statement: &mut statement,
                given,
                dialect,
                shape,
            };
            let Some(predicate) = predicate.predicate(argument, &mut predicates) else {
                return refuse("the mark takes another number of columns");
            };
            statement.text.push_str(&predicate);
            continue;
        }
        match word {
            "whole" => {
                let is_whole = shape.whole && isolation.row_security && argument == "rows";
                statement.text.push_str(match dialect {
                    Dialect::Sqlite if is_whole => WHOLE_ROWS,
                    _ => argument,
                });
            }
            "counted" => {
                let is_whole = shape.whole && isolation.row_security && argument == "rows";
                let view = if is_whole { WHOLE_ROWS } else { argument };
                statement.text.push_str(view);
            }
            "into" | "own" => {
                guarded = true;
                let position = argument
                    .strip_prefix('$')
                    .and_then(|n| n.parse::<usize>().ok());
                let Some(position) = position.filter(|n| (1..=given).contains(n)) else {
                    return refuse("the mark names no parameter");
                };
                let position = isolation.predicates.then_some(position - 1);
                if word == "into" {
                    statement.into = position;
                } else {
                    statement.own = position;
                }
            }
            "queue" => match scope {
                Scope::OperatorOf(_) => {
                    let number = statement.parameter(given, ScopeParameter::Organization);
                    push(&mut statement.text, argument, dialect);
                    statement.text.push_str(" = ");
                    statement.text.push_str(&dialect.parameter(number));
                }
                _ => statement.text.push_str("true"),
            },
            "anew" => statement.anew = true,
            "across" => {
                let is_of_test = IN_TESTS && argument == OF_A_TEST;
                if !is_of_test && REASONS.iter().all(|(reason, _)| *reason != argument) {
                    return refuse("{across} takes a reason that the module `distribution` knows");
                }
                #[cfg(any(test, feature = "row-security-off"))]
                {
                    across = Some(argument);
                }
            }
            "bounded" => statement.most = Some(super::BOUND),
            "lock" => {
                if dialect == Dialect::Postgres {
                    statement.text.push_str("FOR UPDATE");
                }
            }
            "lock_fields" => {
                if dialect == Dialect::Postgres {
                    statement.text.push_str("FOR NO KEY UPDATE");
                }
            }
            "skip" => {
                if dialect == Dialect::Postgres {
                    statement.text.push_str("FOR UPDATE SKIP LOCKED");
                }
            }
            "share" => {
                if dialect == Dialect::Postgres {
                    statement.text.push_str("FOR SHARE OF ");
                    statement.text.push_str(argument);
                }
            }
            "any" => {
                let Some((column, list)) = argument.split_once(' ') else {
                    return refuse("{any} takes a column and a parameter");
                };
                let words = match dialect {
                    Dialect::Postgres => format!("{column} = ANY ({list})"),
                    Dialect::Sqlite => format!("{column} IN rarray({list})"),
                };
                push(&mut statement.text, &words, dialect);
            }
            "clock" if argument.is_empty() => statement.text.push_str(match dialect {
                Dialect::Postgres => CLOCK,
                Dialect::Sqlite => "CAST(unixepoch('now', 'subsec') * 1000000 AS INTEGER)",
            }),
            "clock" => match dialect {
                Dialect::Postgres => {
                    // Named, the parameter has a type; it adds nothing.
                    statement.text.push('(');
                    statement.text.push_str(CLOCK);
                    statement.text.push_str(" + CAST(0 AS bigint) * ");
                    statement.text.push_str(argument);
                    statement.text.push(')');
                }
                Dialect::Sqlite => push(&mut statement.text, argument, dialect),
            },
            "json" => {
                push(&mut statement.text, argument, dialect);
                if dialect == Dialect::Postgres {
                    statement.text.push_str("::text::json");
                }
            }
            "text" => {
                statement.text.push_str(argument);
                if dialect == Dialect::Postgres {
                    statement.text.push_str("::text");
                }
            }
            _ => return refuse("an unknown mark"),
        }
    }
    push(&mut statement.text, rest, dialect);
    // A caller's statement says whose rows it means, every time.
    if matches!(scope, Scope::Caller(_)) && !guarded {
        return refuse("a statement without a scope");
    }
    // Where tests take the predicates away, few statements name an organization.
    #[cfg(any(test, feature = "row-security-off"))]
    if dialect == Dialect::Postgres && isolation.predicates && across != Some(OF_A_TEST) {
        // What a caller may read by the marks alone, the operator may: nothing is kept from it.
        let reads_as_operator = guarded && *scope == Scope::Operator && statement.writes.is_none();
        let kept = check(&statement.text, across.is_some() || reads_as_operator);
        assert_eq!(
            kept,
            Ok(()),
            "CONTRIBUTING.md, \"Write a statement\", of {}",
            statement.text
        );
    }
    Ok(statement)
}

fn written_table(source: &str) -> Result<Option<&'static str>, &'static str> {
    if let Some(tail) = source.strip_prefix("INSERT OR REPLACE INTO main.") {
        return match tail.strip_prefix(FULL_TEXT) {
            Some(tail) if tail.starts_with(' ') && !tail.contains("main.") => Ok(Some(FULL_TEXT)),
            _ => Err("only the full-text index is written so"),
        };
    }
    let head = ["INSERT INTO main.", "UPDATE main.", "DELETE FROM main."];
    let tail = head.iter().find_map(|head| source.strip_prefix(head));
    let mentions = source.matches("main.").count();
    match tail {
        None if mentions == 0 && source.starts_with("SELECT ") => Ok(None),
        Some(tail) if mentions == 1 => {
            let end = tail.find(|c: char| !c.is_ascii_lowercase() && c != '_');
            let name = &tail[..end.unwrap_or(tail.len())];
            if name == FULL_TEXT {
                return Ok(Some(FULL_TEXT));
            }
            let table = table(name).ok_or("a table without row security")?;
            if tail.contains("ON CONFLICT") && !table.upserted {
                return Err("row security of this table comes too late for ON CONFLICT");
            }
            Ok(Some(table.name))
        }
        _ => Err("a statement reads tables by name and writes one, at its head, as main.TABLE"),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{Dialect, translate};
    use crate::store::scope_ids::Ids;
    use crate::store::statement::ScopeParameter;
    use crate::store::{Isolation, Scope, Visible};

    fn caller() -> Scope {
        Scope::from(Visible::default())
    }

    /// A caller of two organizations from whom something is kept.
    fn restricted() -> Scope {
        Scope::from(Visible {
            organizations: vec![Uuid::from_u128(1), Uuid::from_u128(2)],
            hidden: vec![Uuid::from_u128(3)],
            guarded: vec![Uuid::from_u128(4)],
            ..Visible::default()
        })
    }

    #[test]
    fn one_text_becomes_two() {
        let source = "SELECT label FROM organizations WHERE {tenant id} AND id = $1 {lock}";
        let text = |dialect| {
            translate(source, 1, dialect, &caller(), Isolation::BOTH).expect("a statement")
        };
        let sqlite = text(Dialect::Sqlite);
        assert_eq!(
            sqlite.text,
            "SELECT label FROM organizations WHERE id IN rarray(?2) AND id = ?1 "
        );
        assert_eq!(sqlite.added, [ScopeParameter::List(Ids::Organizations)]);
        assert_eq!(
            text(Dialect::Postgres).text,
            "SELECT label FROM organizations WHERE id = ANY ($2) AND id = $1 FOR UPDATE"
        );
    }

    #[test]
    fn what_is_kept_from_a_caller_is_left_out() {
        let source = "SELECT {text data} FROM rows WHERE {tenant organization_id} \
             AND {workspace workspace_id} AND {row feature_id created_by} AND id = $1";
        let text = |dialect| {
            translate(source, 1, dialect, &restricted(), Isolation::BOTH).expect("a statement")
        };
        assert_eq!(
            text(Dialect::Sqlite).text,
            "SELECT data FROM rows WHERE organization_id IN rarray(?2) \
             AND workspace_id NOT IN rarray(?3) \
             AND (feature_id NOT IN rarray(?4) OR created_by = ?5) AND id = ?1"
        );
        assert_eq!(
            text(Dialect::Postgres).text,
            "SELECT data::text FROM rows WHERE organization_id = ANY ($2) \
             AND NOT coalesce(workspace_id = ANY ($3), true) \
             AND (NOT coalesce(feature_id = ANY ($4), true) OR created_by = $5) AND id = $1"
        );
    }

    #[test]
    fn who_belongs_to_one_organization_and_sees_all_of_it_is_asked_for_plainly() {
        let source = "SELECT {text data} FROM rows WHERE organization_id = $1 AND {tenant $1} \
             AND {workspace workspace_id} AND {row feature_id created_by}";
        let one = Scope::from(Visible {
            organizations: vec![Uuid::from_u128(1)],
            ..Visible::default()
        });
        let plain =
            translate(source, 1, Dialect::Postgres, &one, Isolation::BOTH).expect("a statement");
        assert_eq!(
            plain.text,
            "SELECT data::text FROM rows WHERE organization_id = $1 AND $1 = $2 AND true AND true"
        );
        assert_eq!(plain.added, [ScopeParameter::Organization]);
    }

    #[test]
    fn a_write_names_its_table_once_at_its_head() {
        let fine = "UPDATE main.memberships SET x = $1 WHERE {tenant organization_id}";
        let fine = translate(fine, 1, Dialect::Sqlite, &caller(), Isolation::BOTH).expect("fine");
        assert_eq!(fine.writes, Some("memberships"));
        for bad in [
            "SELECT 1 FROM main.memberships WHERE {tenant organization_id}",
            "UPDATE memberships SET x = 1 WHERE {tenant organization_id}",
            "INSERT INTO main.rails {into $1} SELECT * FROM main.views",
            "DROP TABLE main.memberships",
            "INSERT INTO main.rows {into $1} (id) VALUES ($1) ON CONFLICT DO NOTHING",
        ] {
            let refused = translate(bad, 1, Dialect::Sqlite, &caller(), Isolation::BOTH);
            assert!(refused.is_err(), "{bad}");
        }
    }

    #[test]
    fn a_callers_statement_has_a_scope() {
        let source = "SELECT 1 FROM memberships {across sign-in}";
        let of = |scope| translate(source, 0, Dialect::Postgres, &scope, Isolation::BOTH);
        assert!(of(caller()).is_err());
        assert!(of(Scope::Authentication).is_ok());
    }

    #[test]
    fn what_reads_across_organizations_gives_a_known_reason() {
        let of = |source| {
            let operator = Scope::Operator;
            translate(source, 0, Dialect::Postgres, &operator, Isolation::BOTH)
        };
        let known = of("SELECT id FROM rows {across queue}").expect("a statement");
        assert_eq!(known.text, "SELECT id FROM rows ");
        assert!(of("SELECT id FROM rows {across boredom}").is_err());
    }

    #[test]
    #[should_panic(expected = "SELECT of rows names no organization")]
    fn what_gives_none_is_not_sent() {
        let source = "SELECT id FROM rows";
        let operator = Scope::Operator;
        let _ = translate(source, 0, Dialect::Postgres, &operator, Isolation::BOTH);
    }

    #[test]
    fn queues_are_looked_at_in_one_organization_or_in_all() {
        let source = "SELECT id FROM workflow_events WHERE {queue organization_id} AND id > $1 {across queue}";
        let of = |scope| {
            translate(source, 1, Dialect::Postgres, &scope, Isolation::BOTH).expect("a statement")
        };
        assert_eq!(
            of(Scope::Operator).text,
            "SELECT id FROM workflow_events WHERE true AND id > $1 "
        );
        let one = of(Scope::OperatorOf(Uuid::from_u128(1)));
        assert_eq!(
            one.text,
            "SELECT id FROM workflow_events WHERE organization_id = $2 AND id > $1 "
        );
        assert_eq!(one.added, [ScopeParameter::Organization]);
    }

    #[test]
    fn without_the_predicates_the_predicate_is_gone() {
        let source = "SELECT 1 FROM memberships WHERE {tenant organization_id}";
        let isolation = Isolation {
            predicates: false,
            row_security: true,
        };
        let open =
            translate(source, 0, Dialect::Postgres, &caller(), isolation).expect("a statement");
        assert_eq!(open.text, "SELECT 1 FROM memberships WHERE true");
    }
}
