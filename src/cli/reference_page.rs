//! `docs/CLI.md`: the help of all commands on one page, made from their declarations.
//!
//! Options that many commands take in the same words stand once, at the beginning.

use std::fmt::Write as _;

use clap::{Arg, Command};
use indexmap::IndexMap;

/// A heading of options that many commands share.
struct SharedHeading {
    heading: &'static str,
    /// The commands, as the page names them.
    commands: &'static str,
}

/// The headings of shared options.
const SHARED: [SharedHeading; 2] = [
    SharedHeading {
        heading: "Everywhere",
        commands: "every command",
    },
    SharedHeading {
        heading: "Server",
        commands: "every command that uses a server",
    },
];

/// An option that so many commands take in the same words is a shared one, too.
const MIN_SHARING_COMMANDS: usize = 3;

/// How far a help indents what belongs to an option.
const BELOW: &str = "          ";

/// The help of one command, as the reference shows it.
struct Section {
    /// The command, without the name of the tool.
    command: String,
    help: String,
}

/// An option as a help shows it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OptionEntry<'h> {
    /// The line above it, with its colon.
    heading: &'h str,
    text: String,
}

/// Options that the same commands share.
struct SharedOptions {
    /// The line above them, with its colon.
    heading: String,
    commands: Vec<String>,
    /// Each as a help shows it.
    options: Vec<String>,
}

/// The reference of all commands: their own help, without the options that they share.
pub(crate) fn markdown(root: &Command) -> String {
    let mut out = String::from(
        "# Command line reference\n\n\
         Generated from the program's own declarations by a test; `UPDATE=1 cargo test --test cli` regenerates it.\n\n\
         Tests run every example, in a copy of the folder `examples` and, where it needs a server, next to a demonstration. \
         `$WORKSPACE`, `$JOB` and `$TEMPLATE` stand for ids, which `tplkit api GET /v1/workspaces`, `tplkit job list` and \
         `tplkit template list` show.\n\n\
         ## Shared options\n\n\
         The sections of the commands do not repeat them.\n",
    );
    // Writing to a String cannot fail.
    for SharedHeading { heading, commands } in SHARED {
        let options = help(of_heading(root, heading));
        let _ = write!(out, "\nOf {commands}:\n\n```text\n{options}\n```\n");
    }
    let mut sections = Vec::new();
    read_sections(&mut sections, root, "tplkit");
    let shared = shared_options(&sections);
    for group in &shared {
        let commands = group.commands.join("`, `");
        let (heading, options) = (&group.heading, group.options.join("\n\n"));
        let _ = write!(
            out,
            "\nOf `{commands}`:\n\n```text\n{heading}\n{options}\n```\n"
        );
    }
    for Section { command, mut help } in sections {
        let taken = shared
            .iter()
            .filter(|group| group.commands.contains(&command));
        for option in taken.flat_map(|group| &group.options) {
            help = without(&help, option).unwrap_or(help);
        }
        let name = format!("tplkit {command}");
        let name = name.trim_end();
        let _ = write!(out, "\n## {name}\n\n```text\n{help}\n```\n");
    }
    out
}

/// A command that has nothing but the options with that heading, as the first command declares them that has any.
fn of_heading(root: &Command, heading: &str) -> Command {
    Command::new("tplkit")
        .disable_help_flag(true)
        .args(arguments_of_heading(root, heading))
        .help_template("{all-args}")
}

fn arguments_of_heading(command: &Command, heading: &str) -> Vec<Arg> {
    let own = command.get_arguments();
    let own = own.filter(|argument| argument.get_help_heading() == Some(heading));
    let own: Vec<Arg> = own.cloned().collect();
    if !own.is_empty() {
        return own;
    }
    let mut inner = command.get_subcommands();
    let found = inner.find_map(|inner| {
        Some(arguments_of_heading(inner, heading)).filter(|arguments| !arguments.is_empty())
    });
    found.unwrap_or_default()
}

/// The help of a command and of those inside it, without the options under the headings of [`SHARED`].
fn read_sections(sections: &mut Vec<Section>, command: &Command, name: &str) {
    let shared = |argument: &Arg| {
        let heading = argument.get_help_heading();
        let is_shared = SHARED.iter().any(|one| heading == Some(one.heading));
        is_shared || argument.get_id() == "help"
    };
    let own = command.clone().bin_name(name);
    let own = own.mut_args(|argument| {
        let hidden = argument.is_hide_set() || shared(&argument);
        argument.hide(hidden)
    });
    sections.push(Section {
        command: inside_tool(name).to_owned(),
        help: help(own),
    });
    for inner in command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
    {
        let name = format!("{name} {}", inner.get_name());
        read_sections(sections, inner, &name);
    }
}

/// The words of a command after the name of the tool.
fn inside_tool(name: &str) -> &str {
    name.strip_prefix("tplkit ").unwrap_or_default()
}

/// The options that many commands take in the same words, in the order in which the commands show them.
fn shared_options(sections: &[Section]) -> Vec<SharedOptions> {
    let mut takers: IndexMap<OptionEntry<'_>, Vec<&str>> = IndexMap::new();
    for section in sections {
        for option in option_entries(&section.help) {
            takers.entry(option).or_default().push(&section.command);
        }
    }
    takers.retain(|_, commands| commands.len() >= MIN_SHARING_COMMANDS);
    let mut groups: Vec<SharedOptions> = Vec::new();
    for (OptionEntry { heading, text }, commands) in takers {
        let mut known = groups.iter_mut();
        match known.find(|group| group.heading == heading && group.commands == commands) {
            Some(group) => group.options.push(text),
            None => groups.push(SharedOptions {
                heading: heading.to_owned(),
                commands: commands.into_iter().map(str::to_owned).collect(),
                options: vec![text],
            }),
        }
    }
    groups
}

/// The options that a help shows.
fn option_entries(help: &str) -> Vec<OptionEntry<'_>> {
    let mut heading = "";
    let mut entries: Vec<OptionEntry<'_>> = Vec::new();
    for paragraph in help.split("\n\n") {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let is_heading = first.ends_with(':') && !first.starts_with(' ');
        let text = if is_heading {
            heading = first;
            rest
        } else {
            paragraph
        };
        match entries.last_mut() {
            // Its possible values, its default, or more of its description.
            Some(last) if text.starts_with(BELOW) => {
                last.text.push_str("\n\n");
                last.text.push_str(text);
            }
            _ if text.starts_with("  ") => entries.push(OptionEntry {
                heading,
                text: text.to_owned(),
            }),
            _ => {}
        }
    }
    entries.retain(|entry| entry.text.trim_start().starts_with('-'));
    entries
}

/// A help without that option, and without its heading where no other option is under it. Nothing if the help does
/// not show the option.
fn without(help: &str, entry: &str) -> Option<String> {
    let (before, after) = help.split_once(entry)?;
    if !(after.is_empty() || after.starts_with("\n\n")) {
        // Only the beginning of a longer text.
        return None;
    }
    let next = after.strip_prefix("\n\n");
    if let Some(next) = next.filter(|next| next.starts_with(' ')) {
        return Some(format!("{before}{next}"));
    }
    let before = before.trim_end();
    let (rest, last) = before.rsplit_once('\n')?;
    let is_heading = last.ends_with(':') && !last.starts_with(' ');
    let before = if is_heading { rest.trim_end() } else { before };
    Some(format!("{before}{after}"))
}

fn help(command: Command) -> String {
    let help = command.term_width(100).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}
