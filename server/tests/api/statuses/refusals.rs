//! The refusals that operations have because of what they are, made from the table.

use tplkit_server::auth::KeyScope;
use tplkit_server::call::operation::{Access, Limit, Operation};

use super::stage::{MOST, Stage, send};
use crate::api::client::{Client, Response};
use crate::api::document::{JSON, Request};

/// More than the head of a request may have.
const HEAD: usize = 70_000;

/// All that the operation has.
pub(super) async fn of(stage: &Stage, operation: &Operation) -> Vec<Response> {
    let asking = Asking {
        stage,
        operation,
        here: stage.request(operation, &stage.here).await,
        missing: stage.request(operation, &stage.missing).await,
    };
    let mut responses = asking.of_access();
    responses.extend(asking.too_many());
    responses.extend(asking.unreadable());
    responses
}

struct Asking<'a> {
    stage: &'a Stage,
    operation: &'a Operation,
    /// About what is there.
    here: Request,
    /// About what is not.
    missing: Request,
}

impl Asking<'_> {
    fn send(&self, client: &Client, request: &Request) -> Response {
        send(client, self.operation.method, request, &[])
    }

    fn is_sign_in(&self) -> bool {
        self.operation.path.starts_with("/v1/auth/")
    }

    /// 401, 403, 404, 503: they need nothing but the plain request.
    fn of_access(&self) -> Vec<Response> {
        let stage = self.stage;
        let nobody = &stage.world.nobody;
        let mut responses = Vec::new();
        let access = self.operation.access;
        // A sign-out says nothing of what it is given.
        if self.is_sign_in() && self.operation.statuses.contains(&401) {
            let mut wrong = self.here.clone();
            let body = wrong.body.as_mut().expect("a body");
            body.1 = body.1.replace(":\"", ":\"wrong");
            responses.push(self.send(nobody, &wrong).refused(401, "unauthenticated"));
        }
        let narrow = match access {
            Access::Public => None,
            Access::Users => Some(("forbidden", &stage.reader)),
            Access::Scopes([KeyScope::Read]) => Some(("missing_scope", &stage.writer)),
            Access::Scopes(_) => Some(("missing_scope", &stage.reader)),
        };
        if let Some((code, key)) = narrow {
            responses.push(
                self.send(nobody, &self.missing)
                    .refused(401, "unauthenticated"),
            );
            responses.push(self.send(key, &self.missing).refused(403, code));
        }
        // Some of what everybody may ask needs no store.
        let needs_store = access != Access::Public || self.operation.statuses.contains(&503);
        if needs_store {
            let gone = stage.cut_off(access == Access::Public);
            let refused = self.send(&gone, &self.here);
            responses.push(refused.refused(503, "store_unavailable"));
        }
        if self.here.path != self.missing.path || self.here.body != self.missing.body {
            let response = self.send(&stage.owner, &self.missing);
            // A list of what is in nothing is empty where the parent is no more than a filter.
            if response.status >= 300 {
                responses.push(response.refused(404, "not_found"));
            }
        }
        responses
    }

    /// 429.
    fn too_many(&self) -> Option<Response> {
        let tries = match self.operation.limit {
            Limit::None => return None,
            Limit::Usual => 1,
            Limit::SignIn => 10,
        };
        let client = &self.stage.strict;
        for _ in 0..tries {
            let response = self.send(client, &self.missing);
            assert_ne!(response.status, 429, "{:?}", self.operation);
        }
        let refused = self
            .send(client, &self.missing)
            .refused(429, "rate_limited");
        let after = refused.header("retry-after").expect("when");
        assert!(after.parse::<u32>().expect("seconds") >= 1);
        Some(refused)
    }

    /// 413, 415, 422.
    fn unreadable(&self) -> Vec<Response> {
        let owner = &self.stage.owner;
        let with = |media_type, body: &str| Request {
            path: self.here.path.clone(),
            body: Some((media_type, body.to_owned())),
        };
        let mut responses = Vec::new();
        let large = if self.operation.has_body() {
            let text = with("text/plain", "x");
            // A file may be of any type, and yet of no coding.
            let coded = [("content-encoding", "gzip")];
            let coded = if self.operation.takes_file() {
                &coded[..]
            } else {
                &[]
            };
            let refused = send(owner, self.operation.method, &text, coded);
            responses.push(refused.refused(415, "unsupported_media_type"));
            self.send(owner, &with(JSON, &" ".repeat(MOST + 1)))
        } else {
            let line = "x".repeat(HEAD);
            let headers = [("x-line", &*line)];
            send(owner, self.operation.method, &self.here, &headers)
        };
        if self.operation.all_statuses().contains(&413) {
            responses.push(large.refused(413, "payload_too_large"));
        }
        if self.operation.all_statuses().contains(&422) {
            let mut odd = self.here.clone();
            odd.path
                .push(if odd.path.contains('?') { '&' } else { '?' });
            odd.path.push_str("nonsense=1");
            let refused = self.send(owner, &odd);
            responses.push(refused.refused(422, "validation_failed"));
        }
        responses
    }
}
