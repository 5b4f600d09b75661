//! Files that go along with mails, as a parser of mails that is not ours reads them.

mod heads;

use mail_parser::{MessageParser, MimeHeaders as _};
use serde_json::{Value, json};
use tplkit_server::automation::Settings;
use tplkit_server::files::{FileStorage, Files};

use super::integrations::settings;
use super::{Stage, ended};
use crate::api::client::Client;
use crate::api::files::made;
use crate::api::model::id;
use crate::api::workflows::{PATH, graph, workflow};
use crate::sinks::MailSink;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_files_of_the_row_go_along_in_the_order_of_its_columns,
    what_is_too_much_or_gone_fails_the_step,
    a_fixed_file_goes_along_where_the_run_sees_it,
    a_row_that_the_run_does_not_see_attaches_nothing,
);

/// Bytes that no line of a mail holds.
const BYTES: &[u8] = b"first\nsecond\r\n.\r\n\x00\xff\xfe";

struct Post {
    stage: Stage,
    sink: MailSink,
}

impl Post {
    async fn new(place: Place) -> Post {
        let stage = Stage::new(place).await;
        let sink = MailSink::start();
        stage.connection("post", "smtp", &sink.url, None).await;
        Post { stage, sink }
    }

    fn columns(&self, names: &[&str]) {
        let columns = format!("/v1/features/{}/columns", self.stage.model.feature);
        for name in names {
            let column = json!({"name": name, "label": name, "type": "file"});
            self.stage.editor.create(&columns, &column);
        }
    }

    fn typed(&self, name: &str, content_type: &str, bytes: &[u8]) -> String {
        let workspace = &self.stage.model.workspace;
        let path = format!("/v1/files?workspace_id={workspace}&name={name}");
        let headers = [("content-type", content_type)];
        let sent = self.stage.editor.send("POST", &path, &headers, Some(bytes));
        id(&sent.expect(201).json())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        self.typed(name, "image/png", bytes)
    }

    async fn published(&self, by: &Client, config: &Value) -> String {
        self.published_behind(by, &[], config).await
    }

    /// The same where other steps come first.
    async fn published_behind(&self, by: &Client, steps: &[Value], config: &Value) -> String {
        let mut step = json!({"key": "email.send", "config": {"to": "ana@acme.test", "subject": "s",
            "body": "<p>Olá</p>", "connectionName": "post"}});
        let members = config.as_object().expect("an object").clone();
        step["config"]
            .as_object_mut()
            .expect("an object")
            .extend(members);
        let steps = [steps, &[step]].concat();
        let body = json!({"workspace_id": self.stage.model.workspace, "name": "mail", "is_draft": false,
            "trigger_config": {"type": "manual"}, "graph_config": graph(&json!(steps))});
        let it = workflow(&by.create(PATH, &body));
        assert!(self.stage.world.switch(&it, true).await);
        it
    }

    /// Begins a run for a row, and executes it with the files of that place.
    async fn run(&self, it: &str, row: &str, dry_run: bool, files: &Files) -> Value {
        let feature = &self.stage.model.feature;
        let begin = json!({"row_id": row, "feature_id": feature, "dry_run": dry_run});
        let begun = self
            .stage
            .editor
            .post_to(it, "/runs", &begin)
            .expect(202)
            .json();
        let settings: Settings = settings();
        let executor = self.stage.executor_with(settings).attaching(files);
        executor.run_due().await.expect("runs");
        let path = format!("/v1/workflow-runs/{}", id(&begun));
        self.stage.editor.get(&path).expect(200).json()
    }

    async fn sent(&self, it: &str, row: &str) -> Value {
        self.run(it, row, false, &self.stage.world.app.files).await
    }
}

/// A type, a name and bytes.
type Part = (String, String, Vec<u8>);

/// What the last mail holds.
fn parts(sink: &MailSink) -> (String, Vec<Part>) {
    let mails = sink.mails();
    let text = &mails.last().expect("a mail").text;
    let message = MessageParser::default()
        .parse(text.as_bytes())
        .expect("a mail");
    let body = message.body_html(0).expect("a body").into_owned();
    let attached = message.attachments().map(|part| {
        let kind = part.content_type().expect("a type");
        let kind = format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default());
        let name = part.attachment_name().unwrap_or_default().to_owned();
        (kind, name, part.contents().to_vec())
    });
    (body.trim_end().to_owned(), attached.collect())
}

