//! The cluster: whether it is one that this program can distribute a database over, and its roles.

use std::fmt::Write as _;

use tokio_postgres::Client;

use crate::store::scope::ROLES;
use crate::store::{StoreError, sql_log};

/// The oldest Citus that was run.
const OLDEST: u32 = 13;

const CITUS: &str =
    "SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'citus'), '')";

/// The group of this node (0 is the coordinator), whether the coordinator is among the nodes, and how many workers
/// there are.
const NODES: &str = "SELECT (SELECT groupid FROM pg_dist_local_group), \
     EXISTS (SELECT FROM pg_dist_node WHERE groupid = 0), \
     (SELECT count(*) FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' AND isactive AND shouldhaveshards)";

/// A cluster that a database can be distributed over.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) version: String,
    pub(super) workers: i64,
}

impl Cluster {
    /// Refuses what is no such cluster.
    pub(super) async fn check(client: &Client) -> Result<Cluster, StoreError> {
        sql_log::control(CITUS);
        let version: String = client.query_one(CITUS, &[]).await?.get(0);
        let refuse = |why: &str| Err(StoreError::NotDistributable(why.to_owned()));
        if version.is_empty() {
            return refuse(
                "Citus is not in this database. Put citus into shared_preload_libraries of the coordinator and of each \
                 worker, start them again, run CREATE EXTENSION citus in this database on each of them, then on the \
                 coordinator SELECT citus_set_coordinator_host('HOST', PORT) and for each worker \
                 SELECT citus_add_node('HOST', PORT)",
            );
        }
        let major = version
            .split('.')
            .next()
            .and_then(|major| major.parse().ok());
        if major.is_none_or(|major: u32| major < OLDEST) {
            return refuse(&format!(
                "Citus {version} is too old: {OLDEST} or newer is needed. Install it on every node, and run \
                 ALTER EXTENSION citus UPDATE in this database on each of them"
            ));
        }
        sql_log::control(NODES);
        let row = client.query_one(NODES, &[]).await?;
        let (group, has_coordinator, workers): (i32, bool, i64) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if group != 0 {
            return refuse("this is a worker of the cluster: name its coordinator in the URL");
        }
        if !has_coordinator {
            return refuse(
                "the coordinator is not among the nodes: on it, run SELECT citus_set_coordinator_host('HOST', PORT) \
                 with the address by which the workers reach it",
            );
        }
        if workers == 0 {
            return refuse(
                "the cluster has no worker: on the coordinator, run SELECT citus_add_node('HOST', PORT) for each",
            );
        }
        Ok(Cluster { version, workers })
    }
}

/// Lets the coordinator reach the workers as each of the roles, with the settings of their sessions there. It is done each
/// time: a worker may have come meanwhile.
pub(super) async fn enable_roles(
    client: &Client,
    settings: &[(&str, String)],
) -> Result<(), StoreError> {
    let database = "SELECT quote_ident(current_database())";
    sql_log::control(database);
    let database: String = client.query_one(database, &[]).await?.get(0);
    let command = roles(&database, settings);
    let everywhere = "SELECT nodename || ':' || nodeport, success, result \
         FROM run_command_on_all_nodes($1) AS ran JOIN pg_dist_node USING (nodeid)";
    sql_log::control(&command);
    sql_log::typed(everywhere, ["text"]);
    for row in client.query(everywhere, &[&command]).await? {
        let (node, success, result): (String, bool, Option<String>) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if !success {
            let why = result.unwrap_or_default();
            return Err(StoreError::NotEnabled(node, why));
        }
    }
    Ok(())
}

/// What makes the roles of a node, each for itself: what the coordinator would send along, and to which nodes, depends
/// on when a role was made.
fn roles(database: &str, settings: &[(&str, String)]) -> String {
    let mut words = String::from(
        "DO $do$ BEGIN \
         PERFORM set_config('citus.enable_create_role_propagation', 'off', true), \
         set_config('citus.enable_alter_role_propagation', 'off', true), \
         set_config('citus.enable_alter_role_set_propagation', 'off', true); ",
    );
    for role in ROLES {
        let _ = write!(
            words,
            "IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN CREATE ROLE {role}; END IF; \
             IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}' AND (rolsuper OR rolbypassrls)) THEN \
             RAISE EXCEPTION '{role} may pass row-level security by: take SUPERUSER and BYPASSRLS away'; END IF; \
             ALTER ROLE {role} LOGIN; "
        );
        for (name, setting) in settings {
            let _ = write!(
                words,
                "ALTER ROLE {role} IN DATABASE {database} SET {name} = '{setting}'; "
            );
        }
    }
    words.push_str("END $do$");
    words
}

#[cfg(all(test, unix))]
mod tests {
    use tplkit_server_testkit::cluster::{Cluster, programs};

    use super::roles;

    /// Row security holds nobody back who may bypass it on a worker.
    #[test]
    fn a_role_that_may_pass_row_level_security_by_is_refused() {
        let Some(programs) = programs() else { return };
        let cluster = Cluster::start(programs).expect("starts");
        let make = roles("postgres", &[("lock_timeout", "3000".to_owned())]);
        cluster.psql(&make).expect("makes roles");
        cluster.psql(&make).expect("finds them");
        let settings =
            "SELECT count(*) FROM pg_db_role_setting WHERE 'lock_timeout=3000' = ANY (setconfig)";
        assert_eq!(cluster.psql(settings).expect("counts").trim(), "3");
        for right in ["SUPERUSER", "BYPASSRLS"] {
            let alter = |with: &str| format!("ALTER ROLE tplkit_request {with}{right}");
            cluster.psql(&alter("")).expect("gives");
            let refused = cluster.psql(&make).expect_err("is refused").to_string();
            assert!(refused.contains("tplkit_request may pass"), "{refused}");
            cluster.psql(&alter("NO")).expect("takes");
        }
        cluster.psql(&make).expect("is as before");
    }
}
