//! What a store takes at best: rows of the same text, with nothing beside them.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use bytes::Bytes;
use futures_util::SinkExt as _;
use rusqlite::Connection;

/// Seconds for a bare table, 500 rows to a transaction that survives a power cut.
pub(super) fn bare_sqlite(folder: &Path, texts: &[String]) -> f64 {
    let mut connection = Connection::open(folder.join("bare.db")).expect("opens");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE bare (organization_id BLOB NOT NULL, feature_id BLOB NOT NULL,
                 id BLOB NOT NULL, created_at INTEGER NOT NULL, data TEXT NOT NULL,
                 PRIMARY KEY (organization_id, feature_id, id)) STRICT, WITHOUT ROWID;",
        )
        .expect("creates");
    let begun = Instant::now();
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
    begun.elapsed().as_secs_f64()
}

/// Seconds for one `COPY` into a table with the same key.
pub(super) async fn copy_postgres(url: &str, texts: &[String]) -> f64 {
    let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
    let (client, connection) = connected.expect("connects");
    tokio::spawn(connection);
    let table = "CREATE TABLE bare (organization_id uuid, feature_id uuid, id uuid, \
         created_at bigint, data json, PRIMARY KEY (organization_id, feature_id, id))";
    client.batch_execute(table).await.expect("creates");
    let begun = Instant::now();
    let sink = client
        .copy_in("COPY bare FROM STDIN")
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
    begun.elapsed().as_secs_f64()
}
