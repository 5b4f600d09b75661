//! How fast rows travel: run by hand, in release.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures and tells"
)]

use std::time::Instant;

use serde_json::json;

use crate::exported::with_rows;
use crate::space::Space;

#[test]
#[ignore = "measures; run it in release with --nocapture"]
fn a_hundred_thousand_linked_rows() {
    const ROWS: usize = 5000;
    let mut space = Space::new();
    let tables: Vec<_> = (0..20).map(|at| space.table(&format!("t{at}"))).collect();
    for (at, table) in tables.iter().enumerate() {
        space.text(*table, "code");
        space.text(*table, "name");
        space.column(*table, "amount", "currency", &json!({}));
        space.column(*table, "date", "date", &json!({}));
        space.column(*table, "done", "boolean", &json!({}));
        space.link(*table, "peer", tables[(at + 1) % 20], "code");
        space.link(*table, "peers", tables[(at + 7) % 20], "code");
        for row in 0..ROWS {
            let other = (row * 31) % ROWS;
            space.row(*table, &json!({
                "code": format!("C-{row:05}"), "name": format!("Name of row {row}"), "amount": row,
                "date": "2026-03-01", "done": row % 2 == 0, "peer": format!("C-{other:05}"),
                "peers": [format!("C-{:05}", row / 2), format!("C-{:05}", row / 3)],
            }));
        }
    }
    let memory = space.memory();
    let clock = tplkit::context::Fixed("2026-03-01T09:30:00Z".parse().unwrap());
    for _ in 0..5 {
        let start = Instant::now();
        let definitions = tplkit::definitions::Definitions::embedded();
        let mut ids = tplkit::context::Seeded::new(1);
        let selection = with_rows();
        let export = tplkit::export::export(&memory, &selection, &clock, &mut ids, definitions);
        let text = tplkit::workspace::ready(export).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let rate = (20 * ROWS) as f64 / seconds;
        println!(
            "{rate:.0} rows/s, {} MB in {seconds:.3} s",
            text.len() >> 20
        );
    }
}
