//! Explains a rule of the catalog, by code or name; without one it lists them all.
//!
//! `cargo run --example explain_rule -- unknown-parent`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use tplkit::finding::catalog;

fn main() {
    let wanted = std::env::args().nth(1);
    match wanted
        .as_deref()
        .map(|wanted| (wanted, catalog::find(wanted)))
    {
        None => {
            for rule in catalog::RULES {
                println!(
                    "{} {:8} {}: {}",
                    rule.code,
                    rule.severity.as_str(),
                    rule.name,
                    rule.summary
                );
            }
        }
        Some((_, Some(rule))) => println!("{} {}\n\n{}", rule.code, rule.name, rule.page),
        Some((wanted, None)) => println!("there is no rule {wanted:?}"),
    }
}
