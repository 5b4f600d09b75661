//! The log of PostgreSQL, read back into statements that can be run again.

use std::collections::BTreeMap;

/// The transactions of requests, in the order in which they ended. What the server does besides, it does
/// in other roles.
pub(crate) fn transactions(log: &str) -> Vec<Vec<String>> {
    let mut open: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut ended = Vec::new();
    for line in log.lines() {
        let Some((process, kind, text)) = parts(line) else {
            continue;
        };
        let statements = open.entry(process).or_default();
        match kind {
            "LOG" => {
                let Some(sql) = statement(text) else { continue };
                let begins = sql.starts_with("BEGIN");
                if begins {
                    statements.clear();
                }
                statements.extend(sql.split("; ").map(str::to_owned));
                if sql == "COMMIT" {
                    ended.push(std::mem::take(statements));
                }
            }
            "DETAIL" => {
                if let (Some(last), Some((_, given))) =
                    (statements.last_mut(), text.split_once(": "))
                {
                    *last = fill(last, &parameters(given));
                }
            }
            _ => {}
        }
    }
    ended.retain(|statements| {
        statements
            .iter()
            .any(|sql| sql.contains("'tplkit_request'"))
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

/// The values of `$1 = 'one', $2 = NULL`, quoted as they are there.
fn parameters(mut text: &str) -> Vec<&str> {
    let mut values = Vec::new();
    while let Some(start) = text.find(" = ") {
        let value = &text[start + 3..];
        let end = if value.starts_with('\'') {
            let mut end = 1;
            loop {
                end += value[end..].find('\'').expect("an end") + 1;
                if !value[end..].starts_with('\'') {
                    break end;
                }
                end += 1;
            }
        } else {
            value.find(", ").unwrap_or(value.len())
        };
        values.push(&value[..end]);
        text = &value[end..];
    }
    values
}

/// A statement with its values in the places of its parameters.
fn fill(sql: &str, values: &[&str]) -> String {
    let mut pieces = sql.split('$');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(piece.len());
        let number: usize = piece[..digits].parse().expect("a parameter");
        filled.push_str(values[number - 1]);
        filled.push_str(&piece[digits..]);
    }
    filled
}
