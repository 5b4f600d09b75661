//! Pages next to the API: what a browser shows without being an operation.
//!
//! In: a path. Out: a file in memory with its content security policy. The documents are written at the first request,
//! because they show the demonstration of this server, if it is one. A path is found by its whole name.

use std::collections::HashMap;

use axum::body::{Body, Bytes};
use axum::http::Response;

use super::documentation;
use crate::app::App;
use crate::call::Call;
use crate::refusal::Refusal;
use crate::static_file::{Page, StaticFile};

/// Where the documentation is. An operation, whose response is among the pages.
const DOCS: &str = "/docs";

/// The documentation asks for nothing once it is there.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page at a path.
pub(super) fn find<'a>(app: &'a App, path: &str) -> Option<&'a Page> {
    // Most requests are for the API.
    if path.starts_with("/v1/") {
        return None;
    }
    app.pages.get_or_init(|| written(app)).get(path)
}

/// `GET /docs`
///
/// # Errors
/// 422 for parameters, of which there are none.
pub(super) async fn docs(mut call: Call) -> Result<Response<Body>, Refusal> {
    call.query_text.finish()?;
    let page = find(&call.app, DOCS).ok_or_else(Refusal::internal)?;
    Ok(page.respond(&call.headers))
}

fn written(app: &App) -> HashMap<&'static str, Page> {
    let demonstration = app.config.demonstration.as_ref();
    let texts = documentation::texts(demonstration);
    let documents = [
        (DOCS, "page.html", texts.page),
        ("/docs.md", "docs.md", texts.markdown),
        ("/llms.txt", "llms.txt", texts.first_screen),
    ];
    let documents = documents.map(|(path, name, text)| Page {
        path,
        file: StaticFile::new(name, Bytes::from(text)),
        policy: DOCS_POLICY,
        private: demonstration.is_some(),
    });
    let files = [
        ("/docs/page.css", include_str!("documentation/page.css")),
        ("/docs/page.js", include_str!("documentation/page.js")),
    ];
    let files = files.map(|(path, text)| Page {
        path,
        file: StaticFile::new(path, Bytes::from_static(text.as_bytes())),
        policy: DOCS_POLICY,
        private: false,
    });
    let pages = documents.into_iter().chain(files);
    pages.map(|page| (page.path, page)).collect()
}
