//! From the body of an apply to a job, or to all refusals.
//!
//! The stored package is checked, the library resolves it against one snapshot of the destination,
//! and only then the job is stored. A plan uses the same code.

mod adopted;
mod base_job;
mod body;
mod decide;
mod decide_input;
mod history;
mod in_the_way;
mod load;
mod plan;
mod resume;
mod start;
mod undecided;

pub(crate) use base_job::check as check_base_job;
pub(crate) use body::{ApplyDocument, BASE, BodyParts, PACKAGE, Places, PlanDocument};
pub(crate) use decide::{Decided, decide};
pub(crate) use decide_input::DecideInput;
pub(crate) use in_the_way::{in_the_way, moved};
pub(crate) use load::{LoadedPackage, spooled};
pub(crate) use plan::{plan, unfit};
pub(crate) use resume::{Resume, resume};
pub(crate) use start::{Accepted, JobPackages, Start, start};

use crate::ids::TemplateKey;
use uuid::Uuid;

/// Which template is applied where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApplyTarget {
    /// Of the workspace: a template may be another organization's.
    pub(crate) organization: Uuid,
    pub(crate) workspace: Uuid,
    pub(crate) template: Uuid,
}

impl ApplyTarget {
    /// As the ledgers of earlier jobs are asked for.
    fn key(self) -> TemplateKey {
        TemplateKey {
            organization: self.organization,
            workspace: self.workspace,
            template: self.template,
        }
    }
}
