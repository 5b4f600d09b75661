//! Digests that identify a finding after edits of the file.
//!
//! They leave out lines, columns and offsets, which change with every edit above them.

use super::Located;

/// A digest of the message alone, for keys that hold path, code and pointer in the clear.
pub(super) fn message(finding: &Located) -> String {
    hex(&[finding.message.as_bytes()])
}

/// A digest of the whole identity of a finding; `occurrence` tells equal ones apart, from 0.
pub(super) fn finding(path: &str, finding: &Located, occurrence: usize) -> String {
    let occurrence = occurrence.to_string();
    let parts = [
        path,
        finding.rule.code,
        &finding.spot.pointer,
        &finding.message,
        &occurrence,
    ];
    hex(&parts.map(str::as_bytes))
}

/// FNV-1a of 128 bits: no secret is kept with it, it only has to stay the same for ever.
fn hex(parts: &[&[u8]]) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;
    let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
    // A byte that UTF-8 never has keeps the parts apart.
    let hash = parts.iter().fold(BASIS, |hash, part| {
        step(part.iter().fold(hash, step), &0xFF)
    });
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn parts_are_kept_apart_and_the_value_never_changes() {
        assert_ne!(hex(&[b"ab", b"c"]), hex(&[b"a", b"bc"]));
        assert_eq!(hex(&[b"a"]), "0880954550ab1be95aa0733055b751b9");
    }
}
