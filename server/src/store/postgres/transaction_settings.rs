//! The settings of a transaction, sent as its opening: its mode, its role, and what policies read.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::Postgres;
use super::failure::Failure;
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

/// Lists that are not the same empty as missing: of what is kept from the caller. A list that is missing keeps everything.
const OF_KEPT: [&str; 2] = [Ids::Hidden.setting(), Ids::Guarded.setting()];

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

/// The same in a distributed database.
static DISTRIBUTED_ENTRIES: LazyLock<[String; 6]> =
    LazyLock::new(|| FORMS.map(|form| form.enter_everywhere(1)));

/// What sets the other settings in a distributed database, before something is asked.
const DISTRIBUTED_SETTINGS: &str = "SELECT set_on_all_nodes($1, $2)";

/// What sets the role in a distributed database, behind what was asked.
static DISTRIBUTED_ROLES: LazyLock<[String; 6]> =
    LazyLock::new(|| FORMS.map(|form| form.words(1, &SETTINGS[..1])));

/// The error of a transaction whose share has no place: nothing can be divided by none. What was sent along
/// behind it is not done then.
const NO_PLACE: SqlState = SqlState::DIVISION_BY_ZERO;

/// The words that begin a transaction that writes.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

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

/// Questions to authentication with their parameters: one, or in a distributed database one for each place where
/// something has to be asked. Their responses are one.
pub(in crate::store) type OpeningQuery<'a> = &'a [(Arc<Statement>, Cow<'a, [Value]>)];

/// What leaves before the first statement of a transaction.
pub(super) struct Opening<'a> {
    /// The words that begin it; empty where none do.
    pub(super) begin: Cow<'static, str>,
    /// What leaves behind it, in order.
    pub(super) statements: Vec<OpeningStatement<'a>>,
    /// Whether it takes a place of a share.
    shares: bool,
}

/// A statement that sets the scope, that asks authentication, or both.
pub(super) struct OpeningStatement<'a> {
    pub(super) text: &'a str,
    pub(super) parameters: Cow<'a, [Value]>,
    /// Whether what it finds is a response of authentication.
    pub(super) responds: bool,
}

impl<'a> Opening<'a> {
    /// Of a transaction for somebody. Statements whose plan depends on their values are planned `anew`.
    pub(super) fn new(
        postgres: &Postgres,
        kind: TransactionMode,
        share: Option<Share>,
        query: OpeningQuery<'a>,
        scope: &Scope,
        anew: bool,
    ) -> Opening<'a> {
        let secured = postgres.secured;
        let begin = begin(kind, postgres.with_settings());
        let begin = if secured && !query.is_empty() {
            format!("{begin}; SET LOCAL ROLE tplkit_gate").into()
        } else {
            begin
        };
        let settings = settings(scope, secured).map(Value::from);
        let places = share.map(|share| [share.key(), share.places()]);
        let kind = match places {
            Some(_) => BeginKind::Shared,
            None => BeginKind::Plain,
        };
        let form = BeginForm::new(kind, anew);
        let places = places.into_iter().flatten().map(Value::Int);
        let statements = if postgres.is_distributed() {
            form.distributed(query, settings, places)
        } else {
            vec![form.on_one_machine(query, settings, places)]
        };
        Opening {
            begin,
            statements,
            shares: kind == BeginKind::Shared,
        }
    }

    /// Why the transaction did not begin.
    pub(super) fn failure(&self, error: tokio_postgres::Error) -> Failure {
        if self.shares && error.code() == Some(&NO_PLACE) {
            return Failure::NoPlace;
        }
        Failure::Statement(error)
    }
}

impl<'a> OpeningStatement<'a> {
    /// Of a transaction that only reads, on a session that has the role of authentication between transactions: no words
    /// begin it.
    pub(super) fn implicit(
        postgres: &Postgres,
        query: OpeningQuery<'a>,
        scope: &Scope,
        anew: bool,
    ) -> OpeningStatement<'a> {
        let form = BeginForm::new(BeginKind::Implicit, anew);
        let settings = settings(scope, postgres.secured).map(Value::from);
        form.on_one_machine(query, settings, [].into_iter())
    }

    /// The types of its parameters, for the log.
    pub(super) fn types(&self) -> impl Iterator<Item = &'static str> {
        self.parameters.iter().map(sql_log::type_of)
    }
}

