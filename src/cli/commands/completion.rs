//! The values that shells offer while a command line is typed: rules, profiles, targets, refs, schemas.
//!
//! In: the words typed so far. Out: candidates. A shell asks by starting the program with `TPLKIT_COMPLETE` in
//! its environment, so that what is offered is what is there at that moment; what cannot be read offers nothing,
//! and nothing is reported, because it would not be seen.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use tplkit::contents::known_refs;
use tplkit::finding::catalog::RULES;
use tplkit::finding::selection::WORDS;
use tplkit::package::schema;

use super::bash_words::WholeWordsBash;
use crate::cli::config::Configs;
use crate::cli::error::CliError;
use crate::cli::package_file;
use crate::cli::remote::Environment;
use crate::cli::remote::profiles::Profiles;
use crate::cli::shell_word::unquoted;

/// The environment variable by which a shell asks. A name of our own: with that of others a command would
/// complete instead of doing its work.
pub(crate) const VARIABLE: &str = "TPLKIT_COMPLETE";

/// Completes a command line for a shell that asks, and says whether one did.
///
/// # Errors
/// The variable names no shell.
pub(crate) fn handled(words: &[OsString]) -> Result<bool, CliError> {
    let folder = std::env::current_dir().ok();
    let completion = clap_complete::CompleteEnv::with_factory(super::command_line::command);
    let shells: [&dyn EnvCompleter; 5] = [&WholeWordsBash, &Elvish, &Fish, &Powershell, &Zsh];
    let completion = completion.var(VARIABLE).shells(Shells(&shells));
    Ok(completion.try_complete(words.iter().cloned(), folder.as_deref())?)
}

/// Gives every argument of the tool the values that it offers.
pub(super) fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|argument| offer(&name, argument))
        .mut_subcommands(with_values)
}

fn offer(command: &str, argument: Arg) -> Arg {
    let values: fn(&OsStr) -> Vec<CompletionCandidate> = match (command, argument.get_id().as_str())
    {
        (_, "select" | "ignore" | "warn" | "deny") => selectors,
        ("explain", "code") => rules,
        (_, "profile") => profiles,
        (_, "workspace") => workspaces,
        (_, "target") => targets,
        ("why", "reference") | ("graph", "focus") => refs,
        ("schema", "name") => schemas,
        _ => return argument,
    };
    argument.add(ArgValueCompleter::new(values))
}

fn begin_with<'c>(
    typed: &OsStr,
    candidates: impl IntoIterator<Item = (&'c str, Option<&'c str>)>,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().to_lowercase();
    let fitting = candidates
        .into_iter()
        .filter(|(value, _)| value.to_lowercase().starts_with(&typed));
    fitting
        .map(|(value, help)| {
            CompletionCandidate::new(value).help(help.map(|help| help.to_owned().into()))
        })
        .collect()
}

fn rules(typed: &OsStr) -> Vec<CompletionCandidate> {
    let named = RULES.iter().flat_map(|rule| {
        [
            (rule.code, Some(rule.summary)),
            (rule.name, Some(rule.summary)),
        ]
    });
    begin_with(typed, named)
}

fn selectors(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut candidates = begin_with(typed, WORDS.map(|(word, _)| (word, None)));
    candidates.extend(rules(typed));
    candidates
}

fn profiles(typed: &OsStr) -> Vec<CompletionCandidate> {
    let profiles = Profiles::read().ok();
    let names = profiles.iter().flat_map(Profiles::names);
    begin_with(typed, names.map(|name| (name, None)))
}

/// The workspaces that are known without a server: the default ones, and those of targets.
fn workspaces(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut names = std::collections::BTreeSet::new();
    let environment = Environment::read().ok();
    names.extend(environment.and_then(|environment| environment.workspace));
    if let Ok(profiles) = Profiles::read() {
        let entries = profiles.names().filter_map(|name| profiles.get(name).ok()?);
        let kept = entries.filter_map(|entry| entry.workspace);
        names.extend(kept.map(|kept| kept.name.unwrap_or(kept.id)));
    }
    if let Some(config) = Configs::default().of(&named_before()).ok().flatten() {
        let targets = config.targets.values();
        names.extend(targets.filter_map(|target| target.workspace.clone()));
    }
    begin_with(typed, names.iter().map(|name| (name.as_str(), None)))
}

/// The package that is named before, whose `tplkit.toml` counts; else the working folder.
fn named_before() -> PathBuf {
    words()
        .find_map(existing)
        .unwrap_or_else(|| PathBuf::from("."))
}

fn targets(typed: &OsStr) -> Vec<CompletionCandidate> {
    let config = Configs::default().of(&named_before()).ok().flatten();
    let names = config.iter().flat_map(|config| config.targets.keys());
    begin_with(typed, names.map(|name| (name.as_str(), None)))
}

/// The refs of the package that is named before.
fn refs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let (dollar, typed) = match typed.strip_prefix('$') {
        Some(rest) => ("$", rest),
        None => ("", &*typed),
    };
    let known = words().find_map(|word| {
        let source = package_file::read(&existing(word)?).ok()?;
        let doc = package_file::parse(&source).ok()?;
        Some(known_refs(doc.root())).filter(|known| !known.is_empty())
    });
    let fitting = known
        .into_iter()
        .flatten()
        .filter(|known| known.starts_with(typed));
    fitting
        .map(|known| CompletionCandidate::new(format!("{dollar}{known}")))
        .collect()
}

fn schemas(typed: &OsStr) -> Vec<CompletionCandidate> {
    begin_with(typed, schema::NAMES.iter().map(|name| (*name, None)))
}

/// The words of the command line that is typed: what stands behind `--` in that of this process.
fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(3)
}

/// What a word names that is there. Shells hand it over as it is typed: with quotes, and `~` for the home.
fn existing(word: OsString) -> Option<PathBuf> {
    let typed = word.to_str().map(str::to_owned);
    let path = PathBuf::from(word);
    if path.exists() {
        return Some(path);
    }
    let typed = typed?;
    let path = match typed.strip_prefix("~/") {
        Some(rest) => std::env::home_dir()?.join(unquoted(rest)),
        None => PathBuf::from(unquoted(&typed)),
    };
    path.exists().then_some(path)
}
