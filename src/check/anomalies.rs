//! J002 and J009: keys that stand twice, and U+0000.

use crate::finding::Finding;
use crate::finding::catalog::{J002, J009};
use crate::json::{Anomaly, Doc};

/// J002 and J009 of what was read as a tree.
pub(super) fn anomalies(doc: &Doc<'_>) -> Vec<Finding> {
    let say = |anomaly: &Anomaly| match *anomaly {
        Anomaly::DuplicateKey(id) => {
            let member = doc.node(id);
            let message = format!(
                "the key `{}` appears twice in this object",
                member.key().unwrap_or_default()
            );
            Finding::at_key(&J002, member, message)
        }
        Anomaly::NulInKey(id) => Finding::at_key(&J009, doc.node(id), "the key holds U+0000"),
        Anomaly::NulInString(id) => Finding::at(&J009, doc.node(id), "the text holds U+0000"),
    };
    doc.anomalies().iter().map(say).collect()
}
