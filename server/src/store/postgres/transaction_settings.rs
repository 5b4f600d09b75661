//! The settings of a transaction, sent as its opening: its mode, its role, and what policies read.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::Postgres;
use super::statements::Failure;
use crate::store::policy::PLATFORM;
use crate::store::scope_ids::{Id, Ids};
use crate::store::statement::Statement;
use crate::store::{Scope, Share, TransactionMode, Value, sql_log};

/// How many settings there are.
const COUNT: usize = 11;

/// The settings in the order of [`settings`]. `set_config('role', …)` is `SET LOCAL ROLE` in a form that
/// takes a parameter. All of them are set every time: after a transaction a setting is `''`, which the
/// policies read as nothing.
const SETTINGS: [&str; COUNT] = [
    "role",
    Id::Caller.setting(),
    Ids::Organizations.setting(),
    Ids::Administered.setting(),
    Ids::Workspaces.setting(),
    Ids::Hidden.setting(),
    Ids::Guarded.setting(),
    PLATFORM,
    Id::Run.setting(),
    Id::OnlyWorkspace.setting(),
    Id::OnlyFeature.setting(),
];

/// Every form of a beginning, by its [`number`](BeginForm::number).
const FORMS: [BeginForm; 6] = [
    BeginForm::new(BeginKind::Plain, false),
    BeginForm::new(BeginKind::Plain, true),
    BeginForm::new(BeginKind::Shared, false),
    BeginForm::new(BeginKind::Shared, true),
    BeginForm::new(BeginKind::Implicit, false),
    BeginForm::new(BeginKind::Implicit, true),
];

/// What sets the scope where nothing is asked first.
static ENTRIES: LazyLock<[String; 6]> = LazyLock::new(|| FORMS.map(|form| form.enter(1)));

/// The error of a transaction whose share has no place: nothing can be divided by none. What was sent along
/// behind it is not done then.
const NO_PLACE: SqlState = SqlState::DIVISION_BY_ZERO;

/// How a transaction begins.
#[derive(Debug, Clone, Copy)]
struct BeginForm {
    kind: BeginKind,
    /// Statements are planned for their values.
    anew: bool,
}

/// What else a transaction does when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BeginKind {
    Plain,
    /// It takes a place of a share.
    Shared,
    /// No words have begun it, so it says here that it only reads.
    Implicit,
}

/// A question to authentication, and its parameters.
pub(in crate::store) type OpeningQuery<'a> = (&'a Arc<Statement>, &'a [Value]);

/// What leaves before the first statement of a transaction.
pub(super) struct Opening<'a> {
    /// The words that begin it; empty where none do.
    pub(super) begin: Cow<'static, str>,
    /// Sets the scope; where something is asked first, its response is that question's.
    pub(super) enter: &'a str,
    query: &'a [Value],
    settings: [String; COUNT],
    /// Where the places of its share begin, and how many there are.
    places: Option<[i64; 2]>,
}

