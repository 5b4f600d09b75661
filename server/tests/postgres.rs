//! Databases of PostgreSQL that are not as those of the other tests: their roles, grants and settings.

use serde_json::json;

use crate::api::client::Client;
use crate::cluster;
use crate::process::{EMAIL, SECRET, Serving, admin, owner, run, stderr};
use crate::stores::Place;

/// As after `pg_restore --no-acl`.
#[test]
fn a_database_without_its_grants_ends_the_start() {
    let Some(place) = Place::plain_postgres() else {
        return;
    };
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database", &place.url];
    for (revoke, roles) in [
        (
            "REVOKE SELECT ON main.users FROM tplkit_gate",
            "(tplkit_gate)",
        ),
        (
            "REVOKE ALL ON SCHEMA main FROM tplkit_gate, tplkit_operator, tplkit_request",
            "(tplkit_gate, tplkit_operator, tplkit_request)",
        ),
    ] {
        place.execute(revoke);
        let output = run(&serve);
        assert_eq!(output.status.code(), Some(1), "{revoke}");
        let message = stderr(&output);
        for words in [roles, "--no-acl", "restore the database with its"] {
            assert!(message.contains(words), "{revoke}: {message}");
        }
    }
}

/// One that an administrator looks for at the machine, whose command has no log.
#[test]
fn a_command_names_the_error_of_the_store() {
    let Some(place) = Place::plain_postgres() else {
        return;
    };
    place.execute("REVOKE SELECT ON main.memberships FROM tplkit_operator");
    let refused = admin(&place.url, &["list-users"], "").expect_err("is refused");
    let message = stderr(&refused);
    assert!(message.contains("(42501)"), "{message}");
    assert!(!message.contains("recorded"), "{message}");
}

/// What a database or a role sets for its sessions does not reach those of the server.
#[test]
fn settings_of_a_database_change_nothing() {
    let Some(place) = Place::empty_postgres() else {
        return;
    };
    let name = place.database_name();
    for setting in ["row_security", "standard_conforming_strings"] {
        place.execute(&format!("ALTER DATABASE {name} SET {setting} = off"));
    }
    let organization = owner(&place.url);
    let shown = admin(&place.url, &["list-users"], "").expect("a record");
    assert_eq!(shown["items"][0]["email"], EMAIL, "{shown}");
    let serving = Serving::start_with(&place.url, &["--rate-limit", "off"], &[]);
    let nobody = Client::new(serving.address.parse().expect("an address"));
    let sign_in = json!({"email": EMAIL, "password": SECRET});
    let tokens = nobody.post("/v1/auth/token", &sign_in).expect(200).json();
    let owner = nobody.with(tokens["access_token"].as_str().expect("a token"));
    owner
        .get(&format!("/v1/organizations/{organization}"))
        .expect(200);
}

/// As a cluster makes it that was begun in a container without a locale.
#[test]
fn a_database_in_another_encoding_is_refused() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    for encoding in ["SQL_ASCII", "LATIN1"] {
        let name = format!("{}_{}", encoding.to_lowercase(), std::process::id());
        let create = format!("CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0");
        cluster.psql(&create).expect("creates");
        let url = cluster.url(&name);
        for command in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"]] {
            let output = run(&[command, &["--database", url.as_str()]].concat());
            assert_eq!(output.status.code(), Some(1), "{command:?}");
            let message = stderr(&output);
            for words in [
                name.as_str(),
                encoding,
                "--encoding UTF8 --template template0",
            ] {
                assert!(message.contains(words), "{command:?}: {message}");
            }
        }
        cluster.remove(&name).expect("removes");
    }
}

#[test]
fn a_schema_of_another_program_is_refused_and_left_alone() {
    let Some(place) = Place::empty_postgres() else {
        return;
    };
    place.execute("CREATE SCHEMA main; CREATE TABLE main.invoices (id bigint)");
    for command in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["migrate"],
        &["admin", "create-organization", "--label", "Acme"],
    ] {
        let output = run(&[command, &["--database", place.url.as_str()]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let message = stderr(&output);
        for words in [place.database_name(), "schema main", "--database"] {
            assert!(message.contains(words), "{command:?}: {message}");
        }
    }
    let tables = "SELECT string_agg(relname, ' ') FROM pg_class \
         WHERE relnamespace = CAST('main' AS regnamespace)";
    assert_eq!(place.ask(tables), "invoices");
}

/// An administrator makes it where the role of the server may not.
#[test]
fn an_empty_schema_becomes_a_store() {
    let Some(place) = Place::empty_postgres() else {
        return;
    };
    place.execute("CREATE SCHEMA main");
    for _ in 0..2 {
        let output = run(&["migrate", "--database", &place.url]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

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
