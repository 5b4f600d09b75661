//! What a store takes at best: rows of the same text, with nothing next to them.

use std::fmt::Write as _;
use std::path::Path;

use bytes::Bytes;
use futures_util::SinkExt as _;
use rusqlite::Connection;

use super::{RecordWatch, Took};

/// A bare table, 500 rows to a transaction; `FULL` ones survive a power cut.
pub(super) fn bare_sqlite(folder: &Path, texts: &[String], synchronous: &str) -> Took {
    let mut connection = Connection::open(folder.join(format!("{synchronous}.db"))).expect("opens");
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
             CREATE TABLE bare (organization_id BLOB NOT NULL, feature_id BLOB NOT NULL,
                 id BLOB NOT NULL, created_at INTEGER NOT NULL, data TEXT NOT NULL,
                 PRIMARY KEY (organization_id, feature_id, id)) STRICT, WITHOUT ROWID;"
        ))
        .expect("creates");
    let begun = RecordWatch::start();
    let mut number: u128 = 0;
    for batch in texts.chunks(500) {
        let transaction = connection.transaction().expect("begins");
        let sql = "INSERT INTO bare VALUES (?1, ?1, ?2, 1, ?3)";
        let mut insert = transaction.prepare_cached(sql).expect("prepares");
        for text in batch {
            number += 1;
            insert
                .execute((&[7_u8; 16][..], &number.to_be_bytes()[..], text))
                .expect("inserts");
        }
        drop(insert);
        transaction.commit().expect("commits");
    }
    begun.took()
}

/// What rows are copied into: a table with the same key, and one that is made like the real one.
pub(super) const TABLES: [(&str, &str); 2] = [
    (
        "one COPY into a bare table",
        "CREATE TABLE bare (organization_id uuid, feature_id uuid, id uuid, created_at bigint, \
         data json, PRIMARY KEY (organization_id, feature_id, id))",
    ),
    (
        "one COPY into a table like the real one",
        "DROP TABLE bare; \
         CREATE TABLE bare (LIKE main.rows INCLUDING ALL); \
         ALTER TABLE bare ALTER workspace_id SET DEFAULT '00000000-0000-0000-0000-000000000007', \
         ALTER created_by SET DEFAULT '00000000-0000-0000-0000-000000000007', \
         ALTER updated_at SET DEFAULT 1; \
         CREATE TABLE parent (organization_id uuid, id uuid, PRIMARY KEY (organization_id, id)); \
         INSERT INTO parent VALUES ('00000000-0000-0000-0000-000000000007', \
         '00000000-0000-0000-0000-000000000007'); \
         ALTER TABLE bare ADD FOREIGN KEY (organization_id, feature_id) \
         REFERENCES parent (organization_id, id)",
    ),
];

/// One `COPY` into such a table.
pub(super) async fn copy_postgres(url: &str, table: &str, texts: &[String]) -> Took {
    let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
    let (client, connection) = connected.expect("connects");
    tokio::spawn(connection);
    client.batch_execute(table).await.expect("creates");
    let begun = RecordWatch::start();
    let sink = client
        .copy_in("COPY bare (organization_id, feature_id, id, created_at, data) FROM STDIN")
        .await
        .expect("begins");
    let mut sink = std::pin::pin!(sink);
    let organization = uuid::Uuid::from_u128(7);
    for (at, batch) in texts.chunks(500).enumerate() {
        let mut lines = String::new();
        for (n, text) in batch.iter().enumerate() {
            let id = uuid::Uuid::from_u128((at * 500 + n) as u128);
            let text = text.replace('\\', "\\\\");
            let _ = writeln!(lines, "{organization}\t{organization}\t{id}\t1\t{text}");
        }
        sink.send(Bytes::from(lines)).await.expect("sends");
    }
    sink.finish().await.expect("ends");
    begun.took()
}
