//! Names and types of files in the heads of a mail's parts.

use serde_json::{Value, json};

use super::{Post, parts};
use crate::api::runs::ended;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_name_that_looks_encoded_is_sent_as_it_is,
    a_dry_run_shows_the_types_that_are_sent,
);

async fn a_name_that_looks_encoded_is_sent_as_it_is(place: Place) {
    let post = Post::new(place).await;
    post.columns(&["photo"]);
    // Decoded by a reader: `../a`.
    let file = post.file("%3D%3Futf-8%3FB%3FLi4vYQ%3D%3D%3F%3D.txt", b"x");
    let row = post
        .stage
        .row(&post.stage.model.feature, &json!({"photo": file}));
    let it = post
        .published(&post.stage.editor, &json!({"attachFiles": true}))
        .await;
    let run = post.sent(&it, &row).await;
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    let mails = post.sink.mails();
    let text = &mails.last().expect("a mail").text;
    assert!(text.contains("filename*0*=utf-8''%3D%3Futf%2D8"), "{text}");
    assert!(!text.contains("=?utf-8?B?Li4vYQ"), "{text}");
    let (_, attached) = parts(&post.sink);
    let names: Vec<&str> = attached.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!(names, ["=?utf-8?B?Li4vYQ==?=.txt"]);
}

async fn a_dry_run_shows_the_types_that_are_sent(place: Place) {
    let post = Post::new(place).await;
    let octets = "application/octet-stream";
    let types = [
        ("text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        ("text/html", "text/html"),
        // What makes mails does not read every parameter of HTTP.
        ("application/x; a=\"b\\\"c\"", "application/x"),
        ("multipart/mixed; boundary=x", octets),
        ("message/rfc822", octets),
    ];
    let names: Vec<String> = (0..types.len()).map(|at| format!("f{at}")).collect();
    post.columns(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let cells = names.iter().zip(types).map(|(name, (stored, _))| {
        let file = post.typed(name, stored, name.as_bytes());
        (name.clone(), json!(file))
    });
    let cells: serde_json::Map<String, Value> = cells.collect();
    let row = post.stage.row(&post.stage.model.feature, &json!(cells));
    let it = post
        .published(&post.stage.editor, &json!({"attachFiles": true}))
        .await;
    let run = post.run(&it, &row, true, &post.stage.world.app.files).await;
    let listed = run["steps"][0]["output"]["attachments"]
        .as_array()
        .expect("a list");
    let shown: Vec<&str> = listed
        .iter()
        .map(|file| file["content_type"].as_str().expect("a type"))
        .collect();
    assert_eq!(shown, types.map(|(_, sent)| sent));
    let run = post.sent(&it, &row).await;
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    let bare = |text: &str| text.split(';').next().unwrap_or_default().to_owned();
    let sent: Vec<String> = parts(&post.sink).1.into_iter().map(|part| part.0).collect();
    assert_eq!(sent, types.map(|(_, sent)| bare(sent)));
}
