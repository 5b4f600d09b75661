//! Ten thousand sockets that do nothing leave the service usable: a server as it is started, with its
//! own limits, on both stores.

use std::net::TcpStream;

use serde_json::json;
use socket2::SockRef;

use crate::api::client::Client;
use crate::process::{EMAIL, SECRET, Serving, owner};
use crate::stores::{Place, on_both_stores};

on_both_stores!(ten_thousand_idle_sockets_leave_room);

const FLOOD: usize = 10_000;

async fn ten_thousand_idle_sockets_leave_room(place: Place) {
    // Some for this process itself.
    let files = rlimit::increase_nofile_limit(u64::MAX).expect("a limit");
    let flood = FLOOD.min(usize::try_from(files).unwrap_or(FLOOD).saturating_sub(200));
    let url = place.url.clone();
    let flooded = tokio::task::spawn_blocking(move || flooded(&url, flood));
    flooded.await.expect("holds");
}

fn flooded(url: &str, flood: usize) {
    let serving = Serving::start(url);
    owner(url);
    let client = Client::new(serving.address.parse().expect("an address"));
    let body = json!({"email": EMAIL, "password": SECRET});
    let tokens = client.post("/v1/auth/token", &body).expect(200).json();
    let client = client.with(tokens["access_token"].as_str().expect("a token"));
    let mut idle = Vec::new();
    for number in 1..=flood {
        let stream = TcpStream::connect(&serving.address).expect("connects");
        // Leaves nothing behind on this machine when it is closed.
        let linger = Some(std::time::Duration::ZERO);
        SockRef::from(&stream).set_linger(linger).expect("a socket");
        idle.push(stream);
        if number % 2_500 == 0 {
            client.get("/v1/health").expect(200);
        }
    }
    // The server responds, also to what needs the store.
    client.get("/v1/ready").expect(200);
    let me = client.get("/v1/me").expect(200).json();
    let organization = &me["organizations"][0]["id"];
    let body = json!({"organization_id": organization, "label": "In the flood"});
    client.post("/v1/workspaces", &body).expect(201);
    drop(idle);
    client.get("/v1/ready").expect(200);
}