impl<'a> Opening<'a> {
    /// Of a transaction for somebody. Statements whose plan depends on their values are planned `anew`.
    pub(super) fn new(
        postgres: &Postgres,
        kind: TransactionMode,
        share: Option<Share>,
        query: Option<OpeningQuery<'a>>,
        scope: &Scope,
        anew: bool,
    ) -> Opening<'a> {
        let secured = postgres.secured;
        let mut begin = begin(kind, postgres.with_settings());
        if secured && query.is_some() {
            begin = format!("{begin}; SET LOCAL ROLE tplkit_gate").into();
        }
        let kind = match share {
            Some(_) => BeginKind::Shared,
            None => BeginKind::Plain,
        };
        let mut opening = Opening::of(BeginForm::new(kind, anew), query, scope, secured);
        opening.begin = begin;
        opening.places = share.map(|share| [share.key(), share.places()]);
        opening
    }

    /// Of a transaction that only reads, on a session that has the role of authentication between transactions:
    /// no words begin it.
    pub(super) fn implicit(
        postgres: &Postgres,
        query: Option<OpeningQuery<'a>>,
        scope: &Scope,
        anew: bool,
    ) -> Opening<'a> {
        let form = BeginForm::new(BeginKind::Implicit, anew);
        Opening::of(form, query, scope, postgres.secured)
    }

    fn of(
        form: BeginForm,
        query: Option<OpeningQuery<'a>>,
        scope: &Scope,
        secured: bool,
    ) -> Opening<'a> {
        let (enter, query): (&str, &[Value]) = match query {
            None => (&ENTRIES[form.number()], &[]),
            Some((statement, parameters)) => {
                let enter = statement.entries[form.number()].get_or_init(|| {
                    let query = &statement.text;
                    let enter = form.enter(parameters.len() + 1);
                    format!("SELECT * FROM ({query}) AS known WHERE ({enter}) IS NOT NULL")
                });
                (enter, parameters)
            }
        };
        Opening {
            begin: Cow::Borrowed(""),
            enter,
            query,
            settings: settings(scope, secured),
            places: None,
        }
    }

    /// The parameters of what sets the scope.
    pub(super) fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        let mut parameters = references(self.query);
        let settings = self.settings.iter();
        parameters.extend(settings.map(|value| value as &(dyn ToSql + Sync)));
        let places = self.places.iter().flatten();
        parameters.extend(places.map(|value| value as &(dyn ToSql + Sync)));
        parameters
    }

    /// The types of these parameters, for the log.
    pub(super) fn types(&self) -> impl Iterator<Item = &'static str> {
        let settings = self.settings.iter().map(|_| "text");
        let places = self.places.iter().flatten().map(|_| "bigint");
        let query = self.query.iter().map(sql_log::type_of);
        query.chain(settings).chain(places)
    }

    /// Why the transaction did not begin.
    pub(super) fn failure(&self, error: tokio_postgres::Error) -> Failure {
        if self.places.is_some() && error.code() == Some(&NO_PLACE) {
            return Failure::NoPlace;
        }
        Failure::Statement(error)
    }
}

/// Parameters as a statement takes them.
pub(super) fn references(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    let values = values.iter();
    values.map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// The words that begin a transaction, and the settings where it has to bring them along: those before
/// its own, which say otherwise.
fn begin(kind: TransactionMode, settings: Option<&str>) -> Cow<'static, str> {
    let (begin, own) = match kind {
        TransactionMode::ShortRead | TransactionMode::Read | TransactionMode::Heavy => {
            ("BEGIN READ ONLY", "")
        }
        TransactionMode::Snapshot => ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ""),
        TransactionMode::Write => ("BEGIN", ""),
        TransactionMode::Preliminary => ("BEGIN", "; SET LOCAL synchronous_commit = off"),
        TransactionMode::Long => ("BEGIN", "; SET LOCAL statement_timeout = '600s'"),
        TransactionMode::Repeatable => (
            "BEGIN",
            "; SET LOCAL statement_timeout = '600s'; SET LOCAL synchronous_commit = off",
        ),
    };
    match (settings, own) {
        (None, "") => begin.into(),
        (settings, own) => format!("{begin}{}{own}", settings.unwrap_or_default()).into(),
    }
}

impl BeginForm {
    const fn new(kind: BeginKind, anew: bool) -> BeginForm {
        BeginForm { kind, anew }
    }

    fn number(self) -> usize {
        usize::from(self.anew) + 2 * self.kind as usize
    }

    /// Sets the scope, by parameters from that number on.
    fn enter(self, first: usize) -> String {
        let settings = SETTINGS.iter().zip(first..);
        let mut words: Vec<String> = settings
            .map(|(name, number)| format!("set_config('{name}', ${number}, true)"))
            .collect();
        if self.anew {
            words.push("set_config('plan_cache_mode', 'force_custom_plan', true)".to_owned());
        }
        match self.kind {
            BeginKind::Plain => {}
            BeginKind::Shared => words.push(place(first + SETTINGS.len())),
            BeginKind::Implicit => {
                words.push("set_config('transaction_read_only', 'on', true)".to_owned());
            }
        }
        format!("SELECT {}", words.join(" || "))
    }
}

