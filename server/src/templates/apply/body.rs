//! The body of an apply and of a plan.

use schemars::JsonSchema;
use tplkit::apply::Request;
use tplkit::json::{Doc, Node, write_string};
use uuid::Uuid;

use crate::ids::uuid;
use crate::json_body;
use crate::json_schemas::AnyObject;
use crate::refusal::Refusal;
use crate::templates::apply_refusal::refused;

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
struct Body;

/// Where and how to apply a template.
#[derive(JsonSchema)]
#[schemars(rename = "Apply")]
#[expect(dead_code, reason = "its two parts are read one after the other")]
pub(crate) struct ApplyDocument {
    #[schemars(flatten)]
    places: Places,
    #[schemars(flatten)]
    request: Request,
    /// Of an upgrade: the package from which people set up the workspace. A manifest with its payloads, or a
    /// manifest alone.
    base: Option<AnyObject>,
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
        let doc = json_body::read(text)?;
        let root = doc.root();
        if !root.is_object() {
            return Err(json_body::not_an_object());
        }
        let id = |name: &str| root.get(name).and_then(Node::as_str).and_then(uuid);
        let name = "workspaceId";
        if root.get(name).is_none() {
            return Err(Refusal::fault(name, "is required"));
        }
        let workspace = id(name).ok_or_else(|| Refusal::fault(name, "is not a UUID"))?;
        Ok(Places {
            workspace,
            job: id("jobId"),
            base_job: id("baseJob"),
        })
    }
}

/// The member that holds a package in place of the template's.
pub(crate) const PACKAGE: &str = "package";
/// The member that holds the package that a workspace was set up by.
pub(crate) const BASE: &str = "base";

/// A body, taken apart: what was decided, and the packages in it.
#[derive(Debug)]
pub(crate) struct BodyParts {
    pub(crate) text: String,
    /// A package in place of the template's.
    pub(crate) package: Option<String>,
    /// The package that the workspace was set up by.
    pub(crate) base: Option<String>,
    /// The members that may hold packages.
    packages: &'static [&'static str],
}

impl BodyParts {
    /// Takes the body of an apply apart.
    ///
    /// # Errors
    /// 422 for a body that is not JSON, or a package that is not an object.
    pub(crate) fn of_apply(text: String) -> Result<BodyParts, Refusal> {
        BodyParts::read(text, &[BASE])
    }

    /// Takes the body of a plan apart.
    ///
    /// # Errors
    /// 422 for a body that is not JSON, or a package that is not an object.
    pub(crate) fn of_plan(text: String) -> Result<BodyParts, Refusal> {
        BodyParts::read(text, &[BASE, PACKAGE])
    }

    fn read(text: String, packages: &'static [&'static str]) -> Result<BodyParts, Refusal> {
        let doc = json_body::read(&text)?;
        let package_member = |name: &str| {
            let package = doc.root().get(name).filter(|_| packages.contains(&name));
            match package {
                Some(package) if !package.is_object() => {
                    Err(Refusal::fault(name, "has to be an object: a package"))
                }
                package => Ok(package.map(|package| package.raw().to_owned())),
            }
        };
        let (package, base) = (package_member(PACKAGE)?, package_member(BASE)?);
        if package.is_none() && base.is_none() {
            drop(doc);
            return Ok(BodyParts {
                text,
                package,
                base,
                packages,
            });
        }
        let rest = doc.root().members();
        let rest = rest.filter(|member| !member.key().is_some_and(|key| packages.contains(&key)));
        let rest = rest.map(|member| {
            let key = write_string(member.key().unwrap_or_default());
            format!("{key}:{}", member.raw())
        });
        Ok(BodyParts {
            text: format!("{{{}}}", rest.collect::<Vec<_>>().join(",")),
            package,
            base,
            packages,
        })
    }

    /// Reads what was decided about the package.
    ///
    /// # Errors
    /// 422 with everything that is wrong with it.
    pub(crate) fn request(&self) -> Result<Request, Refusal> {
        let request = Body::read(&self.text, self.packages)?;
        if self.base.is_some() && !request.upgrade {
            return Err(Refusal::fault(BASE, "belongs to `upgrade`"));
        }
        Ok(request)
    }
}

impl Body {
    /// Reads what was decided about the package.
    ///
    /// # Errors
    /// 422 with everything that is wrong with it.
    fn read(text: &str, taken: &[&str]) -> Result<Request, Refusal> {
        let doc = Doc::parse(text).map_err(|error| Refusal::fault("", error.to_string()))?;
        Request::read_beside(doc.root(), taken).map_err(|faults| refused(&faults))
    }
}
