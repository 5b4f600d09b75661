//! What stands for a value in a decision: the value, or its digest where it is long.

use sha2::{Digest as _, Sha256};

use crate::json::Value;
use crate::printable::hex;

/// The longest value, in bytes, that stands whole in a decision or a plan. Both use this one: what a plan cuts has to be
/// guarded by its digest, else a decision would lose what was cut.
pub(super) const MAX_WHOLE_BYTES: usize = 2048;

/// A value as a guard holds it.
pub fn guard(value: Value) -> Value {
    if value.write().len() > MAX_WHOLE_BYTES {
        return value_digest(&value);
    }
    value
}

/// What stands for a value that is too long for a decision, or that its form does not have.
pub fn value_digest(value: &Value) -> Value {
    format!("sha256:{}", digest(&value.write())).into()
}

/// The SHA-256 of a text, in hexadecimal.
pub(super) fn digest(text: &str) -> String {
    hex(Sha256::digest(text).as_slice())
}
