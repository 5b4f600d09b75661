//! How a transaction begins: its kind, the role it runs as, and what the policies are told about who asks.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::Postgres;
use crate::store::statement::Statement;
use crate::store::{Kind, Scope, Value};

/// The settings in the order of [`settings`]. `set_config('role', …)` is `SET LOCAL ROLE` in a form that
/// takes a parameter. All of them are set every time: after a transaction a setting is `''`, which the
/// policies read as nothing.
const SETTINGS: [&str; 9] = [
    "role",
    "tplkit.caller",
    "tplkit.organizations",
    "tplkit.administered",
    "tplkit.workspaces",
    "tplkit.hidden",
    "tplkit.guarded",
    "tplkit.platform",
    "tplkit.run",
];

/// What sets the scope where nothing is asked first, for usual plans and for new ones.
static ENTRIES: LazyLock<[String; 2]> = LazyLock::new(|| [enter(1, false), enter(1, true)]);

/// A question to the gate, and its parameters.
pub(in crate::store) type Question<'a> = (&'a Arc<Statement>, &'a [Value]);

/// What leaves before the first statement of a transaction.
pub(super) struct Opening<'a> {
    pub(super) begin: Cow<'static, str>,
    /// Sets the scope; where something is asked first, its answer is that question's.
    pub(super) enter: &'a str,
    pub(super) asked: &'a [Value],
    settings: [String; 9],
}

impl<'a> Opening<'a> {
    /// Of a transaction for somebody. Statements whose plan depends on their values are planned `anew`.
    pub(super) fn new(
        postgres: &Postgres,
        kind: Kind,
        question: Option<Question<'a>>,
        scope: &Scope,
        anew: bool,
    ) -> Opening<'a> {
        let wall = postgres.wall;
        let begin = begin(kind, postgres.brought());
        let settings = settings(scope, wall);
        let Some((question, asked)) = question else {
            return Opening {
                begin,
                enter: &ENTRIES[usize::from(anew)],
                asked: &[],
                settings,
            };
        };
        let begin = if wall {
            format!("{begin}; SET LOCAL ROLE tplkit_gate").into()
        } else {
            begin
        };
        let enter = question.entries[usize::from(anew)].get_or_init(|| {
            let question = &question.text;
            let enter = enter(asked.len() + 1, anew);
            format!("SELECT * FROM ({question}) AS known WHERE ({enter}) IS NOT NULL")
        });
        Opening {
            begin,
            enter,
            asked,
            settings,
        }
    }

    /// The parameters of what sets the scope.
    pub(super) fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        let mut parameters = references(self.asked);
        let settings = self.settings.iter();
        parameters.extend(settings.map(|value| value as &(dyn ToSql + Sync)));
        parameters
    }
}

/// Parameters as a statement takes them.
pub(super) fn references(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    let values = values.iter();
    values.map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// The words that begin a transaction, and the settings where it has to bring them along: those before
/// its own, which say otherwise.
fn begin(kind: Kind, settings: Option<&str>) -> Cow<'static, str> {
    let (begin, own) = match kind {
        Kind::Glance | Kind::Read | Kind::Heavy => ("BEGIN READ ONLY", ""),
        Kind::Snapshot => ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ""),
        Kind::Write => ("BEGIN", ""),
        Kind::Long => ("BEGIN", "; SET LOCAL statement_timeout = '600s'"),
        Kind::Repeatable => (
            "BEGIN",
            "; SET LOCAL statement_timeout = '600s'; SET LOCAL synchronous_commit = off",
        ),
    };
    match (settings, own) {
        (None, "") => begin.into(),
        (settings, own) => format!("{begin}{}{own}", settings.unwrap_or_default()).into(),
    }
}

/// Sets the scope, by parameters from that number on, and for a transaction that plans anew this, too.
fn enter(first: usize, anew: bool) -> String {
    let settings = SETTINGS.iter().zip(first..);
    let mut settings: Vec<String> = settings
        .map(|(name, number)| format!("set_config('{name}', ${number}, true)"))
        .collect();
    if anew {
        settings.push("set_config('plan_cache_mode', 'force_custom_plan', true)".to_owned());
    }
    format!("SELECT {}", settings.join(" || "))
}

/// The parameters of [`enter`], in the order of [`SETTINGS`].
fn settings(scope: &Scope, wall: bool) -> [String; 9] {
    let list = |ids: &[Uuid]| {
        let ids: Vec<String> = ids.iter().map(Uuid::to_string).collect();
        format!("{{{}}}", ids.join(","))
    };
    let role = if wall { scope.role() } else { "none" }.to_owned();
    let Scope::Caller(visible) = scope else {
        let mut settings = <[String; 9]>::default();
        settings[0] = role;
        return settings;
    };
    [
        role,
        visible.caller.to_string(),
        list(&visible.organizations),
        list(&visible.administered),
        list(&visible.workspaces),
        list(&visible.hidden),
        list(&visible.guarded),
        if visible.platform { "on" } else { "" }.to_owned(),
        visible.run.map(|run| run.to_string()).unwrap_or_default(),
    ]
}
