//! `tplkit check`: checks packages, applies fixes, writes reports.

mod baselines;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use tplkit::context::Clock as _;
use tplkit::finding::FileKind;
use tplkit::finding::render::{self, FileEntry, Outcome, Report, counted};
use tplkit::finding::selection::{Selection, Selector};
use tplkit::printable;

use crate::cli::check_mode::{CheckMode, FixMode};
use crate::cli::checker::Checker;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{print_error, write_styled};
use crate::cli::overwrite::{is_input, refuse_input};
use crate::cli::package_file;
use crate::cli::session::{Session, SystemClock};
use crate::cli::settings::{Flags, SettingsFinder};
use crate::cli::source::is_stdin;
use crate::cli::{walk, watch};

use baselines::BaselineMode;

/// Check packages: parse, validate, lint.
///
/// In a folder, every file whose name ends in `.json` is checked, except hidden folders and files
/// that `.gitignore` and similar files exclude. Files in a folder that are not packages are counted
/// and skipped; a file named on its own has to be a package. An unpacked folder (`tplkit unpack`)
/// is one package, and findings name its small files.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Check two packages", "tplkit check crm.json inventory.json"),
    ("Check all packages below a folder (exit code 1: one has errors)", "tplkit check ."),
    ("Fix what can be fixed safely", "tplkit check crm.json --fix"),
    ("Fail in CI on warnings too, and write a SARIF report", "tplkit check crm.json --deny warnings --format sarif -o crm.sarif"),
]))]
pub(crate) struct Args {
    /// Files and folders; `-` is standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Also measure the rules for promotion to this visibility.
    #[arg(long, value_name = "VISIBILITY")]
    promotion: Option<Visibility>,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    fixes: FixArgs,
    #[command(flatten)]
    known: BaselineArgs,
    #[command(flatten)]
    report: ReportArgs,
    /// Count the findings of each rule instead of listing them.
    #[arg(long)]
    statistics: bool,
    /// Skip named files that are not packages; report a file that is not JSON only if it contains a
    /// `templateVersion`.
    #[arg(long)]
    skip_plain: bool,
    /// Check again whenever a file changes, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["format", "output", "fix", "diff", "write_baseline"])]
    watch: bool,
}

/// What a package can be promoted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Visibility {
    /// Offered by the platform to everybody.
    System,
}

/// Which rules speak, and how loud.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rules")]
struct RuleArgs {
    /// Check these rules only: codes, prefixes of codes, names, `all` or `warnings`.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    select: Vec<Selector>,
    /// Leave out these rules.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    ignore: Vec<Selector>,
    /// Report these rules as warnings.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    warn: Vec<Selector>,
    /// Report these rules as errors; `--deny warnings` means every warning.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    deny: Vec<Selector>,
}

/// What to do with fixes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fixes")]
struct FixArgs {
    /// Fix what can be fixed safely.
    #[arg(long)]
    fix: bool,
    /// Also apply fixes that may change what the package means; with `--fix` or `--diff`.
    #[arg(long)]
    unsafe_fixes: bool,
    /// Show what `--fix` would change and write nothing.
    #[arg(long)]
    diff: bool,
}

/// Findings that are accepted.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Baseline")]
struct BaselineArgs {
    /// Leave out the findings that are listed in this file [default: that of the nearest `tplkit.toml`].
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the findings of this run to the baseline file.
    #[arg(long)]
    write_baseline: bool,
    /// Remove entries of these files from the baseline file that match no finding any more.
    #[arg(long, conflicts_with = "write_baseline")]
    prune_baseline: bool,
}

/// How a report is made and written.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct ReportArgs {
    /// Format of the report.
    #[arg(long, default_value = "text")]
    pub(crate) format: Format,
    /// Write the report to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Check against the registry in this file, from another server, instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    pub(crate) definitions: Option<PathBuf>,
    /// Fail when no package is found.
    #[arg(long)]
    pub(crate) require_package: bool,
    /// Number of threads [default: as many as the machine has].
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl ReportArgs {
    /// Errs when the report would go over what was named to be read.
    pub(crate) fn refuse_named(&self, paths: &[PathBuf]) -> Result<(), CliError> {
        let named = paths.iter().map(PathBuf::as_path);
        let named = named.chain(self.definitions.as_deref());
        refuse_input(self.output.as_deref(), named.map(Some))
    }

    /// Errs when the report would go over a package that was found in a folder. A file that is none may be the report
    /// of an earlier run.
    pub(crate) fn refuse_found(&self, report: &Report) -> Result<(), CliError> {
        let packages = report.files.iter();
        let packages = packages.filter(|file| file.report.kind == FileKind::Package);
        let paths = packages.map(|file| Some(file.path.as_path()));
        refuse_input(self.output.as_deref(), paths)
    }

    /// Number of threads, when one was given.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.threads.map(NonZeroUsize::get)
    }
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text to read.
    Text,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub workflows.
    Github,
    /// Code quality report of GitLab.
    Gitlab,
    /// JUnit XML.
    Junit,
    /// Markdown for a pull request.
    Md,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let fixes = &args.fixes;
    let checker = Checker {
        mode: CheckMode::Check {
            promotion: args.promotion.is_some(),
        },
        fix_mode: (fixes.fix || fixes.diff).then_some(FixMode {
            unsafe_too: fixes.unsafe_fixes,
            show_only: fixes.diff,
        }),
        skip_plain: args.skip_plain,
        threads: args.report.threads(),
    };
    // What is skipped where it is no package may be the report of an earlier run.
    let named: &[PathBuf] = if args.skip_plain { &[] } else { &args.paths };
    args.report.refuse_named(named)?;
    if args.watch {
        if args.paths.iter().any(|path| is_stdin(path)) {
            return Err(CliError::Usage {
                message: "standard input cannot be watched".to_owned(),
                help: "name files or folders, or leave `--watch` out".to_owned(),
            });
        }
        return watch::run(&args.paths, session, |reads| {
            args.check(&checker, reads, session)
        });
    }
    args.check(&checker, &mut |_| {}, session)
}