async fn the_files_of_the_row_go_along_in_the_order_of_its_columns(place: Place) {
    let post = Post::new(place).await;
    let stage = &post.stage;
    post.columns(&["photo", "scan", "again", "loose"]);
    let mail = post.typed("old.eml", "Message/RFC822", b"Subject: no\r\n\r\nno\r\n");
    let long =
        "%C3%84rger%20%22x%22%3B%20%E2%80%9Cy%E2%80%9D%20".to_owned() + &"n".repeat(120) + ".txt";
    let text = post.file(&long, BYTES);
    let fixed = post.file("fixed.txt", b"fixed");
    let loose = post.file("loose.txt", b"loose");
    let row = stage.row(
        &stage.model.feature,
        &json!({"photo": mail, "scan": text.to_uppercase(), "again": text}),
    );
    // A text that was not checked does not count as a use.
    let path = format!(
        "{}/{row}?merge=true&validate=off",
        Stage::rows(&stage.model.feature)
    );
    stage
        .editor
        .patch(&path, &json!({"data": {"loose": loose}}))
        .expect(200);
    let it = post
        .published(
            &stage.editor,
            &json!({"attachFiles": true, "attachmentFileId": fixed}),
        )
        .await;
    let run = post.sent(&it, &row).await;
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    assert_eq!(run["steps"][0]["output"]["note"], Value::Null);
    let name = "Ärger \"x\"; “y” ".to_owned() + &"n".repeat(120) + ".txt";
    let octets = "application/octet-stream".to_owned();
    let picture = "image/png".to_owned();
    let (body, attached) = parts(&post.sink);
    assert_eq!(body, "<p>Olá</p>");
    let expected = [
        (
            octets.clone(),
            "old.eml".to_owned(),
            b"Subject: no\r\n\r\nno\r\n".to_vec(),
        ),
        (picture.clone(), name.clone(), BYTES.to_vec()),
        (picture.clone(), "fixed.txt".to_owned(), b"fixed".to_vec()),
    ];
    assert_eq!(attached, expected);
    // A dry run shows them and sends nothing.
    let run = post.run(&it, &row, true, &stage.world.app.files).await;
    let listed = json!([
        {"id": mail, "name": "old.eml", "content_type": octets, "size": 19},
        {"id": text, "name": name, "content_type": picture, "size": BYTES.len()},
        {"id": fixed, "name": "fixed.txt", "content_type": picture, "size": 5},
    ]);
    assert_eq!(run["steps"][0]["output"]["attachments"], listed, "{run}");
    assert_eq!(post.sink.mails().len(), 1);
    // A row that uses nothing leaves the mail as it is.
    let empty = stage.row(&stage.model.feature, &json!({}));
    let it = post
        .published(&stage.editor, &json!({"attachFiles": true}))
        .await;
    let run = post.sent(&it, &empty).await;
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    assert_eq!(parts(&post.sink), ("<p>Olá</p>".to_owned(), Vec::new()));
}

