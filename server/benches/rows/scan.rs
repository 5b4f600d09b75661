//! A filter that no index serves, beside the same filter over a table of plain columns, on SQLite: both
//! look at every row.

use std::time::Instant;

use rusqlite::Connection;

use super::Options;
use super::load;
use super::server::{Server, Uniqueness};

const ROUNDS: usize = 15;

pub(crate) fn tell(options: &Options) {
    println!("SQLite, {} rows, every one looked at", options.rows);
    let server = Server::on_sqlite(options.rows, Uniqueness::None);
    let file = server.file().expect("a file");
    let plain = Connection::open(file).expect("opens");
    plain
        .execute_batch(
            "CREATE TEMP TABLE plain AS SELECT id, data ->> 'code' AS code, data ->> 'name' AS name,
             data ->> 'city' AS city, data ->> 'amount' AS amount, data ->> 'note' AS note FROM main.rows",
        )
        .expect("copies");
    let note = "Called on day 7 about order 7.";
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            let sql = "SELECT count(*) FROM temp.plain WHERE note = ?1";
            let found = plain.query_row(sql, [note], |row| row.get::<_, i64>(0));
            found.expect("counts");
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let yardstick = times[ROUNDS / 2];
    let path = format!(
        "rows:aggregate?op=count&filter=note:eq:{}",
        note.replace(' ', "%20")
    );
    let seen = load::run(server.address, 1, options.time, 200, |_, _| {
        server.get(&path)
    });
    println!(
        "  unindexed filter {:>9.0} µs, plain columns {yardstick:>9.0} µs   {:.2} x",
        seen.median,
        seen.median / yardstick
    );
}
