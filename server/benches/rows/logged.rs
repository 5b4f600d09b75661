//! The log of PostgreSQL, read back into statements that can be run again.

use std::collections::BTreeMap;

/// A statement as it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) sql: String,
    /// Of its parameters, in order; `None` is NULL.
    pub(crate) values: Vec<Option<String>>,
}

impl Sent {
    fn new(sql: &str) -> Sent {
        Sent {
            sql: sql.to_owned(),
            values: Vec::new(),
        }
    }

    /// The text with other words in the places of its parameters.
    pub(crate) fn with(&self, word: impl Fn(usize) -> String) -> String {
        let mut pieces = self.sql.split('$');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let digits = piece
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(piece.len());
            let number: usize = piece[..digits].parse().expect("a parameter");
            text.push_str(&word(number - 1));
            text.push_str(&piece[digits..]);
        }
        text
    }
}

/// What sets the scope of a transaction.
const ENTRY: &str = "set_config('role', ";

/// The transactions of requests, in the order in which they ended. What the server does besides, it does
/// in other roles. One that no words begin, begins with what sets its scope, and ends where the next begins.
pub(crate) fn transactions(log: &str) -> Vec<Vec<Sent>> {
    let mut open: BTreeMap<&str, Vec<Sent>> = BTreeMap::new();
    let mut ended = Vec::new();
    let has_words = |statements: &[Sent]| {
        let first = statements.first();
        first.is_some_and(|first| first.sql.starts_with("BEGIN"))
    };
    for line in log.lines() {
        let Some((process, kind, text)) = parts(line) else {
            continue;
        };
        let statements = open.entry(process).or_default();
        match kind {
            "LOG" => {
                let Some(sql) = statement(text) else { continue };
                let begins = sql.starts_with("BEGIN");
                if begins || (sql.contains(ENTRY) && !has_words(statements)) {
                    let before = std::mem::take(statements);
                    if !has_words(&before) {
                        ended.push(before);
                    }
                }
                statements.extend(sql.split("; ").map(Sent::new));
                if sql == "COMMIT" {
                    ended.push(std::mem::take(statements));
                }
            }
            "DETAIL" => {
                if let (Some(last), Some((_, given))) =
                    (statements.last_mut(), text.split_once(": "))
                {
                    last.values = parameters(given);
                }
            }
            _ => {}
        }
    }
    ended.extend(open.into_values().filter(|rest| !has_words(rest)));
    ended.retain(|statements| {
        statements
            .iter()
            .flat_map(|sent| sent.values.iter().flatten())
            .any(|value| value == "tplkit_request")
    });
    ended
}

/// Process, kind and text of `2026-11-22 20:00:00.000 UTC [123] LOG:  text`.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = line.split_once("] ")?;
    let (_, process) = before.rsplit_once('[')?;
    let (kind, text) = rest.split_once(":  ")?;
    Some((process, kind, text))
}

/// What `statement: …` and `execute NAME: …` say.
fn statement(text: &str) -> Option<&str> {
    let (word, sql) = text.split_once(": ")?;
    (word == "statement" || word.starts_with("execute ")).then_some(sql)
}

/// The values of `$1 = 'one', $2 = NULL`.
fn parameters(mut text: &str) -> Vec<Option<String>> {
    let mut values = Vec::new();
    while let Some(start) = text.find(" = ") {
        let value = &text[start + 3..];
        let (value, end) = if value.starts_with('\'') {
            let mut end = 1;
            loop {
                end += value[end..].find('\'').expect("an end") + 1;
                if !value[end..].starts_with('\'') {
                    break;
                }
                end += 1;
            }
            (Some(value[1..end - 1].replace("''", "'")), end)
        } else {
            (None, value.find(", ").unwrap_or(value.len()))
        };
        values.push(value);
        text = &text[start + 3 + end..];
    }
    values
}
