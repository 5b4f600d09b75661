//! The commands of the tool by purpose, for `tplkit --help`.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::StyledStr;
use tplkit::finding::render::fit_hanging;

use super::args::STYLES;
use super::examples::examples;

/// Each command once, under what people want to do.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Write and check packages",
        &[
            "new", "check", "promote", "fmt", "migrate", "explain", "rules",
        ],
    ),
    (
        "Look at packages",
        &["show", "why", "graph", "report", "diff"],
    ),
    ("Keep packages in version control", &["unpack", "pack"]),
    (
        "Try packages without a server",
        &["simulate", "test", "resolve", "automation"],
    ),
    (
        "Work with a server",
        &[
            "login",
            "logout",
            "whoami",
            "profile",
            "workspace",
            "template",
            "plan",
            "apply",
            "job",
            "status",
            "drift",
            "export",
            "rows",
            "files",
            "api",
            "doctor",
        ],
    ),
    (
        "For shells, editors and programs",
        &["lsp", "completions", "man", "schema", "help"],
    ),
];

/// The tool, whose help shows its commands by purpose, in lines of at most so many columns.
pub(super) fn grouped(mut tool: Command, width: usize) -> Command {
    tool.build();
    tool = with_examples_of_help(tool);
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let widest = names.map(|name| name.len()).max().unwrap_or_default();
    let mut groups = String::new();
    for (purpose, names) in GROUPS {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(groups, "{header}{purpose}:{header:#}");
        for command in names.iter().filter_map(|name| tool.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string);
            let line = format!(
                "  {literal}{:widest$}{literal:#}  {}\n",
                command.get_name(),
                about.unwrap_or_default()
            );
            groups.push_str(&fit_hanging(&line, width, widest + 4));
        }
        groups.push('\n');
    }
    let usage = STYLES.get_usage();
    let template = format!(
        "{{about-with-newline}}\n{usage}Usage:{usage:#} {{usage}}\n\n{groups}{header}Everywhere:{header:#}\n{{options}}\n{{after-help}}"
    );
    tool.help_template(StyledStr::from(template))
}

/// `help` is clap's own; here it gets what all other commands have. So does that of each group of commands.
fn with_examples_of_help(mut tool: Command) -> Command {
    let names = tool.get_subcommands().map(|one| one.get_name().to_owned());
    // All of them, in order: clap puts one that is changed at the end.
    for name in names.collect::<Vec<_>>() {
        tool = tool.mut_subcommand(&name, |one| {
            let is_group = name != "help" && one.find_subcommand("help").is_some();
            if is_group { about_help(one) } else { one }
        });
    }
    about_help(tool)
}

/// Every form of its help is the short one: clap has decided that when it built the command.
fn about_help(group: Command) -> Command {
    let path = group.get_bin_name().unwrap_or_else(|| group.get_name());
    let first = group
        .get_subcommands()
        .next()
        .map_or("help", Command::get_name);
    let line = format!("{path} help {first}");
    group.mut_subcommand("help", |help| {
        help.after_help(examples(&[("Show what a command is for", &line)]))
    })
}

#[cfg(test)]
mod tests {
    use super::GROUPS;
    use crate::cli::commands::command_line;

    #[test]
    fn each_command_is_in_one_group() {
        let mut named: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        named.sort_unstable();
        let tool = command_line::command();
        let commands = tool.get_subcommands().filter(|one| !one.is_hide_set());
        let mut commands: Vec<&str> = commands.map(clap::Command::get_name).collect();
        commands.sort_unstable();
        assert_eq!(named, commands);
    }
}
