//! The body of an apply and of a plan.

use tplkit::apply::Request;
use tplkit::json::{Doc, Node, write_string};
use uuid::Uuid;

use crate::fields;
use crate::ids::uuid;
use crate::refusal::Refusal;
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
    pub(crate) fn read(text: &str) -> Result<Places, Refusal> {
        let doc = fields::read(text)?;
        let root = doc.root();
        if !root.is_object() {
            return Err(Refusal::fault("", "the body has to be an object"));
        }
        let id = |name: &str| root.get(name).and_then(Node::as_str).and_then(uuid);
        let name = "workspaceId";
        if root.get(name).is_none() {
            return Err(Refusal::fault(name, "is required"));
        }
        let workspace = id(name).ok_or_else(|| Refusal::fault(name, "is no UUID"))?;
        Ok(Places {
            workspace,
            job: id("jobId"),
        })
    }
}

/// The body of a plan, taken apart: what was decided, and a package in place of the template's.
#[derive(Debug)]
pub(crate) struct PlanBody {
    pub(crate) text: String,
    pub(crate) package: Option<String>,
}

impl PlanBody {
    /// Takes it apart.
    ///
    /// # Errors
    /// 422 for what is no JSON, or a package that is no object.
    pub(crate) fn read(text: String) -> Result<PlanBody, Refusal> {
        const PACKAGE: &str = "package";
        let doc = fields::read(&text)?;
        let Some(package) = doc.root().get(PACKAGE) else {
            drop(doc);
            return Ok(PlanBody {
                text,
                package: None,
            });
        };
        if !package.is_object() {
            return Err(Refusal::fault(PACKAGE, "has to be an object: a package"));
        }
        let rest = doc.root().members();
        let rest = rest.filter(|member| member.key() != Some(PACKAGE));
        let rest = rest.map(|member| {
            let key = write_string(member.key().unwrap_or_default());
            format!("{key}:{}", member.raw())
        });
        Ok(PlanBody {
            text: format!("{{{}}}", rest.collect::<Vec<_>>().join(",")),
            package: Some(package.raw().to_owned()),
        })
    }
}

impl Body {
    /// Reads what was decided about the package.
    ///
    /// # Errors
    /// 422 with everything that is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Request, Refusal> {
        let doc = Doc::parse(text).map_err(|error| Refusal::fault("", error.to_string()))?;
        Request::read(doc.root()).map_err(|faults| refused(&faults))
    }
}
