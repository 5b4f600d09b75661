//! Writes HTML in which text cannot become markup: tags, classes and keys are literals of this
//! program, and everything else is escaped.

use std::fmt::Write as _;

use crate::markup::Text;

/// A page in the making.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
}

/// Attributes: names are literals, values are escaped.
type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// Literals of this program.
    pub(super) fn raw(&mut self, literal: &'static str) -> &mut Html {
        self.out.push_str(literal);
        self
    }

    /// A picture that the graph renderer drew, which escapes as this does.
    pub(super) fn picture(&mut self, svg: &str) -> &mut Html {
        self.out.push_str(svg);
        self
    }

    /// A text.
    pub(super) fn text(&mut self, text: impl AsRef<str>) -> &mut Html {
        // Writing to a String cannot fail, here and below.
        let _ = write!(self.out, "{}", Text(text.as_ref()));
        self
    }

    /// A sentence of ours, whose words between backticks are code.
    pub(super) fn prose(&mut self, text: impl AsRef<str>) -> &mut Html {
        let text = text.as_ref();
        // One that is left over stays as it is.
        let paired = text.matches('`').count() % 2 == 0;
        for (index, part) in text.split('`').enumerate() {
            match index % 2 {
                _ if !paired && index > 0 => self.text("`").text(part),
                1 => self.say("code", "", part),
                _ => self.text(part),
            };
        }
        self
    }

    /// An element with a content.
    pub(super) fn with(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Html),
    ) -> &mut Html {
        self.tag(name, attributes, ">");
        content(self);
        let _ = write!(self.out, "</{name}>");
        // Lines are for those who read the source; inside a line they would be spaces.
        if matches!(
            name,
            "section"
                | "div"
                | "table"
                | "tr"
                | "li"
                | "ul"
                | "ol"
                | "p"
                | "h1"
                | "h2"
                | "h3"
                | "details"
                | "figure"
        ) {
            self.out.push('\n');
        }
        self
    }

    /// An element of a class with a text.
    pub(super) fn say(
        &mut self,
        name: &'static str,
        class: &'static str,
        text: impl AsRef<str>,
    ) -> &mut Html {
        let class = [("class", class)];
        let attributes: Attributes<'_> = if class[0].1.is_empty() { &[] } else { &class };
        self.with(name, attributes, |html| {
            html.text(text);
        })
    }

    /// An element without content.
    pub(super) fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) -> &mut Html {
        self.tag(name, attributes, " />");
        self
    }

    fn tag(&mut self, name: &'static str, attributes: Attributes<'_>, end: &str) {
        let _ = write!(self.out, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.out, " {key}=\"{}\"", Text(value));
        }
        self.out.push_str(end);
    }

    /// What may be wider than the page: an area that scrolls, also by the keyboard.
    pub(super) fn scroll(&mut self, label: &str, content: impl FnOnce(&mut Html)) -> &mut Html {
        let attributes = [
            ("class", "scroll"),
            ("role", "group"),
            ("aria-label", label),
            ("tabindex", "0"),
        ];
        self.with("div", &attributes, content)
    }

    /// The head of a table.
    pub(super) fn heads(&mut self, names: &[&str]) {
        self.with("thead", &[], |html| {
            html.with("tr", &[], |html| {
                for name in names {
                    html.with("th", &[("scope", "col")], |html| {
                        html.text(name);
                    });
                }
            });
        });
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}
