//! What an apply is decided from.

use crate::apply::{JobHistory, Request};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::workspace::Structure;

/// What an apply is decided from.
#[derive(Debug, Clone, Copy)]
pub struct ResolveInput<'q, 't> {
    /// The package.
    pub package: &'q Checked<'t>,
    /// How it is to be applied.
    pub request: &'q Request,
    /// The structure of the workspace as it is now.
    pub destination: &'q Structure,
    /// The completed jobs that this one continues, and the job itself as far as it got.
    pub past: JobHistory<'q>,
    /// The definitions of the destination.
    pub definitions: &'q Definitions,
}

impl<'q, 't> ResolveInput<'q, 't> {
    /// The request of an upgrade, completed by what the package that it starts from decided.
    pub(super) fn completed(&self) -> Option<Request> {
        let base = self.past.base.filter(|_| self.request.upgrade)?;
        Some(base.completed(self.request, self.package, self.destination))
    }

    /// The same with another request, if there is one.
    pub(super) fn with_request<'r>(self, request: Option<&'r Request>) -> ResolveInput<'r, 't>
    where
        'q: 'r,
    {
        ResolveInput {
            request: request.unwrap_or(self.request),
            ..self
        }
    }
}
