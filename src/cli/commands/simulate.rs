//! `tplkit simulate`: applies and undoes a package in memory.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::json;
use tplkit::apply::{Preview, Request, RowsMode, check_base, content_digest};
use tplkit::check::{CheckOptions, Checked};
use tplkit::definitions::Definitions;
use tplkit::json::Value;
use tplkit::package::model::Manifest;
use tplkit::printable;
use tplkit::simulate::{self, KnownJob, SimulateError, SimulatedUpgrade, Simulation, UpgradeBase};
use tplkit::workspace::memory::{AppliedJob, State};

use crate::cli::apply_summary::{self, FailedRows};
use crate::cli::args::Form;
use crate::cli::destination;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::item_titles::ItemTitles;
use crate::cli::output::{folded, write_data, write_result};
use crate::cli::overwrite::{is_input, refuse_input};
use crate::cli::package_file;
use crate::cli::resolutions;
use crate::cli::session::{RandomIds, Session, SystemClock};
use crate::cli::settings::definitions_for;
use crate::cli::shell_word::shell_path;
use crate::cli::upgrade_args::UpgradeArgs;
use crate::cli::upgrade_view;

/// Apply a package to a workspace in memory, apply it again, and undo it.
///
/// Nothing is written and no server is needed, but the code is that of a real apply and a real
/// undo. Without `--into` the workspace is empty, except for what the resolutions map to.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Apply a package to an empty workspace", "tplkit simulate crm.json"),
    ("Apply it to a workspace that holds another package, without rows", "tplkit simulate crm.json --into inventory.json --no-rows"),
    ("Save the resulting workspace", "tplkit simulate inventory.json --save workspace-after.json"),
]))]
pub(crate) struct Args {
    /// The package: a file or an unpacked folder; `-` is standard input.
    #[arg(value_name = "PKG")]
    package: PathBuf,
    /// Destination: another package, which is applied first, or a workspace file of `--save`.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Decisions about dependencies: TOML as `resolve init` writes it, or JSON.
    #[arg(long, value_name = "FILE")]
    resolutions: Option<PathBuf>,
    /// Which rows to write: `all`, `missingByKey` or `none`, for every table or for one
    /// (`REF=MODE`).
    #[arg(long, value_name = "[REF=]MODE", value_parser = resolutions::rows_mode)]
    rows_mode: Vec<(Option<String>, RowsMode)>,
    /// Write no rows.
    #[arg(long, conflicts_with = "rows_mode")]
    no_rows: bool,
    /// Write the resulting workspace to this file.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Use the registry in this file, from another server, instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    definitions: Option<PathBuf>,
    #[command(flatten)]
    upgrade: UpgradeArgs,
    #[command(flatten)]
    failed_rows: FailedRows,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
}

