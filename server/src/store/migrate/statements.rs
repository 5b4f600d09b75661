//! The statements of a text of SQL, one by one: Citus sends the words of each to its workers, and takes no several at once.
//!
//! It knows what stands in migrations: line comments, texts in quotes, and bodies between dollars.

/// The statements of a text, without the semicolons behind them; comments stay with what follows.
pub(super) fn statements(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        at += if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            1 + within(quoted, "'")
        } else if let Some(tag) = dollars(rest) {
            tag.len() + within(&rest[tag.len()..], tag)
        } else if rest.starts_with(';') {
            found.push(&text[begin..at]);
            begin = at + 1;
            1
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    found.push(&text[begin..]);
    let mut found: Vec<&str> = found.into_iter().map(str::trim).collect();
    found.retain(|statement| !words(statement).is_empty());
    found
}

/// How far it is to the end of what stands before these words, with them.
fn within(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |found| found + end.len())
}

/// The mark with which a body begins, if one does: `$$` or `$word$`.
fn dollars(text: &str) -> Option<&str> {
    let (tag, _) = text.strip_prefix('$')?.split_once('$')?;
    let is_tag = !tag.starts_with(|c: char| c.is_ascii_digit())
        && tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_tag.then(|| &text[..tag.len() + 2])
}

/// A statement without the comments before it.
pub(super) fn words(statement: &str) -> &str {
    let mut statement = statement.trim_start();
    while let Some(comment) = statement.strip_prefix("--") {
        statement = comment
            .split_once('\n')
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    statement
}

#[cfg(test)]
mod tests {
    use super::super::MIGRATIONS;
    use super::{statements, words};

    #[test]
    fn a_text_is_taken_apart_where_its_statements_end() {
        let text = "-- One; not two.\nCREATE TABLE a (b text DEFAULT ';');\n\nDO $$ BEGIN x; y; END $$;\n\
            DO $do$ z; $$ ; $do$; SELECT 1\n-- the end;\n";
        let found = statements(text);
        let found: Vec<&str> = found.iter().map(|statement| words(statement)).collect();
        assert_eq!(
            found,
            [
                "CREATE TABLE a (b text DEFAULT ';')",
                "DO $$ BEGIN x; y; END $$",
                "DO $do$ z; $$ ; $do$",
                "SELECT 1\n-- the end;"
            ]
        );
        assert!(statements(" -- nothing\n").is_empty());
    }

    #[test]
    fn each_statement_of_a_migration_begins_with_a_verb() {
        for migration in &MIGRATIONS {
            for statement in statements(migration.postgres) {
                let verb = words(statement).split_whitespace().next();
                let known = [
                    "CREATE", "ALTER", "DROP", "GRANT", "REVOKE", "INSERT", "UPDATE", "DELETE",
                    "TRUNCATE", "ANALYZE", "DO", "COMMENT",
                ];
                assert!(
                    verb.is_some_and(|verb| known.contains(&verb)),
                    "{}: {statement}",
                    migration.name
                );
            }
        }
    }
}
