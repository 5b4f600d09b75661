//! What becomes of uses of files.

use tplkit::workspace::Id;

/// What becomes of the uses of files that a unit ends or could give back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileUses {
    /// They end.
    End,
    /// This job keeps them.
    Keep(Id),
    /// The undo of this job gives back what it kept.
    GiveBack(Id),
}

impl FileUses {
    pub(super) fn keeper(self) -> Option<Id> {
        match self {
            FileUses::Keep(job) => Some(job),
            FileUses::End | FileUses::GiveBack(_) => None,
        }
    }
}
