//! Roles of PostgreSQL that may do less than the superuser of the other tests.

use crate::cluster;
use crate::process::{run, stderr};

/// What the refusal says is what makes it work.
#[test]
fn a_role_that_may_make_no_roles_hears_which_to_make() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let name = format!("plain_{}", std::process::id());
    let sql = |sql: &str| cluster.psql(sql).expect("runs");
    sql(&format!("CREATE ROLE {name} LOGIN"));
    sql(&format!("CREATE DATABASE {name}"));
    let url = cluster
        .url(&name)
        .replace("user=postgres", &format!("user={name}"));
    let migrate = || run(&["migrate", "--database", &url]);
    for _ in 0..2 {
        let output = migrate();
        assert_eq!(output.status.code(), Some(1));
        let message = stderr(&output);
        assert!(message.contains(&name), "{message}");
        let words = message.lines().filter_map(|line| line.strip_prefix("  "));
        let words: Vec<&str> = words.collect();
        assert!(!words.is_empty(), "{message}");
        sql(&words.join("\n"));
    }
    let output = migrate();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    sql(&format!("DROP DATABASE {name}"));
    sql(&format!("DROP ROLE {name}"));
}
