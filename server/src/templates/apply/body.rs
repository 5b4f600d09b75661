//! The body of an apply and of a plan.

use tplkit::apply::Request;
use tplkit::json::{Doc, Node};
use uuid::Uuid;

use crate::http::fields;
use crate::http::problem::Problem;
use crate::http::query::uuid;
use crate::templates::refusals::refused;

/// What a body names that may be hidden from the caller. It is looked at before anything else is said
/// of the body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub(crate) workspace: Uuid,
    pub(crate) job: Option<Uuid>,
}

/// The rest of it.
#[derive(Debug)]
pub(crate) struct Body;

impl Places {
    /// Reads them. An id of a job that is none is reported with the rest of the body.
    ///
    /// # Errors
    /// 422 when the destination of the template is unclear.
    pub(crate) fn read(text: &str) -> Result<Places, Problem> {
        let doc = fields::read(text)?;
        let root = doc.root();
        if !root.is_object() {
            return Err(Problem::fault("", "the body has to be an object"));
        }
        let id = |name: &str| root.get(name).and_then(Node::as_str).and_then(uuid);
        let name = "workspaceId";
        if root.get(name).is_none() {
            return Err(Problem::fault(name, "is required"));
        }
        let workspace = id(name).ok_or_else(|| Problem::fault(name, "is no UUID"))?;
        Ok(Places {
            workspace,
            job: id("jobId"),
        })
    }
}

impl Body {
    /// Reads what was decided about the package.
    ///
    /// # Errors
    /// 422 with everything that is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Request, Problem> {
        let doc = Doc::parse(text).map_err(|error| Problem::fault("", error.to_string()))?;
        Request::read(doc.root()).map_err(|faults| refused(&faults))
    }
}
