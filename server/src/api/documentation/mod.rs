//! `/docs`, `/docs.md` and `/llms.txt`: the API for people.
//!
//! In: the OpenAPI document, `guide.md`, and the demonstration that this server shows, if it is one. Out: the same
//! guide and reference as a page, as Markdown, and as its first screen.

mod document_parts;
mod example;
pub mod guide;
mod html;
mod html_reference;
mod markdown;
mod reference;
mod schema_type;

use serde_json::Value;

use self::reference::Reference;
use crate::app::Demonstration;

/// What is made of the document once per server.
pub(super) struct Texts {
    pub(super) page: String,
    pub(super) markdown: String,
    pub(super) first_screen: String,
}

/// Writes all of them.
pub(super) fn texts(document: &Value, demonstration: Option<&Demonstration>) -> Texts {
    let reference = Reference::of(document);
    let steps = guide::steps(demonstration);
    Texts {
        page: html::page(&reference, &steps, demonstration),
        markdown: markdown::document(&reference, &steps, demonstration),
        first_screen: markdown::first_screen(&reference, &steps),
    }
}

#[cfg(test)]
mod tests {
    use tplkit::definitions::Definitions;

    use super::guide::tests::demonstration;
    use super::texts;
    use crate::api::document;
    use crate::api::operations::OPERATIONS;

    #[test]
    fn the_page_shows_every_operation_and_fetches_nothing_from_elsewhere() {
        let texts = texts(&document(Definitions::embedded()), None);
        for operation in OPERATIONS.iter().filter(|one| one.is_documented()) {
            let markdown = format!("#### {} {}\n", operation.method, operation.path);
            assert!(texts.markdown.contains(&markdown), "{markdown}");
            let page = format!(
                "{}</span> <code>{}</code>",
                operation.method, operation.path
            );
            assert!(texts.page.contains(&page), "{page}");
        }
        assert_eq!(texts.page.matches("<script").count(), 1);
        for word in [
            "src=\"http",
            "@import",
            "url(",
            "href=\"http",
            "style=\"",
            "onclick",
            "<style",
        ] {
            assert!(!texts.page.contains(word), "{word}");
        }
        assert!(texts.markdown.starts_with(&texts.first_screen));
        assert!(texts.first_screen.lines().count() < 20);
        for link in ["(/docs.md)", "(/v1/openapi.json)"] {
            assert!(texts.first_screen.contains(link), "{link}");
        }
    }

    #[test]
    fn values_of_a_demonstration_are_shown_where_there_is_one_alone() {
        let demonstration = demonstration();
        let document = document(Definitions::embedded());
        let (with, without) = (
            texts(&document, Some(&demonstration)),
            texts(&document, None),
        );
        for name in ["the-url/v1", "the-password", "the-key", "the-table"] {
            assert!(with.page.contains(name), "{name}");
        }
        for text in [&without.page, &without.markdown] {
            for variable in ["$URL", "$TOKEN", "$TABLE", "URL=", "TOKEN=", "TABLE="] {
                assert!(text.contains(variable), "{variable}");
            }
        }
        assert!(!with.page.contains("$URL") && !with.page.contains("$TABLE"));
    }
}
