//! Writes what a migration of PostgreSQL has to do where the policies have changed.
//!
//! Goes in: the text of all policies as it was and as it is, one paragraph for each table. It knows the statements
//! that [`TablePolicy::postgres`](super::TablePolicy) makes, and no others.

use std::fmt::Write as _;

/// The statements that lead from one text of all policies to the other: new tables whole, of others what changed.
/// Nothing for tables that have gone, which their migration drops.
pub(super) fn changes(before: &str, after: &str) -> String {
    let mut sql = String::new();
    for Paragraph { table, text } in paragraphs(after) {
        let mut known = paragraphs(before);
        let known = known.find(|known| known.table == table);
        let statements = match known {
            None => format!("{text}\n"),
            Some(known) => changed(known.text, text),
        };
        if !statements.is_empty() {
            let _ = write!(sql, "\n{statements}");
        }
    }
    sql
}

/// What a text says of a table.
struct Paragraph<'t> {
    table: &'t str,
    text: &'t str,
}

/// The paragraphs of a text. What does not begin with a table is a comment.
fn paragraphs(text: &str) -> impl Iterator<Item = Paragraph<'_>> {
    text.split("\n\n").filter_map(|paragraph| {
        let (table, _) = paragraph.strip_prefix("ALTER TABLE ")?.split_once(' ')?;
        Some(Paragraph {
            table,
            text: paragraph.trim_end(),
        })
    })
}

fn statements(paragraph: &str) -> Vec<&str> {
    let statements = paragraph.split(";\n");
    statements.map(|one| one.trim_end_matches(';')).collect()
}

/// What leads from a paragraph to another of the same table. What goes is undone from its end.
fn changed(before: &str, after: &str) -> String {
    let (before, after) = (statements(before), statements(after));
    let gone = before.iter().rev().filter(|one| !after.contains(one));
    let gone = gone.filter_map(|one| undo(one, &after));
    let new = after.iter().filter(|one| !before.contains(one));
    let new = new.map(|one| match view(one) {
        Some(View { name, rest }) if before.iter().any(|one| is_view(one, name)) => {
            format!("CREATE OR REPLACE VIEW {name} {rest}")
        }
        _ => (*one).to_owned(),
    });
    let statements = gone.chain(new).map(|statement| statement + ";\n");
    statements.collect()
}

/// The statement that takes another one back, unless one of those that follow replaces it.
fn undo(statement: &str, after: &[&str]) -> Option<String> {
    if let Some(grant) = statement.strip_prefix("GRANT ") {
        let (what, role) = grant.rsplit_once(" TO ")?;
        return Some(format!("REVOKE {what} FROM {role}"));
    }
    if let Some(policy) = statement.strip_prefix("CREATE POLICY ") {
        let (name, rest) = policy.split_once(" ON ")?;
        let (table, _) = rest.split_once(' ')?;
        return Some(format!("DROP POLICY {name} ON {table}"));
    }
    let View { name, .. } = view(statement)?;
    let replaced = after.iter().any(|one| is_view(one, name));
    (!replaced).then(|| format!("DROP VIEW {name}"))
}

/// The view that a statement creates.
struct View<'s> {
    name: &'s str,
    /// What follows the name.
    rest: &'s str,
}

fn view(statement: &str) -> Option<View<'_>> {
    let (name, rest) = statement.strip_prefix("CREATE VIEW ")?.split_once(' ')?;
    Some(View { name, rest })
}

fn is_view(statement: &str, name: &str) -> bool {
    view(statement).is_some_and(|view| view.name == name)
}

#[test]
fn a_migration_gets_what_changed() {
    let before = "\
-- A comment.

ALTER TABLE kept ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON kept TO request;

ALTER TABLE other ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (name) ON other TO gate;
GRANT SELECT ON other TO request;
CREATE POLICY gate ON other TO gate
    USING (true);
CREATE POLICY request ON other TO request
    USING (a
        OR b);
CREATE VIEW whole WITH (security_barrier) AS SELECT * FROM other
    WHERE a;
GRANT SELECT ON whole TO request;

ALTER TABLE gone ENABLE ROW LEVEL SECURITY;
";
    let after = "\
-- Another comment.

ALTER TABLE kept ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON kept TO request;

ALTER TABLE other ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON other TO request;
CREATE POLICY request ON other TO request
    USING (a);
CREATE VIEW whole WITH (security_barrier) AS SELECT * FROM other
    WHERE b;
GRANT SELECT ON whole TO request;

ALTER TABLE new ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON new TO request;
";
    let expected = "
DROP POLICY request ON other;
DROP POLICY gate ON other;
REVOKE SELECT ON other FROM request;
REVOKE SELECT, UPDATE (name) ON other FROM gate;
GRANT SELECT, INSERT ON other TO request;
CREATE POLICY request ON other TO request
    USING (a);
CREATE OR REPLACE VIEW whole WITH (security_barrier) AS SELECT * FROM other
    WHERE b;

ALTER TABLE new ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON new TO request;
";
    assert_eq!(changes(before, after), expected);
    assert_eq!(changes(after, after), "");
}

#[test]
fn a_view_that_goes_is_dropped() {
    let view = "ALTER TABLE a ENABLE ROW LEVEL SECURITY;\n\
                CREATE VIEW whole AS SELECT * FROM a;\n\
                ALTER VIEW whole OWNER TO operator;\n\
                GRANT SELECT ON whole TO request;\n";
    let table = "ALTER TABLE a ENABLE ROW LEVEL SECURITY;\n";
    let expected = "\nREVOKE SELECT ON whole FROM request;\nDROP VIEW whole;\n";
    assert_eq!(changes(view, table), expected);
}
