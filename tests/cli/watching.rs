//! `--watch`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::support::{Place, faulty, tiny};

#[test]
fn a_change_is_checked_again_and_nothing_is_cleared_off_a_terminal() {
    let place = Place::with(&[("d/p.json", &tiny())]);
    let mut child = place
        .command(&["check", "--watch", "d"])
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
    let wait_for = |part: &str| loop {
        let line = lines
            .recv_timeout(Duration::from_secs(20))
            .expect("a line in time");
        assert!(!line.contains('\u{1b}'), "{line:?}");
        if line.contains(part) {
            break;
        }
    };
    wait_for("No findings in 1 package.");
    place.write("d/p.json", &faulty());
    wait_for("error[M001 bad-scope]");
    place.write("d/q.json", "{");
    wait_for("error[J001 invalid-json]");
    child.kill().expect("kill");
    child.wait().expect("end");
}
