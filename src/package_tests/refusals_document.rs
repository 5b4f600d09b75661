//! Refusals, as tests compare them.

use crate::apply::Refusal;
use crate::json::Value;

/// What is found instead of an apply that was refused.
pub fn refusals_document(refusals: &[Refusal]) -> Value {
    let texts = refusals.iter().map(|refusal| {
        let about = refusal.reference.as_deref().unwrap_or_default();
        let text = format!("{} {about}: {}", refusal.code, refusal.detail);
        Value::from(text.replacen(" :", ":", 1))
    });
    Value::List(texts.collect())
}
