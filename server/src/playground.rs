//! The playground: the files of one static page, at `/playground`.
//!
//! In: a folder, or the files that this program was built with; the head of a request. Out: a response. All files
//! are in memory and found by their whole name, so that no path leads elsewhere. Must not know the API: these are no
//! operations.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Response, StatusCode};

use crate::static_file::{HTML, StaticFile, page};

include!(concat!(env!("OUT_DIR"), "/playground_files.rs"));

/// Where the page is.
pub const PATH: &str = "/playground";

const INDEX: &str = "index.html";

/// Scripts, styles and pictures of its own, and the module that the browser compiles.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

/// Of pages without a script.
const PLAIN_POLICY: &str = "default-src 'none'";

/// The files of the page; none where there is no page.
#[derive(Debug, Clone, Default)]
pub struct Playground {
    files: Arc<HashMap<String, StaticFile>>,
}

impl Playground {
    /// What this program was built with (`server/build.rs`).
    pub fn built_in() -> Playground {
        let files = BUILT_IN.iter();
        Playground::of(files.map(|(name, bytes)| ((*name).to_owned(), Bytes::from_static(bytes))))
    }

    /// The files of a folder, as `scripts/playground` writes it.
    ///
    /// # Errors
    /// When it cannot be read, or holds no page.
    pub fn read(folder: &Path) -> io::Result<Playground> {
        let mut files = Vec::new();
        read_into(folder, "", &mut files)?;
        if !files.iter().any(|(name, _)| name == INDEX) {
            let why = format!("there is no {INDEX} in it");
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        Ok(Playground::of(files.into_iter()))
    }

    fn of(files: impl Iterator<Item = (String, Bytes)>) -> Playground {
        let mut known = HashMap::new();
        for (name, bytes) in files {
            if name == INDEX {
                let page = without_slash(&bytes);
                known.insert(String::new(), StaticFile::new(INDEX, page));
            }
            known.insert(name.clone(), StaticFile::new(&name, bytes));
        }
        Playground {
            files: Arc::new(known),
        }
    }

    /// The response to a GET or HEAD of a path that [`is_here`] knows.
    pub fn respond(&self, path: &str, headers: &HeaderMap) -> Response<Body> {
        let name = match path.strip_prefix(PATH).unwrap_or_default() {
            "/" => INDEX,
            rest => rest.strip_prefix('/').unwrap_or(rest),
        };
        let Some(file) = self.files.get(name) else {
            return self.missing();
        };
        file.respond(headers, POLICY)
    }

    fn missing(&self) -> Response<Body> {
        let text = if self.files.is_empty() {
            NO_PLAYGROUND
        } else {
            NO_FILE
        };
        let body = Body::from(text);
        page(StatusCode::NOT_FOUND, body, HTML, PLAIN_POLICY)
    }
}

const NO_PLAYGROUND: &str = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>No playground here</title></head>\n<body>\n<main>\n<h1>This server has no playground</h1>\n<p>Build it with <code>scripts/playground</code>, and start the server with <code>tplkit-server serve --playground target/playground</code> (or <code>TPLKIT_PLAYGROUND</code>). Released programs have it built in.</p>\n<p><a href=\"/docs\">API reference</a></p>\n</main>\n</body>\n</html>\n";

const NO_FILE: &str = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Not found</title></head>\n<body>\n<main>\n<h1>The playground has no such file</h1>\n<p><a href=\"/playground\">Playground</a></p>\n</main>\n</body>\n</html>\n";

/// Whether a path belongs to the page.
pub fn is_here(path: &str) -> bool {
    let rest = path.strip_prefix(PATH);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The page for its address without a slash at the end: relative addresses begin one folder further up.
fn without_slash(index: &[u8]) -> Bytes {
    let text = String::from_utf8_lossy(index);
    Bytes::from(text.replace("=\"./", "=\"playground/"))
}

fn read_into(folder: &Path, prefix: &str, files: &mut Vec<(String, Bytes)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let name = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        // What a link leads to was not meant to be published.
        if kind.is_dir() {
            read_into(&entry.path(), &format!("{name}/"), files)?;
        } else if kind.is_file() {
            files.push((name, Bytes::from(fs::read(entry.path())?)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header};

    use super::{Bytes, Playground, is_here};

    fn playground() -> Playground {
        let files = [
            ("index.html", "<script src=\"./app.js\"></script>"),
            ("app.js", "run()"),
            ("tplkit/a.wasm", "module"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), Bytes::from(text)));
        Playground::of(files.into_iter())
    }

    #[test]
    fn files_are_found_by_their_whole_name_alone() {
        let page = playground();
        let status = |path: &str| page.respond(path, &HeaderMap::new()).status().as_u16();
        for path in [
            "/playground",
            "/playground/",
            "/playground/index.html",
            "/playground/app.js",
            "/playground/tplkit/a.wasm",
        ] {
            assert_eq!(status(path), 200, "{path}");
        }
        for path in [
            "/playground//app.js",
            "/playground/./app.js",
            "/playground/../app.js",
            "/playground/tplkit/../app.js",
            "/playground/%2e%2e/app.js",
            "/playground/tplkit",
            "/playground/tplkit/",
        ] {
            assert_eq!(status(path), 404, "{path}");
        }
        assert!(is_here("/playground") && is_here("/playground/x"));
        assert!(!is_here("/playgrounds") && !is_here("/v1/playground"));
    }

    #[test]
    fn a_known_tag_gives_no_body() {
        let page = playground();
        let first = page.respond("/playground/app.js", &HeaderMap::new());
        let tag = first.headers()[header::ETAG].clone();
        let other = page.respond("/playground", &HeaderMap::new());
        assert_ne!(tag, other.headers()[header::ETAG]);
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(page.respond("/playground/app.js", &headers).status(), 304);
        assert_eq!(page.respond("/playground", &headers).status(), 200);
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("\"a\", *"));
        assert_eq!(page.respond("/playground", &headers).status(), 304);
    }
}
