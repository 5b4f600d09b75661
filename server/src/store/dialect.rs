//! Statements: one text for both stores, with marks where the scope or the store decides.
//!
//! | Mark | Becomes |
//! |---|---|
//! | `$1`, `$2`… | the parameter |
//! | `{tenant COLUMN}` | the first wall: the column is one of the organizations of the scope |
//! | `{caller COLUMN}` | the first wall of what belongs to a person: the column is the caller |
//! | `{into $n}` | nothing; the parameter is checked to be an organization of the scope |
//! | `{lock}` | `FOR UPDATE` where the store has more than one writer |
//!
//! Tables are read by their name and written as `main.TABLE`. `main` stands once in a statement, at
//! its head, or not at all: that is what the SQLite wall rests on.

use std::sync::Arc;

use super::{Scope, StoreError, Walls};

/// The two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

/// A statement in the words of one store.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    /// The table that is written.
    pub(super) writes: Option<&'static str>,
    /// Parameters that the scope adds behind the given ones, in order.
    pub(super) added: Vec<Added>,
    /// Position of the parameter that has to be an organization of the scope.
    pub(super) into: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    Organizations,
    Caller,
}

/// Puts a statement into the words of a store. Fails on statements that break the rules above.
pub(super) fn translate(
    source: &'static str,
    given: usize,
    dialect: Dialect,
    scope: &Scope,
    walls: Walls,
) -> Result<Arc<Statement>, StoreError> {
    let refuse = |why: &str| Err(StoreError::Internal(format!("{why}: {source}")));
    let writes = match written_table(source) {
        Ok(writes) => writes,
        Err(why) => return refuse(why),
    };
    let mut statement = Statement {
        text: String::with_capacity(source.len() + 64),
        writes,
        added: Vec::new(),
        into: None,
    };
    let mut guarded = false;
    let mut rest = source;
    while let Some(open) = rest.find('{') {
        push(&mut statement.text, &rest[..open], dialect);
        let Some(close) = rest[open..].find('}') else {
            return refuse("an open mark");
        };
        let mark = &rest[open + 1..open + close];
        rest = &rest[open + close + 1..];
        let (word, argument) = mark.split_once(' ').unwrap_or((mark, ""));
        match word {
            "tenant" | "caller" => {
                guarded = true;
                let open_scope = !matches!(scope, Scope::Caller(_));
                if open_scope || !walls.first {
                    statement.text.push_str("true");
                    continue;
                }
                let added = if word == "tenant" {
                    Added::Organizations
                } else {
                    Added::Caller
                };
                let index = statement.parameter(given, added);
                push(&mut statement.text, argument, dialect);
                statement.text.push_str(match (added, dialect) {
                    (Added::Caller, Dialect::Sqlite) => " = ?",
                    (Added::Caller, Dialect::Postgres) => " = $",
                    (Added::Organizations, Dialect::Sqlite) => " IN rarray(?",
                    (Added::Organizations, Dialect::Postgres) => " = ANY ($",
                });
                statement.text.push_str(&index.to_string());
                if added == Added::Organizations {
                    statement.text.push(')');
                }
            }
            "into" => {
                guarded = true;
                let position = argument
                    .strip_prefix('$')
                    .and_then(|n| n.parse::<usize>().ok());
                let Some(position) = position.filter(|n| (1..=given).contains(n)) else {
                    return refuse("{into} names no parameter");
                };
                statement.into = walls.first.then_some(position - 1);
            }
            "lock" => {
                if dialect == Dialect::Postgres {
                    statement.text.push_str("FOR UPDATE");
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
    Ok(Arc::new(statement))
}

impl Statement {
    fn parameter(&mut self, given: usize, added: Added) -> usize {
        let known = self.added.iter().position(|known| *known == added);
        let position = known.unwrap_or_else(|| {
            self.added.push(added);
            self.added.len() - 1
        });
        given + position + 1
    }
}

/// Copies text; SQLite knows numbered parameters as `?1`.
fn push(out: &mut String, text: &str, dialect: Dialect) {
    match dialect {
        Dialect::Postgres => out.push_str(text),
        Dialect::Sqlite => out.push_str(&text.replace('$', "?")),
    }
}

fn written_table(source: &'static str) -> Result<Option<&'static str>, &'static str> {
    let head = ["INSERT INTO main.", "UPDATE main.", "DELETE FROM main."];
    let tail = head.iter().find_map(|head| source.strip_prefix(head));
    let mentions = source.matches("main.").count();
    match tail {
        None if mentions == 0 && source.starts_with("SELECT ") => Ok(None),
        Some(tail) if mentions == 1 => {
            let end = tail.find(|c: char| !c.is_ascii_lowercase() && c != '_');
            Ok(Some(&tail[..end.unwrap_or(tail.len())]))
        }
        _ => Err("a statement reads tables by name and writes one, at its head, as main.TABLE"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Added, Dialect, translate};
    use crate::store::{Scope, Visible, Walls};

    fn caller() -> Scope {
        Scope::Caller(Visible::default())
    }

    #[test]
    fn one_text_becomes_two() {
        let source = "SELECT label FROM organizations WHERE {tenant id} AND id = $1 {lock}";
        let text =
            |dialect| translate(source, 1, dialect, &caller(), Walls::BOTH).expect("a statement");
        let sqlite = text(Dialect::Sqlite);
        assert_eq!(
            sqlite.text,
            "SELECT label FROM organizations WHERE id IN rarray(?2) AND id = ?1 "
        );
        assert_eq!(sqlite.added, [Added::Organizations]);
        assert_eq!(
            text(Dialect::Postgres).text,
            "SELECT label FROM organizations WHERE id = ANY ($2) AND id = $1 FOR UPDATE"
        );
    }

    #[test]
    fn a_write_names_its_table_once_at_its_head() {
        let fine = "UPDATE main.members SET x = $1 WHERE {tenant organization_id}";
        let fine = translate(fine, 1, Dialect::Sqlite, &caller(), Walls::BOTH).expect("fine");
        assert_eq!(fine.writes, Some("members"));
        for bad in [
            "SELECT 1 FROM main.members WHERE {tenant organization_id}",
            "UPDATE members SET x = 1 WHERE {tenant organization_id}",
            "INSERT INTO main.a {into $1} SELECT * FROM main.b",
            "DROP TABLE main.members",
        ] {
            let refused = translate(bad, 1, Dialect::Sqlite, &caller(), Walls::BOTH);
            assert!(refused.is_err(), "{bad}");
        }
    }

    #[test]
    fn a_callers_statement_has_a_scope() {
        let source = "SELECT 1 FROM memberships";
        let of = |scope| translate(source, 0, Dialect::Postgres, &scope, Walls::BOTH);
        assert!(of(caller()).is_err());
        assert!(of(Scope::Gate).is_ok());
    }

    #[test]
    fn without_the_first_wall_the_predicate_is_gone() {
        let source = "SELECT 1 FROM memberships WHERE {tenant organization_id}";
        let walls = Walls {
            first: false,
            second: true,
        };
        let open = translate(source, 0, Dialect::Postgres, &caller(), walls).expect("a statement");
        assert_eq!(open.text, "SELECT 1 FROM memberships WHERE true");
    }
}
