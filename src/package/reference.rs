//! The grammar of symbolic references (`contract`: letters, connections, timer profiles).
//!
//! A *declaration* is written without a dollar, a *use* is a whole string (or a map key) with one.

/// The builtin that stands for the workspace applied to.
pub(crate) const WORKSPACE: &str = "workspace";

/// A declared ref without the dollar that readers tolerate.
pub(crate) fn undollared(declaration: &str) -> &str {
    declaration.strip_prefix('$').unwrap_or(declaration)
}

/// Whether a declaration (without dollar) is inside the grammar.
pub(crate) fn is_declaration(text: &str) -> bool {
    let Some(("f" | "c" | "v" | "r" | "m" | "w" | "connection" | "timerprofile", tail)) =
        text.split_once('_')
    else {
        return false;
    };
    let mut bytes = tail.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The prefix before the first underscore.
pub(crate) fn prefix(declaration: &str) -> &str {
    declaration.split('_').next().unwrap_or_default()
}

/// The name used, when `text` as a whole has the form of a use (builtins included).
pub(crate) fn used(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    (name == WORKSPACE || is_declaration(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{is_declaration, used};

    #[test]
    fn the_grammar_is_exact() {
        for good in [
            "f_a",
            "c_9",
            "w_a-b_c",
            "connection_erp",
            "timerprofile_turno",
            "m_A",
        ] {
            assert!(is_declaration(good), "{good}");
        }
        for bad in [
            "f_", "x_a", "f-a", "f__a", "f_-a", "f_é", "f_a b", "", "f", "conn_a", "$f_a",
        ] {
            assert!(!is_declaration(bad), "{bad}");
        }
    }

    #[test]
    fn a_use_is_a_whole_string() {
        assert_eq!(used("$f_a"), Some("f_a"));
        assert_eq!(used("$workspace"), Some("workspace"));
        for data in ["f_a", "$100", "x $f_a", "$f_a ", "$", "$$f_a"] {
            assert_eq!(used(data), None, "{data}");
        }
    }
}
