//! `tplkit resolve init --upgrade`: the decisions that an upgrade asks for (`upgrade` 3.7.4).

use serde_json::json;
use tplkit::apply::UpgradeTerms;
use tplkit::finding::render::counted;
use tplkit::printable;
use tplkit::problem::Code;
use tplkit::upgrade::Conflict;

use super::init_args::{Args, can_prompt};
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{write_data, write_result};
use crate::cli::package_file;
use crate::cli::plan_view::examine::{PlannedUpgrade, UpgradePlan};
use crate::cli::remote::workspace::WorkspaceArgs;
use crate::cli::resolutions;
use crate::cli::session::Session;
use crate::cli::shell_word::shell_path;
use crate::cli::source::is_stdin;
use crate::cli::upgrade_view::{decide_conflicts, decision_path, decisions_file};

const HEAD: &str = "# What the upgrade asks: what the package and people have both changed since it was applied.\n\
     # `ours` keeps what the workspace has, `theirs` takes what the package brings, `{ value = … }` neither.\n\
     # A decision holds while the workspace has the value that it was made against.\n";

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let word = WorkspaceArgs {
        workspace: args.place.workspace.clone(),
    };
    let mut server = args.target.clone();
    let target = server.take_target(&args.package)?;
    let word = word.required(&target, &server, session)?;
    let mut request = tplkit::apply::Request::default();
    args.upgrade.complete(&mut request);
    let plan = UpgradePlan {
        package: &args.package,
        workspace: &word,
        request: &request,
        upgrade: &args.upgrade,
        server: &server,
    };
    let PlannedUpgrade {
        workspace,
        planned: examined,
        titles,
    } = match plan.make(session)? {
        Ok(planned) => planned,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let plan = &examined.planned.preview;
    let others = plan.refusals.iter();
    let others = others.filter(|refusal| refusal.code != Code::UpgradeConflicts);
    let others: Vec<_> = others.cloned().collect();
    if !others.is_empty() {
        return resolutions::refuse(&args.package, &others, args.format);
    }
    let mut terms = UpgradeTerms::default();
    if can_prompt(args) {
        decide_conflicts(plan, &titles, &mut terms)?;
    }
    let decided = |conflict: &Conflict| {
        let of = terms.decisions.get(&conflict.reference)?;
        of.get(decision_path(conflict)).cloned()
    };
    let mut text = HEAD.to_owned();
    if let Some(side) = terms.conflicts {
        text = format!("{text}\nconflicts = \"{}\"\n", side.as_str());
    }
    text.push_str(&decisions_file(plan, &titles, &decided));
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    if output.is_some() || args.format == crate::cli::args::Form::Text {
        write_data(&text, output)?;
    }
    if args.format == crate::cli::args::Form::Json {
        let mut body = json!({"path": args.package.to_string_lossy(), "conflicts": plan.conflicts});
        match output {
            Some(path) => body["output"] = json!(path.to_string_lossy()),
            None => body["text"] = json!(text),
        }
        write_result(&document::write("clean", &body), None)?;
    }
    let (listed, all) = (plan.conflicts.len(), plan.conflict_count());
    let count = if listed == all {
        counted(all, "conflict")
    } else {
        format!(
            "{listed} of {}, and the rest is decided by `\"*\"` under a table, or by `--conflicts`",
            counted(all, "conflict")
        )
    };
    if let Some(path) = output {
        session.note(format!(
            "`{}` is written, {count}; `tplkit plan {} --upgrade --workspace {} --resolutions {}` says whether it decides everything",
            printable::path(path),
            shell_path(&args.package),
            workspace.argument,
            shell_path(path)
        ));
    }
    Ok(Exit::Done)
}
