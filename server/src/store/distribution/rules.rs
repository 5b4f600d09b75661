//! The rules that a statement has to keep so that a database of several nodes takes it, and sends it to one of them.
//!
//! | Rule | Why |
//! |---|---|
//! | each table of organizations is bound to one: `organization_id = $n`, or equal to one that is | the node is chosen by it; else all nodes are asked |
//! | a subquery names it itself, unless it is a `LATERAL`, or an `EXISTS` that is a condition of its own in `WHERE` or `ON` | what it says by a table around it chooses no node |
//! | a read may name a list (`= ANY ($n)`), for a caller of several organizations | it goes to their nodes |
//! | what reads across organizations says why: `{across WHY}`; the operator may read as callers do | a list of exceptions that nobody forgets |
//! | a lock is bound to one organization; so is what a write reads and changes, unless it says why not | nothing else can be locked, and a write to all nodes is a transaction over all of them |
//! | an insert names the organization of its rows as a parameter | the same |
//! | no subquery among `VALUES` | refused |
//! | an `INSERT` of a `SELECT` returns something, or has `ON CONFLICT` | the rows would be copied into their tables, which row security refuses |
//! | a write reads no clock that goes on during a statement, and the time of the statement neither in `RETURNING`, `coalesce` nor `CASE` | each node would have its own |

use super::sql::{Operand, Query, Table, Token, queries, tokens};
use crate::store::dialect::WHOLE_ROWS;
use crate::store::policy::table;

/// How many organizations rows are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bound {
    Many,
    Listed,
    One,
}

/// Functions that give another result each time within a statement.
const VOLATILE: [&str; 4] = ["clock_timestamp", "timeofday", "random", "gen_random_uuid"];
/// Functions that give the time of a statement or a transaction.
const TIMES: [&str; 3] = ["statement_timestamp", "transaction_timestamp", "now"];

/// Of how many organizations a statement in PostgreSQL's words is; `across` says that it may be of many.
///
/// # Errors
/// The rule that it breaks.
pub(super) fn check(text: &str, across: bool) -> Result<Bound, String> {
    let tokens = tokens(text);
    let queries = queries(&tokens);
    let head = match tokens.first() {
        Some(Token::Word(head)) => *head,
        _ => "",
    };
    let writes = head != "SELECT";
    if writes {
        clocks(&tokens, head)?;
    }
    if head == "INSERT" {
        insert(&tokens)?;
    }
    let bounds = bounds(&queries);
    let mut least = Bound::One;
    for (query, bounds) in queries.iter().zip(&bounds) {
        for (one, bound) in query.tables.iter().zip(bounds) {
            let Some(column) = column(one) else {
                continue;
            };
            least = least.min(*bound);
            let at_least = match (query.locks, across, writes) {
                (true, _, _) | (false, false, true) => Bound::One,
                (false, true, _) => Bound::Many,
                (false, false, false) => Bound::Listed,
            };
            if *bound < at_least {
                let name = one.name;
                let of = if query.locks { "a lock" } else { head };
                let wanted = if at_least == Bound::One {
                    "`= $n`".to_owned()
                } else {
                    "`= $n`, or say `{across WHY}`".to_owned()
                };
                return Err(format!(
                    "{of} of {name} names no organization: bind {name}.{column} by {wanted}"
                ));
            }
        }
    }
    Ok(least)
}

