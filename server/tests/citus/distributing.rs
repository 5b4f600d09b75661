//! How a database is distributed, and where that is refused.

use serde_json::json;
use tplkit_server_testkit::citus;

use super::{distribute, request, serve, sign_in, workspace};
use crate::load::table;
use crate::process::{EMAIL, owner, run, stderr};
use crate::stores::Place;

/// Where there is no Citus, nothing is changed and the message says what to do.
#[test]
fn a_database_without_citus_is_not_distributed() {
    let file = ["migrate", "--distributed", "--database", "sqlite::memory:"];
    let refused = run(&file);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("--database"),
        "{}",
        stderr(&refused)
    );
    let Some(place) = Place::plain_postgres() else {
        return;
    };
    let refused = run(&["migrate", "--distributed", "--database", &place.url]);
    assert_eq!(refused.status.code(), Some(1));
    let why = stderr(&refused);
    assert!(why.contains("CREATE EXTENSION citus"), "{why}");
    owner(&place.url);
}

#[test]
fn a_database_is_distributed_once_and_with_what_it_holds() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::undistributed(citus);
    // It was in use before.
    let organization = owner(&place.url);
    let report = distribute(&place.url);
    assert_eq!(report["workers"], citus.nodes.len() - 1);
    assert_eq!(report["changed"], true);
    let distributed = report["distributed"].as_array().expect("a list").len();
    assert!(distributed > 25, "{report}");
    let again = distribute(&place.url);
    assert_eq!(again["changed"], false, "{again}");
    assert_eq!(again["distributed"], json!([]));
    // An older version did it: no server starts before this one has, which brings the schema up to date and makes
    // policies anew on every node.
    place.ask("COMMENT ON FUNCTION main.set_on_all_nodes(text[], text[]) IS 'another'");
    place.ask("DELETE FROM main.schema_migrations WHERE number >= 19");
    place.ask("ALTER TABLE main.file_objects DROP COLUMN uploads");
    place.ask("ALTER TABLE main.workflow_runs DROP COLUMN chain");
    place.ask("ALTER TABLE main.workflow_events DROP COLUMN chain");
    place.ask("DROP TABLE main.run_chains");
    place.ask("ALTER TABLE main.template_jobs DROP COLUMN undone_by");
    place.ask("DROP INDEX main.file_uses_by_file");
    for replaced in [
        "CREATE INDEX file_uses_of_file ON main.file_uses (organization_id, file_id)",
        "DROP FUNCTION main.note_queue(uuid)",
        "CREATE FUNCTION main.note_queue(organization uuid) RETURNS bigint LANGUAGE sql AS 'SELECT 1'",
    ] {
        place.ask(replaced);
    }
    let refused = run(&["migrate", "--database", &place.url]);
    assert_eq!(refused.status.code(), Some(1));
    let why = stderr(&refused);
    assert!(why.contains("migrate --distributed"), "{why}");
    let anew = distribute(&place.url);
    assert_eq!(anew["changed"], true, "{anew}");
    assert_eq!(anew["distributed"], json!(["run_chains"]));
    let indexes = "SELECT string_agg(indexname, ' ' ORDER BY indexname) FROM pg_indexes \
         WHERE indexname LIKE 'file_uses_%_file'";
    assert_eq!(place.ask(indexes), "file_uses_by_file");
    let placed = "SELECT count(*) FROM pg_dist_partition WHERE partmethod = 'h'";
    assert_eq!(place.ask(placed), distributed.to_string());
    let colocated =
        "SELECT count(DISTINCT colocationid) FROM pg_dist_partition WHERE partmethod = 'h'";
    assert_eq!(place.ask(colocated), "1");
    let policies =
        "SELECT count(*) FROM pg_policies WHERE schemaname = 'main' AND qual LIKE '%SELECT%'";
    assert_eq!(place.ask(policies), "0");
    let serving = serve(&place);
    let (mut wire, _) = sign_in(&serving, EMAIL);
    let (status, found) = request(&mut wire, "GET", "/v1/organizations", None);
    assert_eq!(
        (status, &found["items"][0]["id"]),
        (200, &json!(organization))
    );
    let workspace = workspace(&mut wire, &organization);
    table(&mut wire, &workspace, "t");
    // Nothing of it is left on the coordinator.
    let left = "SELECT count(*) FROM ONLY main.organizations";
    assert_eq!(place.ask(left), "1");
}
