//! Logs the SQL statements that are sent to the store, to find slow or wrong ones: those of requests and jobs, and
//! those with which connections start and migrations run. The driver of PostgreSQL sends one of its own that is not seen
//! here: whether a host takes writes. Reads of one statement on PostgreSQL stand here without `BEGIN` and `COMMIT`, because
//! they have none.
//!
//! It shows whole texts and the types of parameters, never values, so the log contains no user data. Off by
//! default; `TPLKIT_LOG=sql` turns it on for `serve` and `worker`.

use tracing::Level;

use super::Value;
use super::statement::Statement;

/// The target of the events, for filters.
pub const TARGET: &str = "sql";

/// Shows a text without parameters: `BEGIN`, `COMMIT` and their like, settings, and migrations.
pub(super) fn control(words: &str) {
    tracing::event!(target: TARGET, Level::DEBUG, sql = words, "statement");
}

/// Shows one statement with the types of its parameters.
pub(super) fn statement(text: &str, parameters: &[Value]) {
    typed(text, parameters.iter().map(type_of));
}

/// The same of parameters that are of these types, in order.
pub(super) fn typed(text: &str, types: impl IntoIterator<Item = &'static str>) {
    repeated(text, types, 1);
}

/// Shows statements in the order in which they leave; one that leaves many times in a row is shown once.
pub(super) fn statements(sent: &[(&Statement, &[Value])]) {
    if !tracing::enabled!(target: TARGET, Level::DEBUG) {
        return;
    }
    let alike = |a: &(&Statement, &[Value]), b: &(&Statement, &[Value])| std::ptr::eq(a.0, b.0);
    for alike in sent.chunk_by(alike) {
        let (statement, parameters) = alike[0];
        let types = parameters.iter().map(type_of);
        repeated(&statement.text, types, alike.len());
    }
}

fn repeated(text: &str, types: impl IntoIterator<Item = &'static str>, times: usize) {
    if !tracing::enabled!(target: TARGET, Level::DEBUG) {
        return;
    }
    let types: Vec<&str> = types.into_iter().collect();
    let types = types.join(", ");
    let times = (times > 1).then_some(times);
    tracing::event!(target: TARGET, Level::DEBUG, sql = text, types, times, "statement");
}

/// The type of a parameter, as PostgreSQL calls it.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Id(_) => "uuid",
        Value::Ids(_) => "uuid[]",
        Value::Text(_) => "text",
        Value::Texts(_) => "text[]",
        Value::Int(_) => "bigint",
        Value::Ints(_) => "bigint[]",
        Value::Bool(_) => "boolean",
        Value::Bytes(_) => "bytea",
        Value::List(_) => "list",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use serde_json::Value as Json;
    use tracing::Level;
    use uuid::Uuid;

    use super::{TARGET, control, statement, statements};
    use crate::store::Value;
    use crate::store::statement::Statement;

    /// A statement as the log shows it.
    #[derive(Debug, PartialEq, Eq)]
    pub(in crate::store) struct LoggedStatement {
        /// Its text.
        pub(in crate::store) sql: String,
        /// The types of its parameters.
        pub(in crate::store) types: Vec<String>,
        /// How often it left, when that was more than once.
        times: Option<u64>,
    }

    impl LoggedStatement {
        fn read(line: &Json) -> LoggedStatement {
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            let types = text("types").split(", ").filter(|name| !name.is_empty());
            LoggedStatement {
                sql: text("sql").to_owned(),
                types: types.map(str::to_owned).collect(),
                times: line["times"].as_u64(),
            }
        }
    }

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("whole").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What the log shows of the statements that this thread sends meanwhile.
    pub(in crate::store) fn logged(work: impl FnOnce()) -> Vec<LoggedStatement> {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .flatten_event(true)
            .with_max_level(Level::DEBUG)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, work);
        let text = String::from_utf8(lines.0.lock().expect("whole").clone()).expect("UTF-8");
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
        let statements = lines.filter(|line| line["target"] == TARGET);
        statements
            .map(|line| LoggedStatement::read(&line))
            .collect()
    }

    /// The numbers of the parameters that a text names, each once.
    pub(in crate::store) fn placeholders(text: &str) -> BTreeSet<usize> {
        let behind_signs = text.split(['$', '?']).skip(1);
        let numbers = behind_signs.filter_map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit());
            rest[..end.unwrap_or(rest.len())].parse().ok()
        });
        numbers.collect()
    }

    #[test]
    fn placeholders_are_numbers_behind_a_sign() {
        let of = |text| placeholders(text).into_iter().collect::<Vec<_>>();
        assert_eq!(of("SELECT $2, $1::text, $10 WHERE $2 = '$.a'"), [1, 2, 10]);
        assert_eq!(of("a IN rarray(?3) AND b = ?1"), [1, 3]);
        assert!(of("DO $$ BEGIN END $$").is_empty());
    }

    #[test]
    fn a_statement_is_shown_with_the_types_of_its_parameters() {
        let many = Statement::of("SELECT $1".to_owned());
        let other = Statement::of("SELECT $1, $2".to_owned());
        let logged = logged(|| {
            control("BEGIN");
            let numbers = [Value::Int(7), Value::Ints(vec![7])];
            statement("SELECT $1 = ANY ($2)", &numbers);
            let one = [Value::Text("a text".to_owned())];
            let two = [Value::Id(Uuid::nil()), Value::Null];
            statements(&[(&many, &one[..]), (&many, &one), (&other, &two)]);
        });
        let shown = |sql: &str, types: &[&str], times| LoggedStatement {
            sql: sql.to_owned(),
            types: types.iter().map(|name| (*name).to_owned()).collect(),
            times,
        };
        assert_eq!(
            logged,
            [
                shown("BEGIN", &[], None),
                shown("SELECT $1 = ANY ($2)", &["bigint", "bigint[]"], None),
                shown("SELECT $1", &["text"], Some(2)),
                shown("SELECT $1, $2", &["uuid", "null"], None),
            ]
        );
    }
}
