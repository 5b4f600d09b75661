//! Turns the library's refusals of a body into the refusal of a request.

use tplkit::apply;

use crate::refusal::{Code, Fault, Loss, Refusal};

/// All refusals as one: the code of the first, and a fault for each. There is at least one.
pub(super) fn refused(refusals: &[apply::Refusal]) -> Refusal {
    let first = refusals.first();
    let code = first.map_or(Code::ValidationFailed, |refusal| refusal.code);
    let faults = refusals.iter().map(|refusal| Fault {
        path: path(refusal),
        code: refusal.code.as_str(),
        message: refusal.detail.clone(),
    });
    let details = refusals.iter().take(3).map(|refusal| &*refusal.detail);
    let mut detail = details.collect::<Vec<_>>().join(" ");
    if let Some(more) = refusals.len().checked_sub(3).filter(|more| *more > 0) {
        detail = format!("{detail} And {more} more.");
    }
    let mut refusal = Refusal::new(code, detail).with_errors(faults.collect());
    let loss = Loss {
        cells: sum(refusals, |refusal| refusal.cells),
        rows: sum(refusals, |refusal| refusal.rows),
    };
    let none = loss.cells.is_none() && loss.rows.is_none();
    refusal.loss = (!none).then(|| Box::new(loss));
    refusal.reference = first.and_then(|refusal| refusal.reference.as_deref().map(Into::into));
    refusal
}

/// What all of them would lose, where one of them says it.
fn sum(refusals: &[apply::Refusal], of: impl Fn(&apply::Refusal) -> Option<u64>) -> Option<u64> {
    refusals
        .iter()
        .filter_map(of)
        .reduce(|one, other| one + other)
}

/// A place as clients write it: `features[0]`, where packages say `features.0`.
fn in_brackets(dotted: &str) -> String {
    let mut place = String::with_capacity(dotted.len() + 2);
    for segment in dotted.split('.') {
        if !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit()) {
            place.extend(["[", segment, "]"]);
        } else {
            if !place.is_empty() {
                place.push('.');
            }
            place.push_str(segment);
        }
    }
    place
}

/// Where it is in the body: what is wrong with the shape of a body begins with its place, in
/// backticks; what a package has against it is about a ref.
fn path(refusal: &apply::Refusal) -> String {
    let quoted = refusal.detail.strip_prefix('`');
    let quoted = quoted.and_then(|rest| rest.split_once('`'));
    match (quoted, &refusal.reference) {
        // The path of a leaf is the same everywhere.
        (Some((place, _)), _) if place.starts_with("decisions.") => place.to_owned(),
        (Some((place, _)), _) => in_brackets(place),
        (None, Some(reference)) => reference.clone(),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use tplkit::apply;

    use super::refused;
    use crate::refusal::Code;

    #[test]
    fn a_place_is_reported_as_in_the_body() {
        let refusal = |reference: Option<&str>, detail: &str| apply::Refusal {
            reference: reference.map(str::to_owned),
            ..apply::Refusal::new(Code::ValidationFailed, detail)
        };
        for (reference, detail, place) in [
            (None, "`features.0` is not an id.", "features[0]"),
            (
                None,
                "`resolutions.f_a.columns.c_b` is 1.",
                "resolutions.f_a.columns.c_b",
            ),
            (Some("f_a"), "The table is not there.", "f_a"),
            (Some("f_a"), "`resolutions` has both.", "resolutions"),
            (None, "The body is not an object.", ""),
        ] {
            let refusal = refused(&[refusal(reference, detail)]);
            assert_eq!(refusal.errors()[0].path, place, "{detail}");
            assert_eq!(refusal.reference.as_deref(), reference);
        }
    }
}
