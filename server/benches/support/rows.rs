//! The rows that everything is measured on: a fixed series, alike for all stores.

use serde_json::{Value, json};

const CITIES: [&str; 12] = [
    "Lisboa", "Porto", "Braga", "Coimbra", "Faro", "Évora", "Aveiro", "Viseu", "Setúbal", "Leiria",
    "Guarda", "Beja",
];

/// A number that looks random and is not.
pub(crate) fn mixed(n: usize) -> usize {
    let n = (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    usize::try_from((n ^ (n >> 29)) >> 8).unwrap_or(0)
}

/// The name that row `n` has.
pub(crate) fn name(n: usize) -> String {
    format!("Customer {:06}", mixed(n) % 1_000_000)
}

/// The data of row `n`.
pub(crate) fn data(n: usize) -> Value {
    json!({
        "code": format!("C-{n:07}"),
        "name": name(n),
        "city": CITIES[mixed(n) % CITIES.len()],
        "amount": (mixed(n + 7) % 10_000_000) as f64 / 100.0,
        "note": format!("Called on day {} about order {}.", mixed(n) % 365, mixed(n + 1) % 99_999),
    })
}
