//! Who sees a file, as statements about `files` ask it: its uploader, administrators, and who sees a row that uses it,
//! all of them only while they see its workspace. Row security says the same of `files` in [`policy`](super); a test
//! makes these words from that policy.

/// The condition that the caller sees a file; where the statement locks it, with the organization to which the lock is
/// bound: a database of several nodes does not conclude that its uses are there, too.
macro_rules! sees_file {
    () => {
        $crate::store::sees_file!(@in "")
    };
    (in $organization:literal) => {
        $crate::store::sees_file!(@in " AND uses.organization_id = ", $organization)
    };
    (@in $($organization:literal),+) => {
        concat!(
            "{tenant files.organization_id} AND {workspace files.workspace_id} \
             AND ({uploader files.organization_id files.created_by} OR EXISTS (SELECT 1 FROM file_uses AS uses \
             WHERE uses.organization_id = files.organization_id AND uses.file_id = files.id",
            $($organization,)+
            " AND {tenant uses.organization_id} \
             AND {workspace uses.workspace_id} AND {row uses.feature_id uses.row_created_by} LIMIT 1 OFFSET 0))"
        )
    };
}

pub(crate) use sees_file;
