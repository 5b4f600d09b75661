//! Turns the library's refusals of a body into the refusal of a request.

use tplkit::apply;

use crate::refusal::{Code, Fault, Loss, Refusal, cut_path};

/// All refusals as one: the code of the first, and a fault for each. There is at least one.
pub(super) fn refused(refusals: &[apply::Refusal]) -> Refusal {
    let first = refusals.first();
    let code = first.map_or(Code::ValidationFailed, |refusal| refusal.code);
    let faults = refusals.iter().map(|refusal| Fault {
        path: path(refusal),
        code: refusal.code.as_str(),
        message: message(refusal),
    });
    let details = refusals.iter().take(3).map(message);
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
    match first.and_then(|refusal| refusal.reference.as_deref()) {
        Some(reference) => refusal.with_reference(reference),
        None => refusal,
    }
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

/// The place that it begins with, in backticks, and what follows. What is wrong with the shape of a body begins so.
fn split_place(refusal: &apply::Refusal) -> Option<(&str, &str)> {
    let quoted = refusal.detail.strip_prefix('`');
    quoted.and_then(|rest| rest.split_once('`'))
}

/// What is wrong, behind a place that is never so long that nothing follows.
fn message(refusal: &apply::Refusal) -> String {
    match split_place(refusal) {
        Some((place, rest)) => format!("`{}`{rest}", cut_path(place.to_owned())),
        None => refusal.detail.clone(),
    }
}

/// Where it is in the body: what a package has against it is about a ref.
fn path(refusal: &apply::Refusal) -> String {
    match (split_place(refusal), &refusal.reference) {
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

    #[test]
    fn a_long_place_leaves_room_for_what_is_wrong_there() {
        let long = "k".repeat(1 << 20);
        let detail = format!("`{long}` is nothing that a request has.");
        let refusal = apply::Refusal {
            reference: Some(long),
            ..apply::Refusal::new(Code::ValidationFailed, detail)
        };
        let refused = refused(&[(); 5].map(|()| refusal.clone()));
        let message = &refused.errors()[0].message;
        assert!(
            message.ends_with("k…` is nothing that a request has."),
            "{message}"
        );
        assert!(
            refused.detail().ends_with(" And 2 more."),
            "{}",
            refused.detail()
        );
        assert!(refused.errors()[0].path.len() < 400);
        assert!(
            refused
                .reference
                .is_some_and(|reference| reference.len() < 400)
        );
    }
}
