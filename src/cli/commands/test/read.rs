//! Reads the file of a test.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use jiff::Timestamp;
use toml::de::{DeTable, DeValue};
use tplkit::apply::{Request, RowsMode};
use tplkit::check::Checked;
use tplkit::finding::suggest;
use tplkit::json::{Object, Value};
use tplkit::package::Tool;
use tplkit::package_tests::{Amount, Declared, Expectations, Fire, Trigger};

use crate::cli::error::CliError;
use crate::cli::toml_file::{SpannedValue, TomlFile};
use crate::cli::{resolutions, source};

/// What to do about a mistake.
const HELP: &str =
    "docs/TESTS.md says what a test may hold; `tplkit test --help` shows how tests are run";

/// A test and what it names.
#[derive(Debug)]
pub(super) struct TestFile {
    pub(super) file: PathBuf,
    /// The name of the file, without its ending.
    pub(super) name: String,
    /// The package that is there before.
    pub(super) destination: Option<PathBuf>,
    /// The package that is upgraded.
    pub(super) base: Option<PathBuf>,
    pub(super) declared: Declared,
}

impl TestFile {
    /// Reads it. `now` is the clock where it names none.
    pub(super) fn read(
        path: &Path,
        package: &Checked<'_>,
        now: Timestamp,
    ) -> Result<TestFile, CliError> {
        let text = source::read_text(path)?;
        let text = text.trim_start_matches('\u{feff}');
        let file = TomlFile {
            path: path.to_owned(),
            text,
            help: HELP,
        };
        let root = file.parse()?;
        let root = root.get_ref();
        file.refuse_unknown_keys(root, &["given", "expect", "fire"])?;
        let mut test = TestFile {
            file: path.to_owned(),
            name: path
                .file_stem()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            destination: None,
            base: None,
            declared: Declared {
                request: Request::default(),
                now,
                expect: Expectations::default(),
                fires: Vec::new(),
            },
        };
        if let Some(given) = root.get("given") {
            test.given(&file, file.table(given)?)?;
        }
        if let Some(expect) = root.get("expect") {
            let keys = Expectations::keys(&package.manifest);
            test.declared.expect = expected(&file, file.table(expect)?, &keys)?;
        }
        let reader = FireReader {
            file: &file,
            automations: automations(package),
        };
        for fire in root
            .get("fire")
            .map(|fires| file.list(fires))
            .transpose()?
            .unwrap_or_default()
        {
            let fire = reader.fire(file.table(fire)?, fire)?;
            test.declared.fires.push(fire);
        }
        Ok(test)
    }

    fn given<'t>(&mut self, file: &TomlFile<'t>, given: &DeTable<'t>) -> Result<(), CliError> {
        file.refuse_unknown_keys(
            given,
            &["destination", "resolutions", "rows", "now", "base"],
        )?;
        let path = |key: &str| given.get(key).map(|value| file.file(value)).transpose();
        self.destination = path("destination")?;
        self.base = path("base")?;
        if let Some(now) = given.get("now") {
            self.declared.now = file.instant(now)?;
        }
        if let Some(decided) = given.get("resolutions") {
            self.declared.request = match decided.get_ref() {
                DeValue::String(_) => resolutions::read(Some(&file.file(decided)?))?,
                _ => request(file, file.table(decided)?, decided)?,
            };
        }
        if let Some(rows) = given.get("rows") {
            let mut named = HashSet::new();
            for (table, mode) in file.table(rows)? {
                let word = file.string(mode)?;
                let known = RowsMode::parse(&word).ok_or_else(|| {
                    let message = "a rows mode is `all`, `missingByKey` or `none`";
                    file.wrong(mode.span().start, message)
                })?;
                let at = table.span().start;
                let table = table.get_ref().trim_start_matches('$').to_owned();
                if !named.insert(table.clone()) {
                    let message =
                        format!("`{table}` is named twice, with a dollar and without one");
                    return Err(file.wrong(at, message));
                }
                self.declared.request.rows_modes.insert(table, known);
            }
        }
        Ok(())
    }
}

/// Resolutions in the file itself: by ref, or all members of a resolutions file.
fn request<'t>(
    file: &TomlFile<'t>,
    table: &DeTable<'t>,
    at: &toml::Spanned<DeValue<'t>>,
) -> Result<Request, CliError> {
    const MEMBERS: [&str; 7] = [
        "resolutions",
        "rowsModes",
        "includeRows",
        "decisions",
        "conflicts",
        "allowDowngrade",
        "allowDestructive",
    ];
    let members = file.object(table)?;
    let whole = members.keys().any(|key| MEMBERS.contains(&key.as_str()));
    let members = if whole {
        members
    } else {
        Object::from_iter([("resolutions".to_owned(), members.into())])
    };
    Request::from_json(&Value::Object(members).write()).map_err(|refusals| {
        let details: Vec<String> = refusals.into_iter().map(|one| one.detail).collect();
        file.wrong(at.span().start, details.join("; "))
    })
}

fn expected<'t>(
    file: &TomlFile<'t>,
    expect: &DeTable<'t>,
    keys: &HashSet<&str>,
) -> Result<Expectations, CliError> {
    let always = [("again", "unchanged"), ("undo", "empty")];
    let mut known = Expectations::names().to_vec();
    known.extend(always.map(|(key, _)| key));
    file.refuse_unknown_keys(expect, &known)?;
    for (key, word) in always {
        if let Some(value) = expect.get(key)
            && file.string(value)? != word
        {
            let message = format!("`{key}` is always `{word}`");
            return Err(file.wrong(value.span().start, message));
        }
    }
    let mut amounts = BTreeMap::new();
    for name in Expectations::names() {
        let Some(value) = expect.get(name) else {
            continue;
        };
        let amount = match value.get_ref() {
            DeValue::Table(table) => {
                refuse_unknown_things(file, table, keys)?;
                let each = table
                    .iter()
                    .map(|(key, count)| Ok((undollared(key.get_ref()), file.count(count)?)));
                Amount::Each(each.collect::<Result<_, CliError>>()?)
            }
            _ => Amount::Sum(file.count(value)?),
        };
        amounts.insert(name.to_owned(), amount);
    }
    Ok(Expectations { amounts })
}