/// Parameters as a statement takes them.
pub(super) fn references(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    let values = values.iter();
    values.map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// The words that begin a transaction, and the settings where it has to bring them along: those before
/// its own, which say otherwise.
///
/// They name the isolation: what locks a row and then counts has to see what others committed before they gave the lock
/// back, whatever the default of the database or the role is.
fn begin(kind: TransactionMode, settings: Option<&str>) -> Cow<'static, str> {
    let (begin, own) = match kind {
        TransactionMode::ShortRead | TransactionMode::Read | TransactionMode::Heavy => {
            ("BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY", "")
        }
        TransactionMode::Snapshot => ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ""),
        TransactionMode::Write => (BEGIN, ""),
        TransactionMode::Preliminary => (BEGIN, "; SET LOCAL synchronous_commit = off"),
        TransactionMode::Long => (BEGIN, "; SET LOCAL statement_timeout = '600s'"),
        TransactionMode::Repeatable => (
            BEGIN,
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

    /// One statement that asks, if anything is asked, and sets the scope.
    fn on_one_machine(
        self,
        query: OpeningQuery<'_>,
        settings: [Value; COUNT],
        places: impl Iterator<Item = Value>,
    ) -> OpeningStatement<'_> {
        let (text, asked) = match query.first() {
            None => (&ENTRIES[self.number()], &[][..]),
            Some((statement, parameters)) => {
                let text = statement.entries[self.number()].get_or_init(|| {
                    let query = &statement.text;
                    let enter = self.enter(parameters.len() + 1);
                    format!("SELECT * FROM ({query}) AS known WHERE ({enter}) IS NOT NULL")
                });
                (text, &parameters[..])
            }
        };
        let parameters = asked.iter().cloned().chain(settings).chain(places);
        OpeningStatement {
            text,
            parameters: parameters.collect(),
            responds: !query.is_empty(),
        }
    }

    /// What asks and sets a distributed database. A question alone is about the coordinator: it is asked as on one
    /// machine. Citus would send others, that also set something, to its workers as a whole; and settings that come
    /// behind a question to a worker are sent to it each by itself. So of several questions all settings come first, and
    /// the role last.
    fn distributed(
        self,
        query: OpeningQuery<'_>,
        settings: [Value; COUNT],
        places: impl Iterator<Item = Value>,
    ) -> Vec<OpeningStatement<'_>> {
        let [role, settings @ ..] = settings;
        let names = SETTINGS[1..].iter().map(|name| (*name).to_owned());
        let texts = SETTINGS[1..].iter().zip(settings);
        let texts = texts.map(|(name, setting)| match setting {
            // Nothing is in such a list, whether it is there or not.
            Value::Text(text) if text != "{}" || OF_KEPT.contains(name) => text,
            _ => String::new(),
        });
        let settings = [Value::Texts(names.collect()), Value::Texts(texts.collect())];
        let entered = [role].into_iter().chain(places);
        let (text, asked) = match query {
            [] => (&DISTRIBUTED_ENTRIES[self.number()], &[][..]),
            [(statement, parameters)] => {
                let text = statement.entries[self.number()].get_or_init(|| {
                    let query = &statement.text;
                    let enter = self.enter_everywhere(parameters.len() + 1);
                    format!("SELECT * FROM ({query}) AS known WHERE ({enter}) IS NOT NULL")
                });
                (text, &parameters[..])
            }
            several => return self.in_parts(several, settings, entered),
        };
        let parameters = asked.iter().cloned().chain(settings).chain(entered);
        vec![OpeningStatement {
            text,
            parameters: parameters.collect(),
            responds: !query.is_empty(),
        }]
    }

    fn in_parts(
        self,
        query: OpeningQuery<'_>,
        settings: [Value; 2],
        entered: impl Iterator<Item = Value>,
    ) -> Vec<OpeningStatement<'_>> {
        let mut statements = vec![OpeningStatement {
            text: DISTRIBUTED_SETTINGS,
            parameters: Vec::from(settings).into(),
            responds: false,
        }];
        statements.extend(
            query
                .iter()
                .map(|(statement, parameters)| OpeningStatement {
                    text: &statement.text,
                    parameters: Cow::Borrowed(parameters),
                    responds: true,
                }),
        );
        statements.push(OpeningStatement {
            text: &DISTRIBUTED_ROLES[self.number()],
            parameters: entered.collect(),
            responds: false,
        });
        statements
    }

    /// Sets the scope, by parameters from that number on.
    fn enter(self, first: usize) -> String {
        self.words(first, &SETTINGS)
    }

    /// Sets the scope of a distributed database, by parameters from that number on.
    fn enter_everywhere(self, first: usize) -> String {
        let role = self.words(first + 2, &SETTINGS[..1]);
        let role = role.trim_start_matches("SELECT ");
        format!(
            "SELECT set_on_all_nodes(${first}, ${}) || {role}",
            first + 1
        )
    }

    /// Sets these settings, by parameters from that number on.
    fn words(self, first: usize, settings: &[&str]) -> String {
        let numbered = settings.iter().zip(first..);
        let mut words: Vec<String> = numbered
            .map(|(name, number)| format!("set_config('{name}', ${number}, true)"))
            .collect();
        if self.anew {
            words.push("set_config('plan_cache_mode', 'force_custom_plan', true)".to_owned());
        }
        match self.kind {
            BeginKind::Plain => {}
            BeginKind::Shared => words.push(place(first + settings.len())),
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
    use std::borrow::Cow;
    use std::sync::Arc;
    use std::time::Duration;

    use uuid::Uuid;

    use super::{BeginKind, COUNT, FORMS, Opening, OpeningStatement, Postgres, SETTINGS, settings};
    use crate::store::sql_log::tests::placeholders;
    use crate::store::statement::Statement;
    use crate::store::{Options, Scope, Share, TransactionMode, Value, Visible};

    fn question(text: &str) -> Arc<Statement> {
        Arc::new(Statement::of(text.to_owned()))
    }

    /// What the log says of parameters would be wrong without a word where it is not what is sent.
    #[test]
    fn each_parameter_of_an_opening_has_a_type_and_a_place() {
        let postgres = Postgres::prepare("postgres://u@localhost/db", true, &Options::default())
            .expect("an address");
        let parameters = [Value::Id(Uuid::nil()), Value::Int(0)];
        let asked = [(question("SELECT $1, $2"), Cow::Borrowed(&parameters[..]))];
        let share = Share::new(0, Uuid::nil(), 4, Duration::ZERO);
        for query in [&[][..], &asked] {
            for share in [None, Some(share)] {
                for anew in [false, true] {
                    let scope = &Scope::Authentication;
                    let mode = TransactionMode::Write;
                    let opening = Opening::new(&postgres, mode, share, query, scope, anew);
                    let mut statements = opening.statements;
                    assert_eq!(statements.len(), 1, "one statement on one machine");
                    if share.is_none() {
                        statements.push(OpeningStatement::implicit(&postgres, query, scope, anew));
                    }
                    for statement in statements {
                        let types: Vec<&str> = statement.types().collect();
                        let mut expected = Vec::new();
                        if !query.is_empty() {
                            expected.extend(["uuid", "bigint"]);
                        }
                        expected.extend(["text"; COUNT]);
                        if share.is_some() {
                            expected.extend(["bigint", "bigint"]);
                        }
                        assert_eq!(types, expected);
                        assert_eq!(statement.responds, !query.is_empty());
                        let named = placeholders(statement.text).into_iter();
                        assert!(named.eq(1..=types.len()), "{}", statement.text);
                    }
                }
            }
        }
    }

    /// Of several questions none also sets something, and all stand between the settings and the role.
    #[test]
    fn a_distributed_database_is_set_before_it_is_asked() {
        let parameters = [Value::Id(Uuid::nil())];
        let asked = [
            (question("SELECT $1"), Cow::Borrowed(&parameters[..])),
            (question("SELECT 2"), Cow::Borrowed(&[][..])),
        ];
        for form in FORMS {
            let places = match form.kind {
                BeginKind::Shared => &[1, 2][..],
                BeginKind::Plain | BeginKind::Implicit => &[],
            };
            let places = || places.iter().copied().map(Value::Int);
            let values = || settings(&Scope::Authentication, true).map(Value::from);
            let none = form.distributed(&[], values(), places());
            let one = form.distributed(&asked[..1], values(), places());
            let several = form.distributed(&asked, values(), places());
            let responds = |of: &[OpeningStatement<'_>]| -> Vec<bool> {
                of.iter().map(|one| one.responds).collect()
            };
            assert_eq!(responds(&none), [false]);
            assert_eq!(responds(&one), [true]);
            assert_eq!(responds(&several), [false, true, true, false]);
            assert!(several[0].text.contains("set_on_all_nodes"));
            assert!(several[3].text.contains("set_config('role'"));
            for statement in none.iter().chain(&one).chain(&several) {
                let named = placeholders(statement.text).into_iter();
                let given = 1..=statement.parameters.len();
                assert!(named.eq(given), "{}", statement.text);
            }
        }
    }

    #[test]
    fn a_distributed_database_gets_what_says_something() {
        let scope = Scope::from(Visible {
            organizations: vec![Uuid::from_u128(1)],
            ..Visible::default()
        });
        let values = settings(&scope, true).map(Value::from);
        let entry = FORMS[0].distributed(&[], values, [].into_iter());
        let [_, Value::Texts(texts), _] = &entry[0].parameters[..] else {
            panic!("names, settings and a role");
        };
        let said: Vec<&str> = SETTINGS[1..]
            .iter()
            .zip(texts)
            .filter_map(|(name, text)| (!text.is_empty()).then_some(*name))
            .collect();
        assert_eq!(
            said,
            [
                "tplkit.caller",
                "tplkit.organizations",
                "tplkit.hidden",
                "tplkit.guarded"
            ]
        );
    }
}