impl Args {
    /// Errs when the workspace would go over what is read. A workspace file may grow from one simulation to the next.
    fn refuse_inputs(&self) -> Result<(), CliError> {
        let Some(save) = self.save.as_deref() else {
            return Ok(());
        };
        let into = match self.into.as_deref() {
            Some(into) if is_input(save, into) && destination::is_package(into)? => Some(into),
            _ => None,
        };
        let inputs = [
            Some(self.package.as_path()),
            into,
            self.resolutions.as_deref(),
            self.definitions.as_deref(),
            self.upgrade.base.as_deref(),
        ];
        refuse_input(Some(save), inputs)
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    args.refuse_inputs()?;
    let definitions = definitions_for(
        args.definitions.as_ref(),
        &args.package,
        args.save.as_deref(),
    )?;
    let definitions: &Definitions = &definitions;
    let options = CheckOptions {
        definitions,
        ..CheckOptions::default()
    };
    let source = package_file::read(&args.package)?;
    let (text, package) = match package_file::checked(&source, &options) {
        Ok(checked) => checked,
        Err(report) => {
            return package_file::refuse_to_apply(&report, args.format, session);
        }
    };
    let request = request(args, &package)?;
    let mut state = destination::read(args.into.as_deref(), definitions)?;
    if args.into.is_none() {
        for reference in simulate::stand_in(&package, &request, &mut state) {
            session.note(format!("a stand-in is mapped to for `{reference}`"));
        }
    }
    let digest = content_digest(text);
    let simulated = if request.upgrade {
        let upgrade = Upgrade {
            package: &package,
            digest: &digest,
            request: &request,
            state: &state,
        };
        match upgrade.simulate(args, &options, session)? {
            ControlFlow::Continue(simulated) => simulated,
            ControlFlow::Break(exit) => return Ok(exit),
        }
    } else {
        simulate::simulate(
            &package,
            &digest,
            &request,
            state,
            definitions,
            &SystemClock,
            &mut RandomIds,
        )
    };
    let simulation = match simulated {
        Ok(simulation) => simulation,
        Err(SimulateError::Refused(refusals)) => {
            session.note(format!(
                "help: `tplkit resolve init {}` writes the decisions down",
                shell_path(&args.package)
            ));
            return resolutions::refuse(&args.package, &refusals, args.format);
        }
        Err(SimulateError::Undecided(plan)) => {
            return undecided(args, &package.manifest, &plan);
        }
        Err(error) => return Err(CliError::Simulate(Box::new(error))),
    };
    if let Some(path) = &args.save {
        save(path, text, &request, &simulation)?;
    }
    let sound = simulation.restored && !simulation.again_changed;
    let lost = args.failed_rows.lost(&simulation.report);
    let (exit, outcome) = match (sound, &lost) {
        (false, _) => (Exit::Findings, "findings"),
        (true, Some(_)) => (Exit::Partial, "partial"),
        (true, None) => (Exit::Done, "clean"),
    };
    let text = match args.format {
        Form::Text => folded(&apply_summary::simulation(
            &args.package,
            &package.manifest,
            &simulation,
        )),
        Form::Json => document::write_exact(
            outcome,
            &json!({
                "path": args.package.to_string_lossy(),
                "into": args.into.as_ref().map(|path| path.to_string_lossy()),
                "plan": null,
                "report": null,
                "again": null,
                "undo": {"restored": simulation.restored},
            }),
            &[
                ("plan", document::exact(&simulation.preview)),
                ("report", document::exact(&simulation.report)),
                ("again", again(&simulation)),
            ],
        ),
    };
    write_result(&text, None)?;
    if let Some(lost) = lost.filter(|_| exit == Exit::Partial) {
        session.note(format!(
            "error: applied in part: {lost}\n  help: the report says which and why; `--accept-failed-rows` accepts it"
        ));
    }
    Ok(exit)
}

/// What the second pass did.
fn again(simulation: &Simulation) -> Value {
    let members = [
        ("changed", simulation.again_changed.into()),
        ("report", document::exact(&simulation.again)),
    ];
    let members = members.map(|(key, value)| (key.to_owned(), value));
    Value::Object(members.into_iter().collect())
}

/// An upgrade that is to be tried.
#[derive(Clone, Copy)]
struct Upgrade<'u, 't> {
    package: &'u Checked<'t>,
    digest: &'u str,
    request: &'u Request,
    /// The workspace before.
    state: &'u State,
}

impl Upgrade<'_, '_> {
    /// Tries it, from the package of `--base` or the jobs of the workspace; or ends the command.
    fn simulate(
        self,
        args: &Args,
        options: &CheckOptions<'_>,
        session: &Session,
    ) -> Result<ControlFlow<Exit, Result<Simulation, SimulateError>>, CliError> {
        let source = match &args.upgrade.base {
            Some(base) => Some(package_file::read(base)?),
            None => None,
        };
        let before = match source
            .as_ref()
            .map(|one| package_file::checked(one, options))
        {
            Some(Ok((_, before))) => Some(before),
            Some(Err(report)) => {
                let refused = package_file::refuse_to_apply(&report, args.format, session);
                return refused.map(ControlFlow::Break);
            }
            None => None,
        };
        if let Some(before) = &before
            && let Err(refusal) = check_base(self.package, before)
        {
            let refused = resolutions::refuse(&args.package, &[refusal], args.format);
            return refused.map(ControlFlow::Break);
        }
        let texts = applied_texts(self.state, self.package);
        let jobs = known_jobs(&texts)?;
        if before.is_none() && jobs.is_empty() {
            return Err(CliError::Usage {
                message: "no base: an upgrade starts from what was applied before".to_owned(),
                help: "name the package that was applied before with `--base FILE`, or a workspace that it was applied to (of `--save`) with `--into FILE`".to_owned(),
            });
        }
        let upgrade = SimulatedUpgrade {
            package: self.package,
            package_digest: self.digest,
            request: self.request,
            base: match &before {
                Some(before) => UpgradeBase::Package(before),
                None => UpgradeBase::Jobs(&jobs),
            },
            definitions: options.definitions,
        };
        let (clock, ids) = (&SystemClock, &mut RandomIds);
        let simulated = simulate::upgrade(upgrade, self.state.clone(), &mut |_| {}, clock, ids);
        Ok(ControlFlow::Continue(simulated))
    }
}

/// Writes the resulting workspace to a file, with the job that made it.
fn save(
    path: &Path,
    text: &str,
    request: &Request,
    simulation: &Simulation,
) -> Result<(), CliError> {
    let mut applied = simulation.applied.clone();
    applied.jobs.push(AppliedJob {
        package: Value::parse(text.trim_start_matches('\u{feff}')).unwrap_or_default(),
        request: Request {
            resolutions: simulation.resolutions.clone(),
            upgrade: request.upgrade,
            include_rows: request.include_rows,
            ..Request::default()
        }
        .to_value(),
        ledger: simulation.written.clone(),
    });
    let saved = applied.save();
    let saved = saved.map_err(|error| CliError::Usage {
        message: format!("the workspace cannot be written: {error}"),
        help: "leave `--save` out".to_owned(),
    })?;
    write_data(&saved, Some(path))
}

/// The completed jobs of a saved workspace that applied another version of a package: their texts.
fn applied_texts<'s>(state: &'s State, package: &Checked<'_>) -> Vec<(String, &'s AppliedJob)> {
    let own = &package.manifest.catalog;
    let is_same = |text: &str| {
        Checked::trusted(text).is_ok_and(|applied| {
            let theirs = &applied.manifest.catalog;
            match (&own.id, &theirs.id) {
                (None, None) => own.name == theirs.name,
                (own, theirs) => own == theirs,
            }
        })
    };
    let jobs = state.jobs.iter().map(|job| (job.package.write(), job));
    jobs.filter(|(text, _)| is_same(text)).collect()
}

