//! The page of a rule.
//!
//! The examples of a page run as tests, and their fences describe how. Out: the page with a
//! sentence in place of each fence, or the reason alone.

/// The page for people: what the fences of examples say to the tests becomes a sentence.
pub fn readable(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    for line in page.lines() {
        let language = ["json", "text"].into_iter().find_map(|language| {
            let info = line.strip_prefix("```")?.strip_prefix(language)?;
            Some((language, info.strip_prefix(' ')?))
        });
        if let Some((language, info)) = language {
            out.push_str(&setting(info));
            out.push_str("\n\n```");
            out.push_str(language);
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Why the rule exists: the first paragraph below the title, in one line.
pub fn reason(page: &str) -> String {
    let lines = page
        .lines()
        .skip_while(|line| line.starts_with('#') || line.is_empty());
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// `tiny set=/a/b` in words.
fn setting(info: &str) -> String {
    let mut words = info.split_whitespace();
    let base = match words.next().unwrap_or_default() {
        "tiny" => "in a small package",
        "v1" => "in a package of version 1",
        "links" => "in a package with linked tables",
        "flow" => "in a package with an automation",
        "auto" => "in a package with automations and dependencies",
        _ => "in a file of its own",
    };
    let edits: Vec<String> = words.filter_map(edit).collect();
    if edits.is_empty() {
        format!("{}:", capital(base))
    } else {
        format!("{}, {}:", capital(base), edits.join(" "))
    }
}

fn edit(word: &str) -> Option<String> {
    let (verb, pointer) = word.split_once('=')?;
    match (verb, pointer.strip_suffix("/-")) {
        ("set", Some(list)) => Some(format!("appended to {list}")),
        ("set", None) => Some(format!("at {pointer}")),
        ("remove", _) => Some(format!("without {pointer}")),
        ("grow", _) => Some(format!("with {pointer} repeated")),
        ("count", _) => Some(format!("to {pointer} entries")),
        ("in", _) => Some(format!("unpacked, with this {pointer}")),
        _ => None,
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::setting;

    #[test]
    fn fences_become_sentences() {
        assert_eq!(
            setting("tiny set=/manifest/items/0/kind"),
            "In a small package, at /manifest/items/0/kind:"
        );
        assert_eq!(
            setting("flow set=/payloads/-"),
            "In a package with an automation, appended to /payloads:"
        );
        assert_eq!(setting("file"), "In a file of its own:");
    }
}
