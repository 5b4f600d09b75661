//! What an account sees of an organization: which workspaces are kept from it, and in which tables it sees only its
//! own rows.
//!
//! The rule stands here once, as the words of [`visibility!`](visibility): a request finds out with its session (`identify`
//! composes its statements of them), a job, each of its units and a run with [`Account::find`], and who holds the lease of
//! a job with [`sees_workspace`]. Whatever the way, [`Restrictions`] makes a [`Visible`] of what is found.

use uuid::Uuid;

use super::caller::{Role, Scopes};
use crate::ids::{FeatureKey, WorkspaceKey};
use crate::store::{Row, StoreError, Tx, Visible};

/// The words of visibility in statements. `w` is a workspace, `f` a feature, `m` a membership.
///
/// | Words | Say |
/// |---|---|
/// | `below admin` | restrictions concern the member at all |
/// | `restricted` | the workspace is open to the people that it lists, and to administrators |
/// | `listed ORGANIZATION, WORKSPACE, USER` | the workspace lists the user |
/// | `hidden USER` | the workspace is kept from a user below administrators |
/// | `guarded` | users below administrators see their own rows of the feature, and no others |
/// | `valid key NOW` | the key has not expired |
macro_rules! visibility {
    (below admin) => {
        "m.role IN ('editor', 'viewer')"
    };
    (restricted) => {
        "w.access = 'members'"
    };
    (listed $organization:literal, $workspace:literal, $user:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM workspace_members l WHERE l.organization_id = ",
            $organization,
            " AND l.workspace_id = ",
            $workspace,
            " AND l.user_id = ",
            $user,
            ")"
        )
    };
    (hidden $user:literal) => {
        concat!(
            $crate::auth::visibility::visibility!(restricted),
            " AND NOT ",
            $crate::auth::visibility::visibility!(listed "w.organization_id", "w.id", $user)
        )
    };
    (guarded) => {
        "f.own_rows"
    };
    (valid key $now:literal) => {
        concat!("(expires_at IS NULL OR expires_at > ", $now, ")")
    };
}
pub(super) use visibility;

/// A workspace that lists the user: the first column of a row of restrictions.
const PART_LISTED: i64 = 2;
/// A workspace that is kept from the user.
const PART_HIDDEN: i64 = 3;
/// A feature of which the user sees the own rows, with its workspace.
const PART_GUARDED: i64 = 4;

/// What is kept from the user `$2` in the organization `$1`, unless it administers the organization; also of one that
/// does not belong to it.
const RESTRICTIONS: &str = concat!(
    "SELECT CAST(2 AS bigint) AS part, workspace_id AS id, workspace_id AS place FROM workspace_members \
     WHERE {tenant organization_id} AND organization_id = $1 AND user_id = $2 \
     UNION ALL SELECT 3, w.id, w.id FROM workspaces w \
     WHERE {tenant w.organization_id} AND {workspace w.id} AND w.organization_id = $1 AND ",
    visibility!(hidden "$2"),
    " UNION ALL SELECT 4, f.id, f.workspace_id FROM features f \
     WHERE {tenant f.organization_id} AND {workspace f.workspace_id} AND f.organization_id = $1 AND ",
    visibility!(guarded)
);

/// What is kept from an account, as it is found row by row.
#[derive(Debug, Default)]
pub(crate) struct Restrictions {
    workspaces: Vec<Uuid>,
    hidden: Vec<Uuid>,
    guarded: Vec<FeatureKey>,
}

impl Restrictions {
    /// Takes what a row says: which part it is of, the workspace or feature, and the workspace in which that lies.
    pub(super) fn add(&mut self, part: i64, id: Uuid, workspace: Uuid) {
        match part {
            PART_LISTED => self.workspaces.push(id),
            PART_HIDDEN => self.hidden.push(id),
            PART_GUARDED => self.guarded.push(FeatureKey {
                workspace,
                feature: id,
            }),
            _ => {}
        }
    }

    /// Whether a workspace is among what is kept.
    pub(crate) fn hides(&self, workspace: Uuid) -> bool {
        self.hidden.contains(&workspace)
    }

