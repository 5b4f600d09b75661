//! The cluster itself: what the tests of the store stand on.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::cluster::{self, Cluster};

#[test]
fn a_query_gives_a_result() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    assert_eq!(cluster.psql("SELECT 1").expect("a result"), "1");
}

#[test]
fn text_compares_by_code_point_and_is_utf_8() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let sql = "SELECT 'Z' < 'a', length('é')";
    assert_eq!(cluster.psql(sql).expect("a result"), "t|1");
}

#[test]
fn a_failing_statement_is_an_error_with_its_reason() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let error = cluster.psql("SELECT nonsense").expect_err("no such column");
    assert!(error.to_string().contains("nonsense"), "{error}");
}

#[test]
fn a_dropped_cluster_leaves_nothing_behind() {
    let Some(programs) = cluster::programs() else {
        return;
    };
    let cluster = Cluster::start(programs).expect("the cluster starts");
    let folder = cluster.folder().to_owned();
    assert_eq!(cluster.psql("SELECT 2").expect("a result"), "2");
    drop(cluster);
    assert!(!folder.exists());
}

/// The test process starts itself a second time, as the one that gets killed with a server running.
#[test]
fn a_killed_test_process_leaves_nothing_behind() {
    const VICTIM: &str = "TPLKIT_TEST_VICTIM";
    let Some(programs) = cluster::programs() else {
        return;
    };
    if cluster::variable(VICTIM).is_some() {
        let cluster = Cluster::start(programs).expect("the cluster starts");
        let mut out = std::io::stdout();
        writeln!(out, "\nfolder {}", cluster.folder().display()).expect("somebody reads");
        thread::sleep(Duration::from_secs(600));
        return;
    }
    let name = "cluster::tests::a_killed_test_process_leaves_nothing_behind";
    let mut victim = Command::new(std::env::current_exe().expect("this program has a path"))
        .args([name, "--exact", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let printed = BufReader::new(victim.stdout.take().expect("a pipe"));
    let folder = printed
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("folder ").map(str::to_owned))
        .expect("the victim names its folder");
    let folder = Path::new(&folder);
    assert!(folder.join("data").is_dir());
    victim.kill().expect("it runs");
    victim.wait().expect("it ends");
    let gone = (0..600).any(|_| {
        thread::sleep(Duration::from_millis(50));
        !folder.exists()
    });
    assert!(gone, "{} is still there", folder.display());
}
