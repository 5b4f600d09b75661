//! The settings of sessions, and the two ways to send them.
//!
//! Without a pooler a connection sends them once, when it starts. A pooler refuses or drops such
//! parameters, and session settings would leak to the next user of the session, so there each
//! transaction sends them for itself.

use std::fmt::Write as _;

use tokio_postgres::Client;

use super::{IDLE_TIMEOUT, LOCK_TIMEOUT};
use crate::store::{Options, Scope, StoreError, sql_log};

/// What sessions start with alone: each transaction that begins with words names its isolation in them. A read of one
/// statement has no such words, and under `serializable` it could fail for others' writes.
const OF_SESSIONS: [(&str, &str); 1] = [("default_transaction_isolation", "read committed")];

/// The names and values of settings.
#[derive(Debug, Clone)]
pub(super) struct Settings([(&'static str, String); 10]);

impl Settings {
    pub(super) fn new(options: &Options) -> Settings {
        Settings([
            ("search_path", "main".to_owned()),
            ("lock_timeout", LOCK_TIMEOUT.as_millis().to_string()),
            (
                "idle_in_transaction_session_timeout",
                IDLE_TIMEOUT.as_millis().to_string(),
            ),
            (
                "statement_timeout",
                options.statement_timeout.as_millis().to_string(),
            ),
            // A statement is planned once, for any parameters: it takes longer to plan than to run.
            // Whatever the planner thinks of tables that are empty today, none is read from end to end
            // for one organization.
            ("plan_cache_mode", "force_generic_plan".to_owned()),
            ("enable_seqscan", "off".to_owned()),
            ("jit", "off".to_owned()),
            // What backslashes in the texts of statements mean.
            ("standard_conforming_strings", "on".to_owned()),
            // Without it a statement about a table with policies is an error.
            ("row_security", "on".to_owned()),
            // One statement keeps one processor busy, however much it reads: others have statements, too.
            ("max_parallel_workers_per_gather", "0".to_owned()),
        ])
    }

    /// The same for a distributed database: Citus finds the shard of a statement by its values, and can make no plan
    /// for any others of many a statement.
    pub(super) fn distributed(&self) -> Settings {
        let mut settings = self.clone();
        for (name, value) in &mut settings.0 {
            if *name == "plan_cache_mode" {
                "auto".clone_into(value);
            }
        }
        settings
    }

    /// Those that the sessions of requests have on the workers of a distributed database, too: the others are about whole
    /// transactions, which the coordinator has.
    pub(super) fn on_workers(&self) -> Vec<(&'static str, String)> {
        const ON_WORKERS: [&str; 4] = [
            "lock_timeout",
            "enable_seqscan",
            "jit",
            "max_parallel_workers_per_gather",
        ];
        let settings = self.0.iter();
        let settings = settings.filter(|(name, _)| ON_WORKERS.contains(name));
        settings.cloned().collect()
    }

    /// As parameters with which a session starts, behind those that the URL brings.
    pub(super) fn at_start(&self, url: Option<&str>) -> String {
        let mut options = url.unwrap_or_default().to_owned();
        for (name, value) in self.of_sessions() {
            if !options.is_empty() {
                options.push(' ');
            }
            // An unescaped space would end the value.
            let _ = write!(options, "-c {name}={}", value.replace(' ', "\\ "));
        }
        options
    }

    /// All that a session has when it was started so.
    fn of_sessions(&self) -> impl Iterator<Item = (&str, &str)> {
        let settings = self.0.iter();
        let settings = settings.map(|(name, value)| (*name, value.as_str()));
        settings.chain(OF_SESSIONS)
    }

    /// The same of a session for reads. Between transactions it has the role of authentication, unless tests take the
    /// roles away.
    pub(super) fn at_start_of_reader(&self, url: Option<&str>, secured: bool) -> String {
        let mut options = self.at_start(url);
        if secured {
            let _ = write!(options, " -c role={}", Scope::Authentication.role());
        }
        options
    }

    /// As words that follow `BEGIN`, and hold until that transaction ends.
    pub(super) fn in_transaction(&self) -> String {
        let words = |(name, value): &(&str, String)| format!("; SET LOCAL {name} = {value}");
        self.0.iter().map(words).collect()
    }

    /// Whether they hold on a connection that was started with them.
    pub(super) async fn hold(&self, client: &Client) -> Result<bool, StoreError> {
        // Numbers without a unit, as they were sent.
        let found = "SELECT name, setting FROM pg_settings WHERE name = ANY ($1)";
        let names: Vec<&str> = self.of_sessions().map(|(name, _)| name).collect();
        sql_log::typed(found, ["text[]"]);
        let rows = client.query(found, &[&names]).await?;
        let found: Vec<(&str, &str)> = rows
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Result<_, tokio_postgres::Error>>()?;
        Ok(self.of_sessions().all(|setting| found.contains(&setting)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Settings;
    use crate::store::Options;

    #[test]
    fn settings_travel_at_the_start_or_in_a_transaction() {
        let settings = Settings::new(&Options {
            statement_timeout: Duration::from_millis(1500),
        });
        let start = settings.at_start(Some("-c application_name=x"));
        assert!(
            start.starts_with("-c application_name=x -c search_path=main -c lock_timeout=3000 "),
            "{start}"
        );
        assert!(start.contains(" -c statement_timeout=1500 "), "{start}");
        let isolation = " -c default_transaction_isolation=read\\ committed";
        assert!(start.contains(isolation), "{start}");
        assert!(settings.at_start(None).starts_with("-c search_path=main "));
        let words = settings.in_transaction();
        assert!(
            words.starts_with("; SET LOCAL search_path = main; "),
            "{words}"
        );
        assert!(
            words.contains("; SET LOCAL statement_timeout = 1500; "),
            "{words}"
        );
        assert_eq!(
            words.matches("SET").count(),
            words.matches("SET LOCAL").count()
        );
    }
}