    /// Opens one workspace: whoever works there is not kept from it.
    #[must_use]
    pub(crate) fn but_for(mut self, workspace: Uuid) -> Restrictions {
        self.hidden.retain(|id| *id != workspace);
        self
    }

    /// What somebody sees from whom this is kept.
    #[must_use]
    pub(crate) fn of(mut self, visible: Visible) -> Visible {
        // The statements promise no order.
        self.workspaces.sort_unstable();
        self.hidden.sort_unstable();
        Visible {
            workspaces: self.workspaces,
            hidden: self.hidden,
            ..visible
        }
        .guarding(self.guarded)
    }
}

/// What is kept from a user in an organization who does not administer it.
///
/// # Errors
/// Those of the store.
pub(crate) async fn restrictions(
    tx: &mut Tx,
    organization: Uuid,
    user: Uuid,
) -> Result<Restrictions, StoreError> {
    let rows = tx
        .query(RESTRICTIONS, &[organization.into(), user.into()])
        .await?;
    let mut found = Restrictions::default();
    for row in &rows {
        found.add(row.get(0)?, row.get(1)?, row.get(2)?);
    }
    Ok(found)
}

/// Whether a user below administrators sees the workspace. One that is gone is closed to nobody: what is missing is
/// found out where it is needed.
///
/// # Errors
/// Those of the store.
pub(crate) async fn sees_workspace(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
    user: Uuid,
) -> Result<bool, StoreError> {
    let sql = concat!(
        "SELECT w.id FROM workspaces w WHERE {tenant w.organization_id} AND {workspace w.id} \
         AND w.organization_id = $1 AND w.id = $2 AND ",
        visibility!(hidden "$3")
    );
    let parameters = [organization.into(), workspace.into(), user.into()];
    Ok(tx.first(sql, &parameters).await?.is_none())
}

/// A user or a key in one organization, by their rights of now: of whom no request is there to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    /// What a member may do. A key acts as an administrator, cut down by its scopes.
    pub(crate) role: Role,
    /// Of a key.
    pub(crate) scopes: Option<Scopes>,
}

impl Account {
    /// The member or key of that id; nothing for who does not belong to the organization any more, and for a key that
    /// is deleted or has expired.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn find(
        tx: &mut Tx,
        organization: Uuid,
        who: Uuid,
        now: i64,
    ) -> Result<Option<Account>, StoreError> {
        let sql = "SELECT role FROM memberships WHERE {tenant organization_id} \
             AND organization_id = $1 AND user_id = $2";
        let parameters = [organization.into(), who.into()];
        if let Some(row) = tx.first(sql, &parameters).await? {
            let role = Role::parse(&row.get::<String>(0)?);
            return Ok(role.map(|role| Account { role, scopes: None }));
        }
        let sql = concat!(
            "SELECT scopes FROM api_keys WHERE {tenant organization_id} \
             AND organization_id = $1 AND id = $2 AND ",
            visibility!(valid key "$3")
        );
        let parameters = [organization.into(), who.into(), now.into()];
        let row = tx.first(sql, &parameters).await?;
        row.as_ref().map(Account::of_key).transpose()
    }

    fn of_key(row: &Row) -> Result<Account, StoreError> {
        Ok(Account {
            role: Role::Admin,
            scopes: Some(Scopes::parse(&row.get::<String>(0)?)),
        })
    }

    /// Whether nothing in the organization is kept from it.
    pub(crate) fn administers(&self) -> bool {
        self.role >= Role::Admin
    }

    /// What it sees in its organization.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn visible(
        &self,
        tx: &mut Tx,
        organization: Uuid,
        who: Uuid,
    ) -> Result<Visible, StoreError> {
        let mut visible = Visible {
            caller: who,
            organizations: vec![organization],
            ..Visible::default()
        };
        if self.administers() {
            visible.administered = vec![organization];
            return Ok(visible);
        }
        Ok(restrictions(tx, organization, who).await?.of(visible))
    }
}
