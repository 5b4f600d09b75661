//! The server's own memory on SQLite, while 64 connections ask and write.

use super::load::{self, Request};
use super::server::{Indexed, Server};
use super::{Options, rows};

const CONNECTIONS: usize = 64;

pub(crate) fn report(options: &Options) {
    println!("SQLite, {} rows, {CONNECTIONS} connections", options.rows);
    let server = Server::on_sqlite(options.rows, Indexed::Views);
    let megabytes = || server.resident() >> 20;
    println!("  {} MB, filled", megabytes());
    let count = server.ids.len();
    let next = |worker: usize, n: usize| -> Request {
        let at = rows::mixed(worker * 7919 + n) % count;
        match n % 4 {
            0 => server.get(&format!("rows/{}", server.ids[at])),
            1 => server.get("rows?limit=200"),
            2 => server.get("rows?sort=-amount"),
            _ => {
                let name = rows::name(at).replace(' ', "%20");
                server.get(&format!("rows?filter=name:eq:{name}&sort=amount"))
            }
        }
    };
    load::run(server.address, CONNECTIONS, options.time, 200, next);
    println!("  {} MB, after reads", megabytes());
    load::run(server.address, CONNECTIONS, options.time, 201, |_, n| {
        server.post("rows", &serde_json::json!({"data": rows::data(n)}))
    });
    println!("  {} MB, after inserts", megabytes());
}
