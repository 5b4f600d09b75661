//! Named timers. When one changes, the automations that use it are scheduled again.

use tplkit::json::Value as Json;
use uuid::Uuid;

use crate::ids;
use crate::store::{StoreError, Tx};

/// Schedules the automations that use a named timer again, after it was set.
///
/// # Errors
/// Those of the store.
pub(super) async fn renew(
    tx: &mut Tx,
    organization: Uuid,
    name: &str,
    id: Uuid,
    now: i64,
) -> Result<(), StoreError> {
    // What is due already stays due; the timer as it is now counts from now on.
    let sql = "SELECT s.workflow_id, v.trigger_config FROM workflow_schedules s \
         JOIN workflow_versions v ON v.organization_id = s.organization_id \
         AND v.workflow_id = s.workflow_id AND v.version = s.version \
         WHERE {tenant s.organization_id} AND {workspace v.workspace_id} \
         AND s.organization_id = $1 AND s.due_at IS NOT NULL AND v.is_active";
    let noted = tx.query(sql, &[organization.into()]).await?;
    for row in &noted {
        let trigger: String = row.get(1)?;
        let trigger = Json::parse(&trigger).unwrap_or_default();
        let config = trigger.get("config");
        let named = config.and_then(|config| config.get("timerProfile")?.as_str());
        let concerns = |named: &str| named == name || ids::uuid(named) == Some(id);
        if named.is_some_and(concerns) {
            let sql = "UPDATE main.workflow_schedules SET since = $3, \
                 due_at = CASE WHEN due_at <= $3 THEN due_at END \
                 WHERE {tenant organization_id} AND organization_id = $1 AND workflow_id = $2";
            let of = [organization.into(), row.get::<Uuid>(0)?.into(), now.into()];
            tx.query(sql, &of).await?;
            tx.note_queue(organization).await?;
        }
    }
    Ok(())
}
