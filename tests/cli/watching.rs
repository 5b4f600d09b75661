//! `--watch`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::support::{Place, faulty, tiny, warned};

/// A running watch with the lines of its standard output.
struct RecordWatch {
    child: Child,
    lines: Receiver<String>,
}

impl RecordWatch {
    fn start(place: &Place, path: &str) -> RecordWatch {
        let mut child = place
            .command(&["check", "--watch", path])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start");
        let (sender, lines) = mpsc::channel();
        let stdout = child.stdout.take().expect("stdout");
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        RecordWatch { child, lines }
    }

    #[track_caller]
    fn wait_for(&self, part: &str) {
        loop {
            let line = self
                .lines
                .recv_timeout(Duration::from_secs(20))
                .expect("a line in time");
            assert!(!line.contains('\u{1b}'), "{line:?}");
            if line.contains(part) {
                break;
            }
        }
    }

    #[track_caller]
    fn is_silent(&self) {
        let line = self.lines.recv_timeout(Duration::from_millis(400));
        assert!(line.is_err(), "{line:?}");
    }
}

impl Drop for RecordWatch {
    fn drop(&mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("end");
    }
}

#[test]
fn a_change_is_checked_again_and_nothing_is_cleared_off_a_terminal() {
    let place = Place::with(&[("d/p.json", &tiny())]);
    let watch = RecordWatch::start(&place, "d");
    watch.wait_for("No findings in 1 package.");
    place.write("d/p.json", &faulty());
    watch.wait_for("error[M001 bad-scope]");
    place.write("d/q.json", "{");
    watch.wait_for("error[J001 invalid-json]");
}

#[test]
fn files_that_no_check_reads_are_no_change() {
    let place = Place::with(&[("d/p.json", &tiny()), ("e/p.json", &tiny())]);
    let folder = RecordWatch::start(&place, "d");
    let file = RecordWatch::start(&place, "e/p.json");
    folder.wait_for("No findings in 1 package.");
    file.wait_for("No findings in 1 package.");
    // The watches stand before the first report, so this is noticed if anything is.
    for name in ["d/out.txt", "d/sub/x.txt", "e/out.txt", "e/other.json"] {
        place.write(name, "1");
        place.write(name, "2");
    }
    folder.is_silent();
    file.is_silent();
    place.write("e/p.json", &faulty());
    file.wait_for("error[M001 bad-scope]");
}

#[test]
fn folders_and_ignore_files_count() {
    let place = Place::with(&[("d/p.json", &tiny()), ("away/sub/q.json", "{")]);
    let watch = RecordWatch::start(&place, "d");
    watch.wait_for("No findings in 1 package.");
    std::fs::rename(place.path("away/sub"), place.path("d/sub")).expect("moved in");
    watch.wait_for("error[J001 invalid-json]");
    watch.wait_for("1 error in 2 packages.");
    place.write("d/.ignore", "sub\n");
    watch.wait_for("No findings in 1 package.");
    std::fs::remove_file(place.path("d/.ignore")).expect("removed");
    watch.wait_for("1 error in 2 packages.");
    std::fs::rename(place.path("d/sub"), place.path("away/sub")).expect("moved out");
    watch.wait_for("No findings in 1 package.");
}

#[test]
fn what_holds_for_a_package_counts() {
    for path in ["d/e", "d/e/p.json"] {
        let place = Place::with(&[("d/e/p.json", &warned())]);
        std::fs::create_dir(place.path("base")).expect("a folder");
        let watch = RecordWatch::start(&place, path);
        watch.wait_for("warning[M003");
        place.write("d/e/tplkit.toml", "deny = [\"M003\"]\n");
        watch.wait_for("error[M003");
        std::fs::remove_file(place.path("d/e/tplkit.toml")).expect("removed");
        watch.wait_for("warning[M003");
        place.write("tplkit.toml", "ignore = [\"M003\"]\n");
        watch.wait_for("No findings in 1 package.");
        // A mistake is named, and does not end it.
        place.write("tplkit.toml", "ignroe = []\n");
        std::thread::sleep(Duration::from_millis(400));
        place.write("tplkit.toml", "deny = [\"M003\"]\n");
        watch.wait_for("error[M003");
        // Nor does a baseline that is missing; it lies in no folder that is walked.
        place.write("tplkit.toml", "baseline = \"base/known.json\"\n");
        std::thread::sleep(Duration::from_millis(400));
        place.write("base/known.json", "");
        watch.wait_for("0 in the baseline");
        std::fs::remove_file(place.path("tplkit.toml")).expect("removed");
        watch.wait_for("warning[M003");
    }
}

/// The report goes to a file next to the package, which is what a shell's `>` does.
#[test]
fn its_own_output_is_no_change() {
    let place = Place::with(&[("a.json", &tiny())]);
    let out = std::fs::File::create(place.path("out.txt")).expect("create");
    for path in ["a.json", "."] {
        let mut child = place
            .command(&["check", "--watch", path])
            .stdin(Stdio::null())
            .stdout(out.try_clone().expect("another handle"))
            .stderr(Stdio::null())
            .spawn()
            .expect("start");
        std::thread::sleep(Duration::from_secs(1));
        child.kill().expect("kill");
        child.wait().expect("end");
    }
    assert_eq!(
        place.read("out.txt"),
        "No findings in 1 package.\n".repeat(2)
    );
}
