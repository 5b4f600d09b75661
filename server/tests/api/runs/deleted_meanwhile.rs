//! An automation that is deleted while its run is executed: the run goes with it, which is no error.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing::Level;
use tracing::instrument::WithSubscriber as _;

use super::Stage;
use super::integrations::settings;
use super::neighbours::until;
use crate::api::workflows::path;
use crate::sinks::SlowPartner;
use crate::stores::{Place, on_both_stores};

on_both_stores!(a_run_that_goes_while_its_step_is_done_logs_no_error);

/// What was logged.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("whole").clone()).expect("UTF-8")
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("whole").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn a_run_that_goes_while_its_step_is_done_logs_no_error(place: Place) {
    let stage = Stage::new(place).await;
    for (name, more) in [("one", None), ("two", Some("delay"))] {
        let partner = SlowPartner::start();
        stage.connection(name, "http", &partner.url, None).await;
        let config = json!({"connectionName": name, "path": "/x"});
        let mut steps = vec![json!({"key": "http.request", "config": config})];
        steps.extend(more.map(|key| json!({"key": key, "config": {"seconds": 0}})));
        let steps = json!(steps);
        let it = stage.fires(&json!({"type": "manual"}), &steps).await;
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::ERROR)
            .with_writer(move || writer.clone())
            .finish();
        let executor = stage.executor_with(settings());
        let executed =
            tokio::spawn(async move { executor.run_due().with_subscriber(subscriber).await });
        until("the call", || partner.received() == 1).await;
        let deleted = stage.editor.delete(&path(&it, "?force=true"));
        deleted.expect(204);
        partner.release();
        assert_eq!(executed.await.expect("ends"), Ok(1));
        assert_eq!(lines.text(), "");
    }
}
