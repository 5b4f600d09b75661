//! Escapes text for HTML and SVG.
//!
//! Packages are untrusted: every text of a package passes through here before it enters a page.
//! Characters that markup cannot hold or that could disguise text (controls, direction marks)
//! become visible replacements.

use std::fmt::{self, Display, Formatter, Write as _};

use crate::printable::visible;

/// A text that writes itself escaped, fit for content and for quoted attributes alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'t>(pub(crate) &'t str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for character in self.0.chars().map(visible) {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // The two that XML forbids next to the controls.
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn text_stays_text() {
        let hostile = "</title><script>a('&\")</script>\u{1b}\0\u{202e}\u{ffff}\n";
        assert_eq!(
            Text(hostile).to_string(),
            "&lt;/title&gt;&lt;script&gt;a(&#39;&amp;&quot;)&lt;/script&gt;\u{241b}\u{2400}\u{fffd}\u{fffd}\u{240a}"
        );
    }
}
