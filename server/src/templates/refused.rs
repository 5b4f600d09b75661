//! What the library has against a body, as the refusal of a request.

use tplkit::apply::Refusal;

use crate::http::problem::{Code, Fault, Problem};

/// All refusals as one: the code of the first, and a fault for each. There is at least one.
pub(super) fn refused(refusals: &[Refusal]) -> Problem {
    let first = refusals.first();
    let code = first.map_or(Code::ValidationFailed, |refusal| refusal.code);
    let faults = refusals.iter().map(|refusal| Fault {
        path: place(refusal),
        code: refusal.code.as_str(),
        message: refusal.detail.clone(),
    });
    let details = refusals.iter().take(3).map(|refusal| &*refusal.detail);
    let mut told = details.collect::<Vec<_>>().join(" ");
    if refusals.len() > 3 {
        told.push_str(&format!(" And {} more.", refusals.len() - 3));
    }
    let mut problem = Problem::new(code, told).with_errors(faults.collect());
    problem.reference = first.and_then(|refusal| refusal.reference.clone());
    problem
}

/// Where it is in the body: what is wrong with the shape of a body begins with its place, in
/// backticks; what a package has against it is about a ref.
fn place(refusal: &Refusal) -> String {
    let quoted = refusal.detail.strip_prefix('`');
    let quoted = quoted.and_then(|rest| rest.split_once('`'));
    match (quoted, &refusal.reference) {
        (Some((place, _)), _) => place.to_owned(),
        (None, Some(reference)) => reference.clone(),
        (None, None) => String::new(),
    }
}