fn known_jobs<'t>(texts: &'t [(String, &AppliedJob)]) -> Result<Vec<KnownJob<'t>>, CliError> {
    let unreadable = |why: String| CliError::Usage {
        message: format!("a job of the saved workspace cannot be read: {why}"),
        help: "save the workspace anew with `tplkit simulate … --save`".to_owned(),
    };
    let jobs = texts.iter().map(|(text, job)| {
        let request = Request::from_json(&job.request.write());
        Ok(KnownJob {
            package: Checked::trusted(text).map_err(|error| unreadable(error.to_string()))?,
            request: request.map_err(|_| unreadable("its decisions".to_owned()))?,
            ledger: job.ledger.clone(),
        })
    });
    jobs.collect()
}

/// Says why an upgrade cannot be made as asked, and what is to be decided.
fn undecided(args: &Args, manifest: &Manifest, plan: &Preview) -> Result<Exit, CliError> {
    if args.format == Form::Text && plan.conflicts.is_empty() {
        return resolutions::refuse(&args.package, &plan.refusals, args.format);
    }
    let text = match args.format {
        Form::Text => {
            let path = printable::path(&args.package);
            let mut text = format!("`{path}` cannot be upgraded to as asked\n");
            let titles = ItemTitles::of_manifest(manifest).with_plan(plan);
            upgrade_view::upgrade(&mut text, plan, &titles);
            folded(&text)
        }
        Form::Json => document::write_exact(
            "findings",
            &json!({
                "path": args.package.to_string_lossy(),
                "refusals": plan.refusals,
            }),
            &[("plan", document::exact(plan))],
        ),
    };
    write_result(&text, None)?;
    Ok(Exit::Findings)
}

/// The resolutions file, and the rows modes of the command line over it.
fn request(args: &Args, package: &Checked<'_>) -> Result<Request, CliError> {
    let tables = args.rows_mode.iter().map(|(table, _)| table.as_deref());
    resolutions::refuse_repeated("--rows-mode", tables)?;
    let mut request = resolutions::read(args.resolutions.as_deref())?;
    request.include_rows &= !args.no_rows;
    args.upgrade.complete(&mut request);
    for (table, mode) in &args.rows_mode {
        match table {
            Some(table) => drop(request.rows_modes.insert(table.clone(), *mode)),
            None => {
                for entry in &package.payloads {
                    let modes = &mut request.rows_modes;
                    modes.insert(entry.feature_ref.clone(), *mode);
                }
            }
        }
    }
    Ok(request)
}
