//! The identity that the package gets in the catalog.

use std::ops::RangeInclusive;

use super::Reader;
use crate::json::{Node, Object, Value};
use crate::package::model::{Catalog, Variable, WireWord};
use crate::package::size::{MOST_DESCRIPTION, MOST_LABEL};

/// The members of an identity, in the order of a manifest.
const MEMBERS: [&str; 14] = [
    "id",
    "name",
    "label",
    "description",
    "icon",
    "color",
    "vocabulary",
    "category",
    "scope",
    "variables",
    "blocks",
    "tags",
    "semver",
    "visibility",
];

impl<'d> Reader<'d> {
    pub(super) fn identity(&mut self, node: Node<'d>) -> Catalog {
        let mut catalog = Catalog::default();
        if !self.is_object(node) {
            return catalog;
        }
        for member in node.members() {
            match member.key().unwrap_or_default() {
                "id" => catalog.id = self.text(member),
                "name" => catalog.name = self.text(member),
                "label" => catalog.label = self.bounded(member, 1..=MOST_LABEL),
                "description" => {
                    catalog.description = self.bounded(member, 0..=MOST_DESCRIPTION);
                }
                "icon" => catalog.icon = self.text(member),
                "color" => catalog.color = self.text(member),
                "vocabulary" => catalog.vocabulary = self.map(member),
                "category" => catalog.category = self.text(member),
                "scope" => catalog.scope = self.word(member),
                "variables" => catalog.variables = self.list(member, Reader::variable),
                "blocks" => catalog.blocks = self.list(member, Reader::map),
                "tags" => catalog.tags = self.list(member, Reader::text),
                "semver" => catalog.semver = self.text(member),
                "visibility" => catalog.visibility = self.word(member),
                _ => self.unknown(member, &MEMBERS),
            }
        }
        catalog
    }

    /// A text of so many characters.
    fn bounded(&mut self, node: Node<'d>, characters: RangeInclusive<usize>) -> Option<String> {
        let text = self.text(node)?;
        if !characters.contains(&text.chars().count()) {
            let at = self.at(node);
            let (least, most) = characters.into_inner();
            self.refuse(&format!(
                "{at} has {} characters. It has to have {least} to {most}.",
                text.chars().count()
            ));
        }
        Some(text)
    }

    fn map(&mut self, node: Node<'d>) -> Option<Object> {
        if let Ok(Value::Object(members)) = Value::read(node) {
            return Some(members);
        }
        self.wrong(node, "an object");
        None
    }

    fn list<T>(
        &mut self,
        node: Node<'d>,
        mut read: impl FnMut(&mut Reader<'d>, Node<'d>) -> Option<T>,
    ) -> Option<Vec<T>> {
        if !node.is_array() {
            self.wrong(node, "a list");
            return None;
        }
        let elements = node.elements().filter_map(|element| read(self, element));
        Some(elements.collect())
    }

    fn word<W: WireWord>(&mut self, node: Node<'d>) -> Option<W> {
        let word = node.as_str().and_then(W::parse);
        if word.is_none() {
            let words: Vec<&str> = W::ALL.iter().map(|word| word.word()).collect();
            self.wrong(node, &format!("one of {}", words.join(", ")));
        }
        word
    }

    fn variable(&mut self, node: Node<'d>) -> Option<Variable> {
        if !self.is_object(node) {
            return None;
        }
        for member in node.members() {
            if !matches!(member.key(), Some("key" | "label")) {
                self.unknown(member, &["key", "label"]);
            }
        }
        let key = self.required_text(node, "key");
        let label = self.required_text(node, "label");
        Some(Variable {
            key: key?,
            label: label?,
            unknown: Object::new(),
        })
    }

    fn required_text(&mut self, node: Node<'d>, key: &str) -> Option<String> {
        if let Some(member) = node.get(key) {
            return self.text(member);
        }
        let at = self.at(node);
        self.refuse(&format!("{at} has no `{key}`. Give it, a string."));
        None
    }
}

#[cfg(all(test, feature = "schemas"))]
mod tests {
    use super::MEMBERS;
    use crate::export::identity_document::IdentityDocument;

    #[test]
    fn the_schema_has_what_is_read() {
        let schema = schemars::schema_for!(IdentityDocument).to_value();
        let properties = schema["properties"].as_object().expect("members");
        assert!(properties.keys().eq(MEMBERS), "{schema}");
    }
}
