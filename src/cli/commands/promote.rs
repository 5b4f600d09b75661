//! `tplkit promote`: the five rules for `system` visibility.

use std::path::PathBuf;

use super::check::{ReportArgs, conclude};
use crate::cli::check_mode::CheckMode;
use crate::cli::checker::Checker;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::settings::{Flags, SettingsFinder};

/// Measure the five rules for promotion to `system` visibility.
///
/// Each rule is reported as passed or failed, with every place. Other rules do not count: run
/// `tplkit check --promotion system` for all of them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Measure a package", "tplkit promote crm.json"),
    ("Measure two packages, and write a JUnit report for CI", "tplkit promote crm.json inventory.json --format junit -o promotion.xml"),
]))]
pub(crate) struct Args {
    /// Files and folders; `-` is standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    report: ReportArgs,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    args.report.refuse_named(&args.paths)?;
    let checker = Checker {
        mode: CheckMode::Promote,
        fix_mode: None,
        skip_plain: false,
        threads: args.report.threads(),
    };
    let mut settings = SettingsFinder::new(Flags {
        definitions: args.report.definitions.clone(),
        ..Flags::default()
    });
    let report = checker.run(&args.paths, &mut settings, session)?;
    args.report.refuse_found(&report)?;
    conclude(report, &args.report, session)
}
