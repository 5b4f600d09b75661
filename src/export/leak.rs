//! Finds texts that a package must not contain: ids of the source, and text that looks like a ref.

use crate::definitions::ReferenceKind;
use crate::package::reference::{self, prefix};
use crate::package::uid::{foreign_uuid, is_step_id, is_uuid};

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leak {
    /// All of it is an id.
    Id,
    /// Ids are in it; the text without them.
    Inside(String),
    /// All of it reads as the use of a ref, which the source has none of.
    ReadsAsRef(ReferenceKind),
}

/// What is wrong with a text, if anything is.
pub(super) fn of(text: &str) -> Option<Leak> {
    if is_uuid(text) {
        return Some(Leak::Id);
    }
    if foreign_uuid(text).is_some() {
        return Some(Leak::Inside(without_ids(text)));
    }
    let name = reference::used(text)?;
    Some(Leak::ReadsAsRef(match prefix(name) {
        "f" => ReferenceKind::Feature,
        "c" => ReferenceKind::Column,
        "v" => ReferenceKind::View,
        "r" => ReferenceKind::Rail,
        "m" => ReferenceKind::Module,
        "connection" => ReferenceKind::Connection,
        "timerprofile" => ReferenceKind::TimerProfile,
        _ => ReferenceKind::WorkflowV2,
    }))
}

/// The text with every id cut out.
pub(super) fn without_ids(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some(id) = foreign_uuid(&text).map(str::to_owned) {
        text = text.replacen(&id, "", 1);
    }
    text
}

/// The text as a label of the package: never an id or a ref, nothing when nothing is left.
pub(super) fn label(text: &str) -> Option<String> {
    let label = match of(text) {
        Some(Leak::ReadsAsRef(_)) => text.trim_start_matches('$').to_owned(),
        _ => without_ids(text),
    };
    let identity = label.strip_prefix("u_").is_some_and(is_uuid) || is_step_id(&label);
    (!label.trim().is_empty() && !identity).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::{Leak, label, of, without_ids};
    use crate::definitions::ReferenceKind;

    const ID: &str = "da94e3e8-ab73-138f-af18-22ffbc688778";

    #[test]
    fn ids_and_refs_are_reported_from_text() {
        assert_eq!(of("$100 for you"), None);
        assert_eq!(of("u_da94e3e8-ab73-438f-af18-22ffbc688778"), None);
        assert_eq!(of(ID), Some(Leak::Id));
        let inside = format!("/f/{ID}?x={ID}");
        assert_eq!(of(&inside), Some(Leak::Inside("/f/?x=".to_owned())));
        let reads = of("$c_name");
        assert_eq!(reads, Some(Leak::ReadsAsRef(ReferenceKind::Column)));
        assert!(of("$workspace").is_some());
    }

    #[test]
    fn cutting_leaves_no_id_that_the_cut_made() {
        // What stood around the first id is an id again.
        let nested = format!("da94e3e8-ab73-{ID}138f-af18-22ffbc688778");
        assert_eq!(of(&without_ids(&nested)), None, "{nested}");
    }

    #[test]
    fn a_label_is_never_an_id() {
        assert_eq!(label(ID), None);
        assert_eq!(label("stp_n8zgRboutP7T"), None);
        assert_eq!(label("Board").as_deref(), Some("Board"));
        assert_eq!(label("$f_board").as_deref(), Some("f_board"));
        assert_eq!(label("$ 5").as_deref(), Some("$ 5"));
    }
}