/// The column of the organization, of a table that lies with it.
fn column(of: &Table<'_>) -> Option<&'static str> {
    let name = if of.name == WHOLE_ROWS {
        "rows"
    } else {
        of.name
    };
    table(name)?.placement.column()
}

/// Whether a query is joined with one around it, or is that one.
fn joins(queries: &[Query<'_>], mut at: usize, around: usize) -> bool {
    while at != around {
        match queries[at].parent {
            Some(parent) if queries[at].joins => at = parent,
            _ => return false,
        }
    }
    true
}

/// How many organizations each table of each query is of.
fn bounds(queries: &[Query<'_>]) -> Vec<Vec<Bound>> {
    let mut bounds: Vec<Vec<Bound>> = queries
        .iter()
        .map(|query| vec![Bound::Many; query.tables.len()])
        .collect();
    // An organization is found through several tables at the most: each round binds the next.
    for _ in 0..8 {
        for (at, query) in queries.iter().enumerate() {
            for [left, right] in &query.equalities {
                for (one, other) in [(left, right), (right, left)] {
                    let Some((of, table)) = resolve(queries, at, *one) else {
                        continue;
                    };
                    // What a query says of a table around it chooses no node.
                    if of != at {
                        continue;
                    }
                    let bound = match other {
                        Operand::One => Bound::One,
                        Operand::OneOf => Bound::Listed,
                        // Nor does a value choose one by what it says of its own table by one around it.
                        Operand::Column(..) => match resolve(queries, at, *other) {
                            Some((of, table)) if joins(queries, at, of) => bounds[of][table],
                            _ => continue,
                        },
                    };
                    let known = &mut bounds[of][table];
                    *known = bound.max(*known);
                }
            }
        }
    }
    bounds
}

/// The table whose organization a column names, by its query and its place there.
fn resolve(queries: &[Query<'_>], at: usize, operand: Operand<'_>) -> Option<(usize, usize)> {
    let Operand::Column(alias, name) = operand else {
        return None;
    };
    let mut around = Some(at);
    while let Some(at) = around {
        let query = &queries[at];
        let named = |table: &Table<'_>| {
            alias.is_none_or(|alias| alias == table.alias) && column(table) == Some(name)
        };
        if let Some(found) = query.tables.iter().position(named) {
            return Some((at, found));
        }
        around = query.parent;
    }
    None
}

/// Clocks, and functions of their kind, in a write.
fn clocks(tokens: &[Token<'_>], head: &str) -> Result<(), String> {
    let mut returning = false;
    // Open parentheses and cases, and whether they choose between values.
    let mut chooses: Vec<bool> = Vec::new();
    let of_rows = tokens.contains(&Token::Word("SELECT")) && head == "INSERT";
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign("(") => {
                let before = at.checked_sub(1).map(|before| tokens[before]);
                chooses.push(before == Some(Token::Word("coalesce")));
            }
            Token::Word("CASE") => chooses.push(true),
            Token::Sign(")") | Token::Word("END") => {
                chooses.pop();
            }
            Token::Word("RETURNING") => returning = true,
            // New rows are made before they are sent anywhere.
            Token::Word("gen_random_uuid") if of_rows => {}
            Token::Word(word) if VOLATILE.contains(word) => {
                return Err(format!(
                    "a write reads {word}(), which differs from node to node"
                ));
            }
            Token::Word(word) if TIMES.contains(word) && (returning || chooses.contains(&true)) => {
                return Err(format!(
                    "a write reads {word}() in RETURNING, coalesce or CASE, where nodes do not take it"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The rows of an `INSERT`.
fn insert(tokens: &[Token<'_>]) -> Result<(), String> {
    let names = |word: &str| tokens.contains(&Token::Word(word));
    let at = |word: &str| tokens.iter().position(|token| *token == Token::Word(word));
    let values = at("VALUES");
    let select = at("SELECT");
    if let (Some(values), Some(select)) = (values, select)
        && values < select
    {
        return Err("a subquery stands among VALUES: insert what a SELECT finds".to_owned());
    }
    if select.is_some() && values.is_none() && !names("RETURNING") && !names("CONFLICT") {
        return Err(
            "an INSERT of a SELECT returns nothing: add RETURNING or ON CONFLICT".to_owned(),
        );
    }
    // `INSERT INTO main . table ( …`
    let Some(Token::Word(name)) = tokens.get(4) else {
        return Ok(());
    };
    let Some(column) = table(name).and_then(|table| table.placement.column()) else {
        return Ok(());
    };
    let columns = list(&tokens[6.min(tokens.len())..]);
    let place = columns
        .iter()
        .position(|one| one[..] == [Token::Word(column)]);
    let first = values.map(|at| at + 2).or(select.map(|at| at + 1));
    let value = first.and_then(|first| list(&tokens[first..]).into_iter().nth(place?));
    let is_one = match value.as_deref() {
        Some([Token::Parameter]) => true,
        // That of a row that is read; whether it is bound to one, its table is asked.
        Some([Token::Word(_), Token::Sign("."), Token::Word(of)]) => *of == "organization_id",
        _ => false,
    };
    if is_one {
        return Ok(());
    }
    Err(format!(
        "an INSERT into {name} names no organization: let {column} be a parameter"
    ))
}

/// The parts between commas up to the end of a list.
fn list<'a>(tokens: &[Token<'a>]) -> Vec<Vec<Token<'a>>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0_usize;
    for token in tokens {
        match token {
            Token::Sign("(") => depth += 1,
            Token::Sign(")") | Token::Word("FROM") if depth == 0 => break,
            Token::Sign(")") => depth -= 1,
            Token::Sign(",") if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(*token);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::check;

    /// Whether a statement keeps the rules, and whether it does when it may read across organizations.
    fn keeps(text: &str) -> [bool; 2] {
        [false, true].map(|across| check(text, across).is_ok())
    }

    const KEPT: [bool; 2] = [true, true];
    const BROKEN: [bool; 2] = [false, false];
    const ACROSS: [bool; 2] = [false, true];

    #[test]
    fn a_read_names_organizations_or_says_why_not() {
        for (text, expected) in [
            (
                "SELECT id FROM rows WHERE organization_id = $1 AND id = $2",
                KEPT,
            ),
            ("SELECT id FROM rows WHERE organization_id = ANY ($1)", KEPT),
            ("SELECT id FROM rows WHERE id = $1", ACROSS),
            ("SELECT id FROM rows WHERE organization_id <> $1", ACROSS),
            (
                "SELECT id FROM rows WHERE (organization_id = $1 OR id = $2)",
                ACROSS,
            ),
            (
                "SELECT id FROM rows WHERE organization_id = $1 OR id = $2",
                ACROSS,
            ),
            (
                "SELECT id FROM rows WHERE NOT (organization_id = $1)",
                ACROSS,
            ),
            (
                "SELECT id FROM rows WHERE NOT coalesce(organization_id = ANY ($1), true)",
                ACROSS,
            ),
            (
                "SELECT id FROM rows WHERE (organization_id = $1 AND (id = $2 OR id = $3))",
                KEPT,
            ),
            (
                "SELECT id FROM rows WHERE CASE WHEN organization_id = $1 THEN true END",
                ACROSS,
            ),
            ("SELECT label FROM organizations WHERE id = $1", KEPT),
            ("SELECT email FROM users WHERE id = $1", KEPT),
            ("SELECT id FROM sessions WHERE access_hash = $1", KEPT),
            ("SELECT 1 FROM idempotency WHERE caller_id = $1", KEPT),
            ("SELECT set_config($1, $2, true)", KEPT),
            (
                "SELECT CAST(pg_advisory_xact_lock(hashtextextended($2, uuid_hash_extended($1, 0))) AS text)",
                KEPT,
            ),
        ] {
            assert_eq!(keeps(text), expected, "{text}");
        }
    }

    #[test]
    fn each_table_of_a_read_is_bound() {
        for (text, expected) in [
            (
                "SELECT f.id FROM features f JOIN organizations o ON o.id = f.organization_id \
                 WHERE f.organization_id = $1 AND f.id = $2",
                KEPT,
            ),
            (
                "SELECT f.id FROM features AS f JOIN views v ON v.feature_id = f.id WHERE f.organization_id = $1",
                ACROSS,
            ),
            (
                "SELECT id FROM rows WHERE organization_id = $1 AND feature_id IN (SELECT id FROM features \
                 WHERE organization_id = $1)",
                KEPT,
            ),
            (
                "SELECT id FROM rows WHERE organization_id = $1 AND feature_id IN (SELECT id FROM features)",
                ACROSS,
            ),
            (
                "SELECT id FROM files WHERE files.organization_id = $1 AND EXISTS (SELECT 1 FROM file_uses AS uses \
                 WHERE uses.organization_id = files.organization_id)",
                KEPT,
            ),
            (
                "SELECT id FROM files WHERE files.organization_id = $1 AND (id = $2 OR EXISTS (SELECT 1 \
                 FROM file_uses AS uses WHERE uses.organization_id = files.organization_id))",
                ACROSS,
            ),
            (
                "SELECT id FROM files WHERE files.organization_id = $1 AND (id = $2 OR (size = $3 AND NOT EXISTS \
                 (SELECT 1 FROM file_uses AS uses WHERE uses.organization_id = files.organization_id)))",
                ACROSS,
            ),
            (
                "SELECT id FROM files WHERE files.organization_id = $1 AND (id = $2 OR EXISTS (SELECT 1 \
                 FROM file_uses AS uses WHERE uses.organization_id = $1))",
                KEPT,
            ),
            (
                "SELECT id, EXISTS (SELECT 1 FROM file_uses AS uses \
                 WHERE uses.organization_id = files.organization_id) FROM files WHERE files.organization_id = $1",
                ACROSS,
            ),
            (
                "SELECT id FROM files WHERE files.organization_id = $1 AND (SELECT count(*) FROM features \
                 WHERE features.organization_id = $1 AND EXISTS (SELECT 1 FROM file_uses AS uses \
                 WHERE uses.organization_id = files.organization_id)) < 2",
                ACROSS,
            ),
            (
                "SELECT id FROM files WHERE files.organization_id = $1 AND (SELECT count(*) FROM file_uses AS uses \
                 WHERE uses.organization_id = files.organization_id) < 2",
                ACROSS,
            ),
            (
                "SELECT id FROM files WHERE EXISTS (SELECT 1 FROM file_uses AS uses \
                 WHERE uses.organization_id = $1 AND files.organization_id = $1)",
                ACROSS,
            ),
            (
                "SELECT id FROM rows WHERE organization_id = $1 UNION ALL SELECT id FROM rows",
                ACROSS,
            ),
            (
                "SELECT r.id FROM unnest($1::uuid[]) AS item (c1) JOIN rows r ON r.id = item.c1 \
                 AND r.organization_id = $2",
                KEPT,
            ),
        ] {
            assert_eq!(keeps(text), expected, "{text}");
        }
    }

    #[test]
    fn a_lock_and_a_write_are_of_one_organization() {
        for (text, expected) in [
            (
                "SELECT id FROM rows WHERE organization_id = $1 FOR UPDATE",
                KEPT,
            ),
            (
                "SELECT id FROM rows WHERE organization_id = ANY ($1) FOR UPDATE",
                BROKEN,
            ),
            (
                "SELECT id FROM workflow_events ORDER BY id LIMIT 200 FOR UPDATE SKIP LOCKED",
                BROKEN,
            ),
            (
                "SELECT f.id FROM features f JOIN organizations o ON o.id = f.organization_id \
                 WHERE f.organization_id = ANY ($1) FOR SHARE OF f",
                BROKEN,
            ),
            (
                "UPDATE main.rows SET id = $1 WHERE organization_id = $2",
                KEPT,
            ),
            (
                "UPDATE main.rows SET organization_id = $2 WHERE id = $1",
                ACROSS,
            ),
            (
                "UPDATE main.rows SET id = $1 WHERE organization_id = ANY ($2)",
                ACROSS,
            ),
            ("DELETE FROM main.rows WHERE id = $1", ACROSS),
            (
                "DELETE FROM main.rows WHERE organization_id = $1 AND id = $2 RETURNING id",
                KEPT,
            ),
            ("DELETE FROM main.sessions WHERE id = $1", KEPT),
            (
                "UPDATE main.rows SET data = item.c2 FROM unnest($3::uuid[], $4::text[]) AS item (c1, c2) \
                 WHERE organization_id = $1 AND id = item.c1",
                KEPT,
            ),
        ] {
            assert_eq!(keeps(text), expected, "{text}");
        }
    }

    #[test]
    fn an_insert_says_of_which_organization() {
        for (text, expected) in [
            (
                "INSERT INTO main.rows (organization_id, id) VALUES ($1, $2)",
                KEPT,
            ),
            (
                "INSERT INTO main.rows (id, organization_id) VALUES (coalesce($2, $3), $1)",
                KEPT,
            ),
            (
                "INSERT INTO main.rows (id, organization_id) VALUES ($1, coalesce($2, $3))",
                BROKEN,
            ),
            ("INSERT INTO main.rows (id) VALUES ($1)", BROKEN),
            (
                "INSERT INTO main.views (organization_id, position) VALUES ($1, (SELECT max(position) FROM views \
                 WHERE organization_id = $1))",
                BROKEN,
            ),
            (
                "INSERT INTO main.views (organization_id, position) SELECT $1, last.position FROM \
                 (SELECT max(position) AS position FROM views WHERE organization_id = $1) AS last WHERE true \
                 ON CONFLICT (organization_id, name) DO NOTHING",
                KEPT,
            ),
            (
                "INSERT INTO main.rows (organization_id, id) SELECT $1, item.c1 FROM unnest($2::uuid[]) AS item (c1)",
                BROKEN,
            ),
            (
                "INSERT INTO main.rows (organization_id, id) SELECT $1, item.c1 FROM unnest($2::uuid[]) AS item (c1) \
                 RETURNING true",
                KEPT,
            ),
            (
                "INSERT INTO main.sessions (id, user_id) VALUES ($1, $2)",
                KEPT,
            ),
        ] {
            assert_eq!(keeps(text), expected, "{text}");
        }
    }

    #[test]
    fn a_write_has_one_time() {
        for (set, expected) in [
            ("statement_timestamp() + $3", KEPT),
            ("clock_timestamp()", BROKEN),
            ("coalesce(statement_timestamp(), $3)", BROKEN),
            ("CASE WHEN $3 THEN statement_timestamp() END", BROKEN),
            ("coalesce($3, 0) + statement_timestamp()", KEPT),
            (
                "$3 WHERE organization_id = $1 RETURNING statement_timestamp() AND true",
                BROKEN,
            ),
        ] {
            let text = format!("UPDATE main.rows SET until = {set} WHERE organization_id = $1");
            assert_eq!(keeps(&text), expected, "{text}");
        }
        assert_eq!(
            keeps("SELECT clock_timestamp() FROM rows WHERE organization_id = $1"),
            KEPT
        );
    }
}
