//! How far a number in a cell moves the sequence of its column.

/// Numbers from here on move no sequence when they are given: so nobody uses one up with a single cell.
pub(super) const LAST: i64 = i64::MAX / 2;

/// The first integer above a canonical number, where a sequence counts so far.
pub(super) fn floor(number: &str) -> Option<i64> {
    let whole = number.split('.').next()?;
    let whole: i64 = whole.parse().ok()?;
    (0..LAST).contains(&whole).then(|| whole + 1)
}
