//! Names and types of files in the heads of a mail's parts.

use serde_json::json;

use super::{Post, parts};
use crate::api::runs::ended;
use crate::stores::{Place, on_both_stores};

on_both_stores!(a_name_that_looks_encoded_is_sent_as_it_is,);

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
