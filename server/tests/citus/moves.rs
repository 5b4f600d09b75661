//! Organizations that move to other workers.

use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use tplkit_server_testkit::citus::{self, Citus};

use super::tenant::{PEOPLE, Tenant, worker_of};
use super::{distribute, serve};
use crate::kill::Wire;
use crate::load::{Load, assert_exact, notes};
use crate::stores::Place;

/// What stands between callers and rows on a worker: each part of a table with its owner, rights, row security, policies
/// and triggers.
fn protection(citus: &Citus, node: &str, place: &Place) -> Vec<String> {
    let sql = "SET citus.override_table_visibility = off; \
         SELECT regexp_replace(part.relname, '_[0-9]+$', ''), part.relrowsecurity, part.relforcerowsecurity, \
         pg_get_userbyid(part.relowner), part.relacl, \
         (SELECT string_agg(concat_ws(' ', polname, polcmd, polpermissive, polroles::regrole[], \
         pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)), ';' ORDER BY polname) \
         FROM pg_policy WHERE polrelid = part.oid), \
         (SELECT string_agg(tgname || ' ' || tgfoid::regproc, ';' ORDER BY tgname) FROM pg_trigger \
         WHERE tgrelid = part.oid AND NOT tgisinternal) \
         FROM pg_class AS part WHERE relnamespace = 'main'::regnamespace AND relkind = 'r' \
         AND relname ~ '_[0-9]+$' ORDER BY part.relname";
    let parts = citus.on_node(node, place.database_name(), sql);
    let parts = parts.expect("is read");
    let mut parts: Vec<String> = parts.lines().map(str::to_owned).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// How parts of tables are moved: the other ways send what is written meanwhile by logical replication, which writes into
/// no table with row security, and wait for it for ever.
const BLOCKING: &str = "shard_transfer_mode := 'block_writes'";

/// A worker that is added takes over organizations, and one of them moves on and back, while clients write.
#[test]
fn organizations_move_to_other_workers_under_load() {
    let Some(citus) = citus::required() else {
        return;
    };
    let [_, first, .., further] = &citus.nodes[..] else {
        let skipped = "\nSKIPPED: the Citus cluster has one worker, to which nothing can move.\n";
        let _ = writeln!(io::stderr(), "{skipped}");
        return;
    };
    let place = Place::undistributed(citus);
    let call = |function: &str| {
        let node = further.replace(':', "',");
        place.ask(&format!("SELECT {function}('{node})"));
    };
    call("citus_remove_node");
    distribute(&place.url);
    let serving = serve(&place);
    let tenants = PEOPLE.map(|(email, member)| Tenant::make(&place, &serving, email, member));
    let loads = tenants
        .each_ref()
        .map(|tenant| Load::start(1, &serving.address, &tenant.key, &tenant.feature));
    let go_on = || {
        for load in &loads {
            load.wait_for(10);
        }
    };
    go_on();
    let before = protection(citus, first, &place);
    assert!(
        before.iter().any(|part| part.starts_with("rows|t|t|")),
        "{before:?}"
    );

    call("citus_add_node");
    let report = distribute(&place.url);
    assert_eq!(report["workers"], citus.nodes.len() - 1);
    place.ask(&format!("SELECT rebalance_table_shards({BLOCKING})"));
    go_on();

    let moved = &tenants[0];
    for to in [further, first, further] {
        let from = worker_of(&place, &moved.id);
        if from == *to {
            continue;
        }
        let [from, there] = [&from, to].map(|node| node.replace(':', "',"));
        place.ask(&format!(
            "SELECT citus_move_shard_placement(get_shard_id_for_distribution_column(\
             'main.organizations', '{}'::uuid), '{from}, '{there}, {BLOCKING})",
            moved.id
        ));
        go_on();
        assert_eq!(worker_of(&place, &moved.id), *to);
        assert_eq!(protection(citus, to, &place), before, "{to}");
    }
    let written = loads.map(Load::stop);
    for (tenant, written) in tenants.iter().zip(written) {
        let mut wire = Wire::new(&serving, &tenant.key);
        let found = notes(&mut wire, &tenant.feature);
        assert_exact(&written, &found);
        while notes(&mut wire, &tenant.copies).len() < found.len() {
            thread::sleep(Duration::from_millis(50));
        }
        assert_exact(&written, &notes(&mut wire, &tenant.copies));
    }
}
