//! A filter that no index serves, next to the same filter over plain columns, on SQLite: both look at every
//! row. The table of the yardstick is that of the rows, with a column for each cell in place of the
//! document: the same keys, times and slots, in a file of its own.

use std::time::Instant;

use super::load::Connection;
use super::server::{Indexed, Server};
use super::{Options, median};

const ROUNDS: usize = 31;

const PLAIN: &str = "ATTACH 'FILE' AS served;
    CREATE TABLE plain (
        organization_id BLOB NOT NULL, workspace_id BLOB NOT NULL, feature_id BLOB NOT NULL,
        id BLOB NOT NULL, created_by BLOB, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
        code TEXT, name TEXT, city TEXT, amount REAL, note TEXT, s1 TEXT, s2 TEXT, s3 TEXT,
        PRIMARY KEY (organization_id, feature_id, id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO plain SELECT organization_id, workspace_id, feature_id, id, created_by, created_at,
        updated_at, data ->> 'code', data ->> 'name', data ->> 'city', data ->> 'amount',
        data ->> 'note', s1, s2, s3 FROM served.rows;";

pub(crate) fn report(options: &Options) {
    println!("SQLite, {} rows, every one looked at", options.rows);
    let server = Server::on_sqlite(options.rows, Indexed::Views);
    let file = server.file().expect("a file");
    let bare = file.with_file_name("plain.db");
    let plain = rusqlite::Connection::open(bare).expect("opens");
    plain
        .execute_batch(&PLAIN.replace("FILE", &file.display().to_string()))
        .expect("copies");
    let first = "SELECT organization_id, feature_id FROM plain LIMIT 1";
    let place: (Vec<u8>, Vec<u8>) = plain
        .query_row(first, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("a row");
    let note = "Called on day 7 about order 7.";
    let path = format!(
        "rows:aggregate?op=count&filter=note:eq:{}",
        note.replace(' ', "%20")
    );
    let request = server.get(&path);
    let mut connection = Connection::open(server.address);
    let timed = |scan: &mut dyn FnMut()| {
        let began = Instant::now();
        scan();
        began.elapsed().as_secs_f64() * 1e6
    };
    // In turns: the speed of a machine changes within seconds.
    let rounds = (0..ROUNDS).map(|_| {
        let yardstick = timed(&mut || {
            let sql = "SELECT count(*) FROM plain WHERE organization_id = ?1 AND feature_id = ?2 AND note = ?3";
            let parameters = (&place.0, &place.1, note);
            let found = plain.query_row(sql, parameters, |row| row.get::<_, i64>(0));
            found.expect("counts");
        });
        let ours = timed(&mut || {
            let (status, response) = connection.ask(&request);
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&response));
        });
        (ours, yardstick)
    });
    let rounds: Vec<(f64, f64)> = rounds.collect();
    let (_, ours, _) = median(rounds.iter().map(|(ours, _)| *ours));
    let (_, yardstick, _) = median(rounds.iter().map(|(_, yardstick)| *yardstick));
    let (least, ratio, most) = median(rounds.iter().map(|(ours, yardstick)| ours / yardstick));
    println!(
        "  unindexed filter {ours:>9.0} µs, plain columns {yardstick:>9.0} µs   {ratio:.2} x ({least:.2} to {most:.2})"
    );
}
