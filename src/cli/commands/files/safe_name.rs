//! The name under which a file is written into a folder. Whoever uploaded it chose its name, and whoever downloads it
//! neither wants a hidden file nor one that a command takes for an option.

/// Bytes of a name; enough room is left for what is appended while the file comes.
const MAX_NAME_BYTES: usize = 200;

/// What no name on Windows may hold.
const RESERVED: &str = "<>:\"/\\|?*";

/// Names of devices on Windows, with any ending.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
const NUMBERED: [&str; 2] = ["com", "lpt"];

/// A name that is safe in any folder: one name, which is neither hidden, nor an option, nor a device.
pub(super) fn safe_name(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if is_harmless(c) { c } else { '_' })
        .collect();
    let name = cut(&name);
    let (stem, rest) = name.split_once('.').unwrap_or((&name, ""));
    let name = if is_device(stem.trim_end()) {
        let dot = if rest.is_empty() { "" } else { "." };
        format!("_{dot}{rest}")
    } else {
        name.into_owned()
    };
    let begins = |c: char| matches!(c, '.' | '-' | '~') || c.is_whitespace();
    // A dot at the end is one that Windows drops.
    let ends = |c: char| c == '.' || c.is_whitespace();
    let head = name.len() - name.trim_start_matches(begins).len();
    let (head, rest) = name.split_at(head);
    let kept = rest.trim_end_matches(ends);
    let tail = rest[kept.len()..].chars();
    let marks = |chars: usize| "_".repeat(chars);
    let safe = marks(head.chars().count()) + kept + &marks(tail.count());
    if safe.is_empty() {
        "_".to_owned()
    } else {
        safe
    }
}

fn is_harmless(character: char) -> bool {
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    !turns && !breaks && !RESERVED.contains(character)
}

fn is_device(stem: &str) -> bool {
    let stem = stem.to_lowercase();
    let digit = |rest: &str| {
        let mut rest = rest.chars();
        let digit = rest.next().is_some_and(|c| "123456789¹²³".contains(c));
        digit && rest.next().is_none()
    };
    DEVICES.contains(&stem.as_str())
        || NUMBERED
            .iter()
            .any(|name| stem.strip_prefix(name).is_some_and(digit))
}

/// The name, or as much of it as a name may have: what stands before its last dot is cut.
fn cut(name: &str) -> std::borrow::Cow<'_, str> {
    if name.len() <= MAX_NAME_BYTES {
        return name.into();
    }
    let ending = name.rfind('.').map_or("", |dot| &name[dot..]);
    if ending.len() >= MAX_NAME_BYTES {
        return beginning(name, MAX_NAME_BYTES).into();
    }
    let stem = beginning(name, MAX_NAME_BYTES - ending.len());
    format!("{stem}{ending}").into()
}

/// As many whole characters of a text as so many bytes hold.
fn beginning(text: &str, most: usize) -> &str {
    let mut ends = (0..=most.min(text.len())).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::{MAX_NAME_BYTES, safe_name};

    #[test]
    fn ordinary_file_names_are_unchanged() {
        for name in [
            "photo.png",
            "Ärger 2.tar.gz",
            "a-b~c",
            "日本.txt",
            "console.log",
            "com10",
            "👩‍👧.png",
        ] {
            assert_eq!(safe_name(name), name);
        }
    }

    #[test]
    fn what_means_something_elsewhere_means_nothing() {
        for (name, safe) in [
            ("..", "__"),
            (".", "_"),
            ("", "_"),
            ("   ", "___"),
            (".bashrc", "_bashrc"),
            ("-rf", "_rf"),
            ("~root", "_root"),
            ("-.~x", "___x"),
            (" a b ", "_a b_"),
            ("\u{a0}a\u{3000}", "_a_"),
            ("a.", "a_"),
            ("a. .", "a___"),
            ("../../etc/passwd", "___.._etc_passwd"),
            ("a/b\\c", "a_b_c"),
            ("a:b|c?d*e<f>g\"h", "a_b_c_d_e_f_g_h"),
            ("CON", "_"),
            ("con.txt", "_.txt"),
            ("Nul .tar.gz", "_.tar.gz"),
            ("lpt9", "_"),
            ("COM¹.x", "_.x"),
            ("a\nb\u{1b}[31m\u{9b}c", "a_b_[31m_c"),
            ("a\u{202e}gpj.exe", "a_gpj.exe"),
        ] {
            assert_eq!(safe_name(name), safe, "{name:?}");
        }
    }

    #[test]
    fn long_names_lose_what_stands_before_the_last_dot() {
        let long = safe_name(&("ü".repeat(250) + ".tar.gz"));
        assert_eq!(long, "ü".repeat(98) + ".gz");
        assert_eq!(safe_name(&"ü".repeat(255)), "ü".repeat(100));
        assert_eq!(
            safe_name(&("x.".to_owned() + &"ü".repeat(250))),
            "x.".to_owned() + &"ü".repeat(99)
        );
        // What is at the end only because of the cut is looked at as well.
        let blank = "a".repeat(199) + " b";
        assert_eq!(safe_name(&blank), "a".repeat(199) + "_");
        assert!(safe_name(&"\u{202e}".repeat(255)).len() <= MAX_NAME_BYTES);
    }
}
