//! The examples in the help texts of a program, and a folder to run them in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What the help of one command shows.
pub struct Help {
    /// The command as it is typed, such as `tplkit job list`.
    pub command: String,
    /// Its examples, in their order.
    pub examples: Vec<Example>,
}

/// One line to type.
pub struct Example {
    /// As it is typed; it may go on over several lines.
    pub line: String,
    /// The exit code: 0, or the one that the comment above the line names.
    pub code: i32,
}

/// The help of a program and of all its commands, in their order.
///
/// # Panics
/// Where the program does not start, or shows a help that is not understood.
pub fn read(program: &Path) -> Vec<Help> {
    let name = program.file_stem().and_then(|name| name.to_str());
    let mut found = Vec::new();
    add(program, name.expect("a name"), &mut found);
    found
}

fn add(program: &Path, command: &str, found: &mut Vec<Help>) {
    let words = command.split(' ').skip(1);
    let output = Command::new(program)
        .args(words)
        .arg("--help")
        .output()
        .expect("starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    found.push(Help {
        command: command.to_owned(),
        examples: examples(&text),
    });
    for name in names(&text) {
        add(program, &format!("{command} {name}"), found);
    }
}

/// The names below `Commands:`, or below the purposes by which a tool shows its commands: what stands
/// above the options that every command has. Descriptions go on in lines that are indented further.
fn names(help: &str) -> Vec<&str> {
    let is_flag = |line: &&str| line.trim_start().starts_with('-');
    let is_heading = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
    let mut names = Vec::new();
    let mut lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Usage:"))
        .skip(1)
        .peekable();
    while let Some(line) = lines.next() {
        let takes = line == "Commands:"
            || (is_heading(&line) && line.contains(' ') && !lines.peek().is_some_and(is_flag));
        if !takes {
            continue;
        }
        while let Some(entry) = lines.next_if(|line| !line.is_empty()) {
            let name = entry
                .strip_prefix("  ")
                .filter(|entry| !entry.starts_with(' '));
            names.extend(name.and_then(|entry| entry.split(' ').next()));
        }
    }
    names.retain(|name| *name != "help");
    names
}

/// The lines below `Examples:`, each under its comment.
fn examples(help: &str) -> Vec<Example> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let mut code = 0;
    let mut examples: Vec<Example> = Vec::new();
    for line in lines.map_while(|line| line.strip_prefix("  ").or(line.is_empty().then_some(""))) {
        if let Some(comment) = line.strip_prefix("# ") {
            code = comment
                .split_once("(exit code ")
                .and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next())
                .map_or(0, |digits| digits.parse().expect("an exit code"));
        } else if let Some(open) = examples.last_mut().filter(|last| last.line.ends_with('\\')) {
            open.line = format!("{}\n{line}", open.line);
        } else if !line.is_empty() {
            examples.push(Example {
                line: line.to_owned(),
                code,
            });
        }
    }
    examples
}

/// Fails for every command that shows fewer than two examples.
///
/// # Panics
/// That is how it fails.
pub fn each_command_has_two(help: &[Help]) {
    assert!(help.len() > 5, "the help lists its commands");
    let few = help.iter().filter(|help| help.examples.len() < 2);
    let few: Vec<&str> = few.map(|help| help.command.as_str()).collect();
    assert!(few.is_empty(), "fewer than two examples in --help: {few:?}");
}

/// A folder with the example packages, and a shell that finds the program.
pub struct ExampleFolder {
    folder: TempDir,
    path: String,
}

impl ExampleFolder {
    /// For a program of this repository, which is at `root`.
    ///
    /// # Panics
    /// Where the packages are not there, or cannot be copied.
    pub fn new(program: &Path, root: &Path) -> ExampleFolder {
        let folder = TempDir::new().expect("a folder");
        copy(&root.join("examples"), folder.path());
        let programs = program.parent().expect("a folder").display();
        let examples = ExampleFolder {
            path: format!("{programs}:/usr/local/bin:/usr/bin:/bin"),
            folder,
        };
        let crm = fs::read_to_string(examples.path("crm.json")).expect("reads");
        examples.write("crm-new.json", &crm);
        examples
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("writes");
    }

    /// A shell that runs a line in the folder, with these variables and no others.
    pub fn shell(&self, line: &str, variables: &[(&str, &str)]) -> Command {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        shell
    }

    /// Runs an example to its end, and describes it when its exit code is another one.
    ///
    /// # Panics
    /// Where there is no shell.
    pub fn fault(&self, example: &Example, variables: &[(&str, &str)]) -> Option<String> {
        let Example { line, code } = example;
        let output = self.shell(line, variables).output().expect("a shell");
        let [out, err] = [output.stdout, output.stderr].map(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            text.chars().take(2000).collect::<String>()
        });
        let ended = output.status.code();
        (ended != Some(*code)).then(|| {
            format!("$ {line}\n{out}\n-- stderr --\n{err}\n-- exit code {ended:?}, not {code} --")
        })
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("reads").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            fs::create_dir(to.join(&name)).expect("a folder");
            copy(&path, &to.join(&name));
        } else if path
            .extension()
            .is_some_and(|end| end == "json" || end == "toml")
        {
            fs::copy(&path, to.join(&name)).expect("copies");
        }
    }
}