impl Args {
    /// Checks once. `reads` hears of the files that are read next to the packages, before anything is reported.
    fn check(
        &self,
        checker: &Checker,
        reads: &mut dyn FnMut(&Path),
        session: &Session,
    ) -> Result<Exit, CliError> {
        // Read anew each time: a `tplkit.toml` changes, too.
        let mut settings = SettingsFinder::new(self.flags());
        let output = self.report.output.as_deref();
        if self.fixes.fix && !self.fixes.diff {
            self.refuse_before_fixing(&mut settings)?;
        }
        let report = checker.run(&self.paths, &mut settings, session);
        settings.files().for_each(reads);
        let mut report = report?;
        refuse_input(output, settings.inputs().map(Some))?;
        self.report.refuse_found(&report)?;
        let mode = self.known.mode();
        baselines::hold_against(&mut report, &mut settings, mode, output, session)?;
        report.statistics = self.statistics;
        conclude(report, &self.report, session)
    }

    /// Fixes are written before there is a report: that it would go over something that is read is known earlier.
    fn refuse_before_fixing(&self, settings: &mut SettingsFinder) -> Result<(), CliError> {
        let Some(output) = self.report.output.as_deref() else {
            return Ok(());
        };
        let is_package = || {
            let read = package_file::read(output);
            read.is_ok_and(|file| package_file::parse(&file).is_ok())
        };
        let files = walk::packages(&self.paths).found;
        let mut same = files.iter().filter(|file| is_input(output, &file.path));
        if same.next().is_some() && is_package() {
            return refuse_input(Some(output), [Some(output)]);
        }
        for path in &self.paths {
            settings.of(path)?;
        }
        refuse_input(Some(output), settings.inputs().map(Some))
    }

    fn flags(&self) -> Flags {
        Flags {
            selection: Selection {
                select: self.rules.select.clone(),
                ignore: self.rules.ignore.clone(),
                warn: self.rules.warn.clone(),
                deny: self.rules.deny.clone(),
                beneath: None,
            },
            definitions: self.report.definitions.clone(),
            baseline: self.known.baseline.clone(),
        }
    }
}

impl BaselineArgs {
    fn mode(&self) -> BaselineMode {
        match (self.write_baseline, self.prune_baseline) {
            (true, _) => BaselineMode::Write,
            (false, true) => BaselineMode::Prune,
            (false, false) => BaselineMode::Read,
        }
    }
}

/// Writes the report and gives the exit code that it comes to.
pub(crate) fn conclude(
    mut report: Report,
    args: &ReportArgs,
    session: &Session,
) -> Result<Exit, CliError> {
    report.require_package = args.require_package;
    report.errors.iter().for_each(print_error);
    let found = report.files.iter().flat_map(FileEntry::reported).next();
    let packages = report.summary().packages;
    if packages == 0 && found.is_none() && report.errors.is_empty() && !args.require_package {
        session.note(format!(
            "note: no package among {}",
            counted(report.files.len(), "file")
        ));
    } else if packages == 0 && args.require_package {
        session.note("error: no package was found, and `--require-package` asks for one");
    }
    if !session.silent() || args.format != Format::Text {
        write_styled(&written(&report, args, session), args.output.as_deref())?;
    }
    if args.format == Format::Text
        && let Some(first) = found
    {
        let hint = format!("`tplkit explain {}` shows more", first.rule.code);
        session.note_with_link(&hint, first.rule.code, &first.rule.address());
    }
    Ok(match report.outcome() {
        Outcome::Clean => Exit::Done,
        Outcome::Findings => Exit::Findings,
        Outcome::Failed => Exit::Usage,
    })
}

fn written(report: &Report, args: &ReportArgs, session: &Session) -> String {
    match args.format {
        Format::Text => for_people(report, args.output.as_deref(), session),
        Format::Json => render::json(report),
        Format::Sarif => render::sarif(report),
        Format::Github => render::github(report),
        Format::Gitlab => render::gitlab(report),
        Format::Junit => render::junit(
            report,
            &SystemClock.now().strftime("%Y-%m-%dT%H:%M:%S").to_string(),
        ),
        Format::Md => render::md(report),
    }
}

/// Text; when a diff or a fixed standard input is the result, the findings stand aside.
fn for_people(report: &Report, target: Option<&Path>, session: &Session) -> String {
    let style = session.style(target);
    let diffs: String = report
        .files
        .iter()
        .filter_map(|file| file.diff.as_deref())
        .collect();
    let texts: String = report
        .files
        .iter()
        .filter_map(|file| file.text.as_deref())
        .collect();
    if !diffs.is_empty() || !texts.is_empty() {
        let fixed: usize = report.files.iter().map(|file| file.fixed).sum();
        let verb = if texts.is_empty() {
            "would be fixed"
        } else {
            "fixed"
        };
        session.note(format!("{} {verb}", counted(fixed, "finding")));
        if !texts.is_empty() {
            session.styled_note(render::text(report, session.note_style()).trim_end());
        }
        // What was fixed is data; a difference is read, and a patch where nobody reads it.
        let diffs = printable::lines(&diffs);
        return match style.width {
            Some(width) => render::cut(&diffs, width) + &texts,
            None => diffs + &texts,
        };
    }
    if report.statistics {
        render::statistics(report, style)
    } else {
        render::text(report, style)
    }
}