/// Takes the first free place of a share until the transaction ends, by parameters from that number on;
/// where there is none it fails with [`NO_PLACE`].
fn place(first: usize) -> String {
    let places = first + 1;
    format!(
        "(SELECT 1 / count(*) FROM (SELECT place \
         FROM generate_series(CAST(0 AS bigint), CAST(${places} AS bigint) - 1) AS place \
         WHERE pg_try_advisory_xact_lock(CAST(${first} AS bigint) + place) LIMIT 1) AS taken)"
    )
}

/// The parameters that set the scope, in the order of [`SETTINGS`].
fn settings(scope: &Scope, secured: bool) -> [String; COUNT] {
    let role = if secured { scope.role() } else { "none" }.to_owned();
    let Scope::Caller(visible) = scope else {
        let mut settings = <[String; COUNT]>::default();
        settings[0] = role;
        return settings;
    };
    let id = |id: Id| id.of(visible).map(|id| id.to_string()).unwrap_or_default();
    let list = |ids: Ids| {
        let ids: Vec<String> = ids.of(visible).iter().map(Uuid::to_string).collect();
        format!("{{{}}}", ids.join(","))
    };
    // What is about one table has no such list: it is not empty, but unknown.
    let hidden = match visible.only {
        Some(_) => String::new(),
        None => list(Ids::Hidden),
    };
    [
        role,
        id(Id::Caller),
        list(Ids::Organizations),
        list(Ids::Administered),
        list(Ids::Workspaces),
        hidden,
        list(Ids::Guarded),
        if visible.platform { "on" } else { "" }.to_owned(),
        id(Id::Run),
        id(Id::OnlyWorkspace),
        id(Id::OnlyFeature),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use uuid::Uuid;

    use super::{COUNT, Opening, Postgres};
    use crate::store::sql_log::tests::placeholders;
    use crate::store::statement::Statement;
    use crate::store::{Options, Scope, Share, TransactionMode, Value};

    /// What the log says of parameters would be wrong without a word where it is not what is sent.
    #[test]
    fn each_parameter_of_an_opening_has_a_type_and_a_place() {
        let postgres = Postgres::prepare("postgres://u@localhost/db", true, &Options::default())
            .expect("an address");
        let question = Arc::new(Statement::of("SELECT $1, $2".to_owned()));
        let parameters = [Value::Id(Uuid::nil()), Value::Int(0)];
        let share = Share::new(0, Uuid::nil(), 4, Duration::ZERO);
        for query in [None, Some((&question, &parameters[..]))] {
            for share in [None, Some(share)] {
                for anew in [false, true] {
                    let scope = &Scope::Authentication;
                    let mode = TransactionMode::Write;
                    let words = Opening::new(&postgres, mode, share, query, scope, anew);
                    let implicit = Opening::implicit(&postgres, query, scope, anew);
                    let openings = match share {
                        None => vec![words, implicit],
                        Some(_) => vec![words],
                    };
                    for opening in openings {
                        let types: Vec<&str> = opening.types().collect();
                        let mut expected = Vec::new();
                        if query.is_some() {
                            expected.extend(["uuid", "bigint"]);
                        }
                        expected.extend(["text"; COUNT]);
                        if share.is_some() {
                            expected.extend(["bigint", "bigint"]);
                        }
                        assert_eq!(types, expected);
                        assert_eq!(opening.parameters().len(), types.len());
                        let named = placeholders(opening.enter).into_iter();
                        assert!(named.eq(1..=types.len()), "{}", opening.enter);
                    }
                }
            }
        }
    }
}
