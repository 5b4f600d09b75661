//! The PostgreSQL roles of requests, and the fallback when they cannot be created.

use tokio_postgres::Client;

use crate::store::{StoreError, sql_log};

/// The roles belong to the whole cluster, so another database of it may have made them, or be
/// making them right now.
pub(super) const MAKE: &str = "
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['tplkit_gate', 'tplkit_operator', 'tplkit_request'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
        IF NOT pg_has_role(current_user, wanted, 'MEMBER') THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
        END IF;
    END LOOP;
END
$$";

/// A role that could pass policies by would take the second check away without a word.
const WEAK: &str = "SELECT coalesce(string_agg(rolname, ', '), '') FROM pg_roles \
     WHERE rolname IN ('tplkit_gate', 'tplkit_operator', 'tplkit_request') \
     AND (rolsuper OR rolbypassrls)";

/// What an administrator has to run for a role that may not run [`MAKE`] itself.
const MISSING: &str = "SELECT quote_ident(current_user), \
     coalesce(string_agg(format('CREATE ROLE %I NOLOGIN; ', wanted), '') \
         FILTER (WHERE rolname IS NULL), '') \
     || format('GRANT tplkit_gate, tplkit_operator, tplkit_request TO %I;', current_user) \
     FROM unnest(ARRAY['tplkit_gate', 'tplkit_operator', 'tplkit_request']) AS wanted \
     LEFT JOIN pg_roles ON rolname = wanted";

/// Whose the view is through which rows are counted. Whom a policy restricts would count none.
const VIEW: &str = "SELECT pg_get_userbyid(relowner)::text FROM pg_class \
     WHERE oid = to_regclass('main.security_whole_rows')";

/// Those that may not read what each of them has to: a restore can leave out what was granted.
const POWERLESS: &str = "SELECT coalesce(string_agg(rolname, ', ' ORDER BY rolname), '') \
     FROM (VALUES ('tplkit_gate', 'main.users'), ('tplkit_operator', 'main.organizations'), \
     ('tplkit_request', 'main.organizations')) AS needed (role, needs) \
     JOIN pg_roles ON rolname = role \
     WHERE NOT has_schema_privilege(pg_roles.oid, 'main', 'USAGE') \
     OR NOT has_table_privilege(pg_roles.oid, needs, 'SELECT')";

/// Refuses roles that may do too much or too little, and a view that is somebody else's.
pub(super) async fn check(client: &Client) -> Result<(), StoreError> {
    sql_log::control(WEAK);
    let weak: String = client.query_one(WEAK, &[]).await?.get(0);
    if !weak.is_empty() {
        return Err(StoreError::Internal(format!(
            "{weak} may pass row-level security by; take SUPERUSER and BYPASSRLS away"
        )));
    }
    sql_log::control(VIEW);
    let owner: String = client.query_one(VIEW, &[]).await?.get(0);
    if owner != "tplkit_operator" {
        return Err(StoreError::Internal(format!(
            "main.security_whole_rows belongs to {owner}, and counts would be wrong; as an administrator, run \
             ALTER VIEW main.security_whole_rows OWNER TO tplkit_operator"
        )));
    }
    sql_log::control(POWERLESS);
    let powerless: String = client.query_one(POWERLESS, &[]).await?.get(0);
    if !powerless.is_empty() {
        return Err(StoreError::Internal(format!(
            "the roles of requests lack their rights to the tables in the schema main ({powerless}), as after a restore \
             that left privileges out (`pg_restore --no-acl`): restore the database with its privileges"
        )));
    }
    Ok(())
}

/// Why the roles are not there, and what makes them.
pub(super) async fn missing(client: &Client) -> StoreError {
    sql_log::control(MISSING);
    let found = client.query_one(MISSING, &[]).await;
    let found = found.and_then(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    match found {
        Ok((role, run)) => StoreError::NoRoles { role, run },
        Err(error) => error.into(),
    }
}

/// Why the schema is not there, and what allows to make it.
pub(super) async fn closed(client: &Client) -> StoreError {
    let names = "SELECT quote_ident(current_user), quote_ident(current_database())";
    sql_log::control(names);
    let found = client.query_one(names, &[]).await;
    let found = found.and_then(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    match found {
        Ok((role, database)) => StoreError::NotOwner { role, database },
        Err(error) => error.into(),
    }
}
