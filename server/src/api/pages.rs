//! Pages for browsers next to the API, which are not operations, and the operations that lead to them: `/`, `/docs`
//! and `/v1/openapi.json`.
//!
//! In: a path. Out: a file in memory with its content security policy. The documents are written at the first request,
//! because they show the demonstration of this server, if it is one. A path is found by its whole name.

use std::collections::HashMap;
use std::sync::OnceLock;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};
use tplkit::definitions::Definitions;

use super::{document, documentation};
use crate::app::App;
use crate::call::Call;
use crate::refusal::Refusal;
use crate::static_file::{Page, StaticFile};

/// Where the documentation is. An operation, whose response is among the pages.
const DOCS: &str = "/docs";

/// The documentation asks for nothing once it is there.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The console uses the API that it comes from, with the visitor's own session.
const CONSOLE_POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Path, name and text of what belongs to the documentation.
const DOCS_FILES: [(&str, &str, &str); 2] = [
    (
        "/docs/page.css",
        "page.css",
        concat!(
            include_str!("../../../playground/colours.css"),
            include_str!("documentation/page.css")
        ),
    ),
    (
        "/docs/page.js",
        "page.js",
        include_str!("documentation/page.js"),
    ),
];

/// The picture that browsers show next to the title of a page; all pages have the same.
const ICON: (&str, &str, &str) = (
    "/icon.svg",
    "icon.svg",
    include_str!("../../../playground/icon.svg"),
);

/// A file of `server/console`.
macro_rules! console {
    ($name:literal) => {
        (
            concat!("/console/", $name),
            $name,
            include_str!(concat!("../../console/", $name)),
        )
    };
}

/// Path, name and text of what belongs to the console.
const CONSOLE_FILES: [(&str, &str, &str); 22] = [
    (
        "/console",
        "index.html",
        include_str!("../../console/index.html"),
    ),
    (
        "/console/console.css",
        "console.css",
        concat!(
            include_str!("../../../playground/colours.css"),
            include_str!("../../console/console.css")
        ),
    ),
    console!("api.js"),
    console!("app.js"),
    console!("catalog.js"),
    console!("conflicts.js"),
    console!("decisions.js"),
    console!("files.js"),
    console!("findings.js"),
    console!("job.js"),
    console!("json.js"),
    console!("package.js"),
    console!("plan.js"),
    console!("pointer.js"),
    console!("report.js"),
    console!("rows.js"),
    console!("say.js"),
    console!("templates.js"),
    console!("undo.js"),
    console!("words.js"),
    console!("workspaces.js"),
    // Makes elements of text that strangers wrote; the playground has it.
    (
        "/console/element.js",
        "element.js",
        include_str!("../../../playground/element.js"),
    ),
];

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

/// `GET /v1/openapi.json`
///
/// # Errors
/// 422 for parameters, of which there are none.
pub(super) async fn openapi(mut call: Call) -> Result<Response<Body>, Refusal> {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    call.query_text.finish()?;
    let text = DOCUMENT.get_or_init(|| Bytes::from(document(Definitions::embedded()).to_string()));
    let mut response = Response::new(Body::from(text.clone()));
    let media_type = HeaderValue::from_static("application/json");
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    Ok(response)
}

/// `GET /`: where somebody begins who knows the address alone.
///
/// # Errors
/// 422 for parameters, of which there are none.
pub(super) async fn root(mut call: Call) -> Result<Response<Body>, Refusal> {
    call.query_text.finish()?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    let to = HeaderValue::from_static(DOCS);
    response.headers_mut().insert(header::LOCATION, to);
    Ok(response)
}

fn written(app: &App) -> HashMap<&'static str, Page> {
    let demonstration = app.config.demonstration.as_ref();
    let document = document(Definitions::embedded());
    let texts = documentation::texts(&document, demonstration);
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
    let file = |(path, name, text): (&'static str, &str, &'static str), policy| Page {
        path,
        file: StaticFile::new(name, Bytes::from_static(text.as_bytes())),
        policy,
        private: false,
    };
    let docs = DOCS_FILES.map(|one| file(one, DOCS_POLICY));
    let console = CONSOLE_FILES.map(|one| file(one, CONSOLE_POLICY));
    let pages = documents.into_iter().chain(docs).chain(console);
    let pages = pages.chain([file(ICON, DOCS_POLICY)]);
    pages.map(|page| (page.path, page)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::CONSOLE_FILES;

    #[test]
    fn every_file_of_the_console_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("console");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|file| {
                file.expect("a file")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        files.push("element.js".to_owned());
        files.sort();
        let mut served = CONSOLE_FILES.map(|(_, name, _)| name.to_owned());
        served.sort();
        assert_eq!(files, served);
    }
}
