//! The body of an apply and of a plan.

use schemars::JsonSchema;
use tplkit::apply::Request;
use tplkit::json::{Doc, Node, write_string};
use uuid::Uuid;

use crate::fields;
use crate::ids::uuid;
use crate::refusal::Refusal;
use crate::templates::refusals::refused;
use crate::wire::AnyObject;

/// What a body names that may be hidden from the caller. It is looked at before anything else is said
/// of the body.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub(crate) struct Places {
    /// The destination.
    #[schemars(rename = "workspaceId")]
    pub(crate) workspace: Uuid,
    /// A job that is to go on.
    #[schemars(rename = "jobId")]
    pub(crate) job: Option<Uuid>,
    /// The job that an upgrade starts from, which the request has, too.
    #[schemars(skip)]
    pub(crate) base_job: Option<Uuid>,
}

/// The rest of it.
#[derive(Debug)]
pub(crate) struct Body;

/// Where and how to apply a template.
#[derive(JsonSchema)]
#[schemars(rename = "Apply")]
#[expect(dead_code, reason = "its two parts are read one after the other")]
pub(crate) struct ApplyDocument {
    #[schemars(flatten)]
    places: Places,
    #[schemars(flatten)]
    request: Request,
}

/// Where and how a template would be applied, and with which package.
#[derive(JsonSchema)]
#[schemars(rename = "PlanRequest")]
#[expect(dead_code, reason = "its parts are read one after the other")]
pub(crate) struct PlanDocument {
    #[schemars(flatten)]
    apply: ApplyDocument,
    /// A package that is planned in place of the template's: a manifest with its payloads, or a manifest alone.
    package: Option<AnyObject>,
}

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
            base_job: id("baseJob"),
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
