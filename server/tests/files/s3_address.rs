//! An address or a bucket that the client of S3 cannot use ends a command with what to write instead.

use crate::process::{command, database, stderr};

/// Each command that opens the place, with that place and that variable; gives what it said.
fn refused(place: &str, variable: (&str, &str)) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let commands: [&[&str]; 3] = [
        &["serve", "--listen", "127.0.0.1:0"],
        &["worker"],
        &["admin", "verify-files"],
    ];
    let said = commands.map(|words| {
        let mut command = command(words);
        command.args(["--database", &database, "--files", place]);
        command.envs([
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            variable,
        ]);
        let output = command.output().expect("starts");
        assert_eq!(output.status.code(), Some(2), "{words:?} {output:?}");
        let said = stderr(&output);
        assert!(!said.contains("panic"), "{said}");
        said
    });
    Vec::from(said)
}

#[test]
fn an_address_without_a_scheme_or_a_host_is_no_address() {
    for address in [
        "minio:9000",
        "127.0.0.1:9000",
        "http://",
        "ftp://h",
        "not a url",
    ] {
        for said in refused("s3://files/x", ("AWS_ENDPOINT_URL", address)) {
            let names = ["--files", "AWS_ENDPOINT_URL", address, "http://HOST:PORT"];
            assert!(names.iter().all(|name| said.contains(name)), "{said}");
        }
    }
}

#[test]
fn a_bucket_and_a_region_are_names() {
    let good = ("AWS_REGION", "us-east-1");
    for said in refused("s3://a b/x", good) {
        assert!(said.contains("no name of a bucket"), "{said}");
    }
    for said in refused("s3://files/x", ("AWS_REGION", "\"us-east-1\"")) {
        assert!(said.contains("AWS_REGION"), "{said}");
    }
}
