//! `tplkit resolve check`: whether a resolutions file decides everything.

use std::path::PathBuf;

use serde_json::json;
use tplkit::apply::{self, Minter, UpgradeTerms};
use tplkit::check::CheckOptions;
use tplkit::definitions::Definitions;
use tplkit::finding::render::counted;
use tplkit::simulate::stand_in;

use super::destination::{DestinationArgs, DestinationReader};
use crate::cli::args::Form;
use crate::cli::destination;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::package_file;
use crate::cli::resolutions;
use crate::cli::session::{RandomIds, Session, SystemClock};

/// Check that a resolutions file decides everything that an apply needs.
///
/// Without a destination, the targets of mappings are assumed to exist; with a destination they are
/// looked up.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Check the proposals of a package", "tplkit resolve check crm.json"),
    ("Check a resolutions file against a workspace (exit code 1: decisions are missing)", "tplkit resolve check event-planning.json events.toml --workspace $WORKSPACE"),
]))]
pub(crate) struct Args {
    /// The package (a file, an unpacked folder, `-` for standard input), or a template by id or name.
    #[arg(value_name = "PKG|TEMPLATE")]
    package: PathBuf,
    /// The decisions: TOML as `resolve init` writes it, or JSON [default: the proposals of the
    /// package].
    #[arg(value_name = "FILE")]
    resolutions: Option<PathBuf>,
    #[command(flatten)]
    place: DestinationArgs,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: crate::cli::remote::ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let place = DestinationReader::new(&args.place, &args.target, session);
    let source = place.package(&args.package)?;
    let definitions = Definitions::embedded();
    let options = CheckOptions::default();
    let (_, package) = match package_file::checked(&source, &options) {
        Ok(checked) => checked,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let mut request = resolutions::read(args.resolutions.as_deref())?;
    let of_upgrade = std::mem::take(&mut request.upgrade);
    if std::mem::take(&mut request.terms) != UpgradeTerms::default() || of_upgrade {
        session.note("note: what it decides about an upgrade is not looked at here; `tplkit plan --upgrade` does that");
    }
    let structure = if let Some(structure) = place.structure()? {
        structure
    } else {
        let mut state = destination::read(None, definitions)?;
        stand_in(&package, &request, &mut state);
        state.structure
    };
    let minter = Minter::new(&SystemClock, &mut RandomIds);
    let approved = apply::resolve(
        apply::ResolveInput {
            package: &package,
            request: &request,
            destination: &structure,
            past: apply::JobHistory::default(),
            definitions,
        },
        minter,
    );
    if let Err(refusals) = approved {
        return resolutions::refuse(&args.package, &refusals, args.format);
    }
    let count = package.manifest.dependencies().len();
    let text = match args.format {
        Form::Text => format!("Everything is decided: {}.\n", counted(count, "dependency")),
        Form::Json => {
            let path = args.package.to_string_lossy();
            document::write("clean", &json!({"path": path, "refusals": []}))
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