/// Refuses the first key that is neither a kind nor anything of the package: a number of 0 would always be right.
fn refuse_unknown_things<'t>(
    file: &TomlFile<'t>,
    table: &DeTable<'t>,
    known: &HashSet<&str>,
) -> Result<(), CliError> {
    let unknown = table
        .keys()
        .filter(|key| !known.contains(undollared(key.get_ref()).as_str()));
    let Some(key) = unknown.min_by_key(|key| key.span().start) else {
        return Ok(());
    };
    let name = key.get_ref();
    let mut candidates: Vec<&str> = known.iter().copied().collect();
    candidates.sort_unstable();
    let message = match suggest::nearest(name, candidates) {
        Some(near) => format!("the package has no `{name}`; did you mean `{near}`?"),
        None => format!("the package has no `{name}`: a kind or a ref is expected here"),
    };
    Err(file.wrong(key.span().start, message))
}

fn undollared(reference: &str) -> String {
    reference.trim_start_matches('$').to_owned()
}

/// The automations of a package: refs and names.
fn automations(package: &Checked<'_>) -> Vec<(String, String)> {
    let steps = package.manifest.plan.steps.iter();
    let steps = steps.filter(|step| step.tool == Tool::CreateWorkflowV2);
    steps
        .filter_map(|step| {
            let name = step.args.get("name").and_then(Value::as_str);
            Some((step.reference.clone()?, name.unwrap_or_default().to_owned()))
        })
        .collect()
}

struct FireReader<'f, 't> {
    file: &'f TomlFile<'t>,
    automations: Vec<(String, String)>,
}

impl<'t> FireReader<'_, 't> {
    fn fire(&self, fire: &DeTable<'t>, at: &toml::Spanned<DeValue<'t>>) -> Result<Fire, CliError> {
        let file = self.file;
        file.refuse_unknown_keys(
            fire,
            &[
                "automation",
                "row",
                "body",
                "at",
                "steps",
                "outputs",
                "rows",
                "notifications",
                "mails",
            ],
        )?;
        let automation = fire.get("automation");
        let automation = automation.ok_or_else(|| {
            file.wrong(at.span().start, "`automation` is missing: a ref, or a name")
        })?;
        let by_table = |key: &str| {
            let table = fire.get(key).map(|value| file.table(value)).transpose()?;
            Ok::<_, CliError>(table.into_iter().flatten())
        };
        let mut outputs = IndexMap::new();
        for (step, output) in by_table("outputs")? {
            outputs.insert(
                step.get_ref().to_string(),
                file.object(file.table(output)?)?,
            );
        }
        let mut rows = IndexMap::new();
        for (table, all) in by_table("rows")? {
            rows.insert(undollared(table.get_ref()), file.objects(all)?);
        }
        let steps = match fire.get("steps") {
            Some(steps) => {
                let keys = file.list(steps)?.into_iter();
                Some(keys.map(|key| file.string(key)).collect::<Result<_, _>>()?)
            }
            None => None,
        };
        let lists = |key: &str| fire.get(key).map(|value| file.objects(value)).transpose();
        Ok(Fire {
            automation: self.automation(automation)?,
            trigger: self.trigger(fire)?,
            steps,
            outputs,
            rows,
            notifications: lists("notifications")?,
            mails: lists("mails")?,
        })
    }

    /// The ref of an automation that is named by its ref or its name.
    fn automation(&self, value: &toml::Spanned<DeValue<'t>>) -> Result<String, CliError> {
        let word = self.file.string(value)?;
        let reference = undollared(&word);
        let by_ref = self
            .automations
            .iter()
            .find(|(known, _)| *known == reference);
        if let Some((reference, _)) = by_ref {
            return Ok(reference.clone());
        }
        let named: Vec<&str> = self
            .automations
            .iter()
            .filter(|(_, name)| *name == word)
            .map(|(reference, _)| reference.as_str())
            .collect();
        let start = value.span().start;
        match named.as_slice() {
            [only] => Ok((*only).to_owned()),
            [] => Err(self
                .file
                .wrong(start, format!("the package has no automation `{word}`"))),
            several => {
                let message = format!("`{word}` names several automations: {}", several.join(", "));
                Err(self.file.wrong(start, message))
            }
        }
    }

    fn trigger(&self, fire: &DeTable<'t>) -> Result<Trigger, CliError> {
        let file = self.file;
        let given: Vec<(&str, SpannedValue<'_>)> = ["row", "body", "at"]
            .into_iter()
            .filter_map(|key| Some((key, fire.get(key)?)))
            .collect();
        match given.as_slice() {
            [] => Ok(Trigger::Nothing),
            [("row", cells)] => Ok(Trigger::Row(file.object(file.table(cells)?)?)),
            [("body", cells)] => Ok(Trigger::Body(file.object(file.table(cells)?)?)),
            [(_, instant)] => Ok(Trigger::At(file.instant(instant)?)),
            [_, (_, second), ..] => {
                let message = "only one of `row`, `body` and `at` fires an automation";
                Err(file.wrong(second.span().start, message))
            }
        }
    }
}
