//! How fast rows are served, as ratios against yardsticks measured in the same run.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

mod load;
mod pocketbase;
mod rows;

use std::time::Duration;

fn main() {
    let program = pocketbase::program().expect("pb");
    let base = pocketbase::PocketBase::start(&program, 100_000);
    let records = "/api/collections/bench/records";
    let time = Duration::from_secs(4);
    let by_id = load::run(base.address, 8, time, 200, |w, n| {
        base.get(&format!(
            "{records}/{}",
            base.ids[rows::mixed(w * 7919 + n) % base.ids.len()]
        ))
    });
    println!("by id {by_id:?}");
    let page = load::run(base.address, 8, time, 200, |w, n| {
        let name = rows::name(rows::mixed(w * 7919 + n) % 100_000);
        base.get(&format!(
            "{records}?perPage=25&skipTotal=1&sort=-amount&filter=name%3D%22{}%22",
            name.replace(' ', "%20")
        ))
    });
    println!("filter+sort {page:?}");
    let page = load::run(base.address, 8, time, 200, |_, _| {
        base.get(&format!("{records}?perPage=25&skipTotal=1&sort=-amount"))
    });
    println!("sort {page:?}");
    let page = load::run(base.address, 8, time, 200, |_, _| {
        base.get(&format!("{records}?perPage=1&filter=city%3D%22Porto%22"))
    });
    println!("count {page:?}");
    let page = load::run(base.address, 8, time, 200, |_, n| {
        base.post(records, &rows::data(n))
    });
    println!("insert {page:?}");
    let page = load::run(base.address, 8, time, 200, |_, n| {
        base.post("/api/batch", &pocketbase::batch_of(n * 500, 500))
    });
    println!("batch {page:?}");
}
