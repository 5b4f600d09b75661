//! A shell that runs sessions: the programs that a document installs, a home of its own, and an end.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::document::Session;
use crate::process::variable;

/// No command takes longer; a session has this much for each of its commands.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a command did.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) out: Vec<String>,
    pub(super) err: Vec<String>,
    /// `None` when the session ended before it.
    pub(super) code: Option<i32>,
}

/// Where the sessions of one document run.
pub(super) struct Shell {
    /// Of the sessions; empty at first.
    folder: PathBuf,
    /// Of the test itself: what commands printed.
    records: PathBuf,
    path: String,
    root: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Shell {
    pub(super) fn new(place: &Path, root: &Path, programs: &BTreeSet<&str>) -> Shell {
        let [folder, records, bin] = ["work", "records", "bin"].map(|name| {
            let folder = place.join(name);
            fs::create_dir(&folder).expect("a folder");
            folder
        });
        let built = built_programs(root);
        for program in programs {
            std::os::unix::fs::symlink(built.join(program), bin.join(program)).expect("links");
        }
        let path = variable("PATH").unwrap_or_default();
        Shell {
            folder,
            records,
            path: format!("{}:{path}", bin.display()),
            root: root.to_owned(),
            variables: Vec::new(),
        }
    }

    /// With the programs of a PostgreSQL server, and where it is.
    pub(super) fn with_postgres(mut self, programs: &Path, socket: &Path) -> Shell {
        self.path = format!("{}:{}", programs.display(), self.path);
        self.variables = vec![
            ("PGHOST", socket.display().to_string()),
            ("PGUSER", "postgres".to_owned()),
        ];
        self
    }

    /// Runs the commands of a session one after the other in one shell.
    #[expect(clippy::disallowed_methods, reason = "a session that hangs is ended")]
    pub(super) fn run(&self, session: &Session) -> Vec<Ran> {
        for entry in fs::read_dir(&self.records).expect("reads").flatten() {
            fs::remove_file(entry.path()).expect("removes");
        }
        let mut child = self.start(&self.script(session));
        let patience = PATIENCE * u32::try_from(session.steps.len()).unwrap_or(1);
        let began = Instant::now();
        while child.try_wait().expect("waits").is_none() && began.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Also what a session that failed half way left behind.
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-9", "--", &group]).output();
        let _ = child.wait();
        (0..session.steps.len())
            .map(|index| self.ran(index))
            .collect()
    }

    /// Each command with its streams and its exit code in files. Braces and no parentheses: variables and
    /// background jobs belong to the session.
    fn script(&self, session: &Session) -> String {
        let records = self.records.display();
        let steps = session.steps.iter().enumerate();
        let lines = steps.map(|(index, step)| {
            let text = &step.text;
            format!("{{\n{text}\n}} >{records}/{index}.out 2>{records}/{index}.err\necho $? >{records}/{index}.code\n")
        });
        lines.collect()
    }

    fn start(&self, script: &str) -> Child {
        let file = self.records.join("session.sh");
        let mut written = File::create(&file).expect("a file");
        written.write_all(script.as_bytes()).expect("writes");
        Command::new("sh")
            .arg(&file)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.records.parent().expect("a folder"))
            .env("LC_ALL", "C.UTF-8")
            .env("NO_COLOR", "1")
            .envs(self.variables.iter().cloned())
            // `git clone` of the published address gives this checkout.
            .env("GIT_CONFIG_COUNT", "2")
            .env(
                "GIT_CONFIG_KEY_0",
                format!("url.{}.insteadOf", self.root.display()),
            )
            .env("GIT_CONFIG_VALUE_0", env!("CARGO_PKG_REPOSITORY"))
            .env("GIT_CONFIG_KEY_1", "safe.directory")
            .env("GIT_CONFIG_VALUE_1", "*")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("a shell")
    }

    fn ran(&self, index: usize) -> Ran {
        let read = |end: &str| {
            let path = self.records.join(format!("{index}.{end}"));
            let text = fs::read_to_string(path).unwrap_or_default();
            text.lines()
                .map(|line| line.trim_end().to_owned())
                .collect()
        };
        let code: Vec<String> = read("code");
        Ran {
            out: read("out"),
            err: read("err"),
            code: code.first().and_then(|code| code.parse().ok()),
        }
    }
}

/// The folder of the built programs. Tests of this package alone do not build the other one.
pub(crate) fn built_programs(root: &Path) -> PathBuf {
    let programs = Path::new(env!("CARGO_BIN_EXE_tplkit-server"))
        .parent()
        .expect("a folder");
    if !programs.join("tplkit").exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "tplkit", "--bin", "tplkit"]);
        let target = programs.parent().expect("a folder");
        let built = cargo
            .current_dir(root)
            .env("CARGO_TARGET_DIR", target)
            .status();
        assert!(built.expect("cargo runs").success());
    }
    programs.to_owned()
}