async fn what_is_too_much_or_gone_fails_the_step(place: Place) {
    let post = Post::new(place).await;
    let stage = &post.stage;
    let names: Vec<String> = (0..21).map(|at| format!("f{at}")).collect();
    post.columns(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let cells = names
        .iter()
        .map(|name| (name.clone(), json!(post.file(name, name.as_bytes()))));
    let mut cells: serde_json::Map<String, Value> = cells.collect();
    let it = post
        .published(&stage.editor, &json!({"attachFiles": true}))
        .await;
    let full = stage.row(&stage.model.feature, &json!(cells));
    let run = post.sent(&it, &full).await;
    let (status, why) = ended(&run);
    assert!(status == "failed" && why.contains("21 files"), "{run}");
    cells.remove("f20");
    let fits = stage.row(&stage.model.feature, &json!(cells));
    let run = post.sent(&it, &fits).await;
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    assert_eq!(parts(&post.sink).1.len(), 20);
    // The objects are gone.
    let elsewhere = Files::in_place(Some(FileStorage::memory()));
    let run = post.run(&it, &fits, false, &elsewhere).await;
    let (status, why) = ended(&run);
    assert!(
        status == "failed" && why.contains("attachFiles") && why.contains("cannot be read"),
        "{run}"
    );
    let fixed = post.file("fixed", b"f");
    let config = json!({"attachmentFileId": fixed});
    let with_fixed = post.published(&stage.editor, &config).await;
    let run = post.run(&with_fixed, &fits, false, &elsewhere).await;
    let (status, why) = ended(&run);
    assert!(
        status == "failed" && why.contains("attachmentFileId") && why.contains("cannot be read"),
        "{run}"
    );
    // Five MiB twice is as much as there may be, and a byte more is too much.
    let half = post.file("half", &vec![1; 5 << 20]);
    let other = post.file("other", &vec![2; 5 << 20]);
    let byte = post.file("byte", b"b");
    let row = stage.row(&stage.model.feature, &json!({"f0": half, "f1": other}));
    let run = post.sent(&it, &row).await;
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    let sizes: Vec<usize> = parts(&post.sink)
        .1
        .iter()
        .map(|part| part.2.len())
        .collect();
    assert_eq!(sizes, [5 << 20, 5 << 20]);
    let row = stage.row(
        &stage.model.feature,
        &json!({"f0": half, "f1": other, "f2": byte}),
    );
    for dry_run in [false, true] {
        let run = post.run(&it, &row, dry_run, &stage.world.app.files).await;
        let (status, why) = ended(&run);
        assert!(
            status == "failed" && why.contains("10485761 bytes"),
            "{run}"
        );
    }
    assert_eq!(post.sink.mails().len(), 2);
}

async fn a_fixed_file_goes_along_where_the_run_sees_it(place: Place) {
    let post = Post::new(place).await;
    let stage = &post.stage;
    post.columns(&["photo"]);
    let owner = stage.world.as_user("owner@acme.test");
    let hidden = id(&made(&owner, &stage.model.workspace, "hidden", b"hidden"));
    let it = post
        .published(&owner, &json!({"attachmentFileId": hidden}))
        .await;
    let row = stage.row(&stage.model.feature, &json!({}));
    for dry_run in [false, true] {
        let run = post.run(&it, &row, dry_run, &stage.world.app.files).await;
        let (status, why) = ended(&run);
        assert!(
            status == "failed" && why.contains("names no file of this workspace"),
            "{run}"
        );
    }
    assert!(post.sink.mails().is_empty());
    // A row that the starter sees uses it now.
    let path = format!("{}/{row}?merge=true", Stage::rows(&stage.model.feature));
    owner
        .patch(&path, &json!({"data": {"photo": hidden}}))
        .expect(200);
    let run = post.sent(&it, &row).await;
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    assert_eq!(parts(&post.sink).1.len(), 1);
}

async fn a_row_that_the_run_does_not_see_attaches_nothing(place: Place) {
    let post = Post::new(place).await;
    let stage = &post.stage;
    post.columns(&["photo"]);
    let feature = &stage.model.feature;
    let owner = stage.world.as_user("owner@acme.test");
    let hidden = id(&made(&owner, &stage.model.workspace, "hidden", b"hidden"));
    let theirs = json!({"data": {"photo": hidden}});
    let theirs = id(&owner.create(&Stage::rows(feature), &theirs));
    stage.row(feature, &json!({"photo": post.file("mine", b"mine")}));
    let config = json!({"attachFiles": true});
    let of_row = post.published(&stage.editor, &config).await;
    let read = json!({"key": "feature.read", "config": {"featureId": feature}});
    let of_read = post.published_behind(&stage.editor, &[read], &config).await;
    let run_due = async || {
        let executor = stage.executor_with(settings());
        let executor = executor.attaching(&stage.world.app.files);
        executor.run_due().await.expect("runs");
    };
    // The row was seen when the run began, and is hidden when the mail goes.
    let begin = json!({"row_id": theirs, "feature_id": feature});
    let begun = stage.editor.post_to(&of_row, "/runs", &begin).expect(202);
    let own = json!({"config": {"rowAccess": "own"}});
    let table = format!("/v1/features/{feature}");
    owner.patch(&table, &own).expect(200);
    run_due().await;
    let path = format!("/v1/workflow-runs/{}", id(&begun.json()));
    let ended = owner.get(&path).expect(200).json();
    assert_ne!(ended["finished_at"], Value::Null, "{ended}");
    assert!(post.sink.mails().is_empty() || parts(&post.sink).1.is_empty());
    // The current row is the first that a step has read, and it reads those that the run sees.
    for (client, expected) in [(&stage.editor, "mine"), (&owner, "hidden")] {
        client.post_to(&of_read, "/runs", &json!({})).expect(202);
        run_due().await;
        let attached = parts(&post.sink).1;
        let names: Vec<&str> = attached.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, [expected]);
    }
}
