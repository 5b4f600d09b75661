//! Selects some keys of a row's data.

use tplkit::rows::members;

/// Appends the members of an object that are among the keys, as they are written.
pub(super) fn project(out: &mut String, data: &str, keys: &[String]) {
    let mut before = '{';
    for (name, value) in members(data) {
        if keys.iter().any(|key| name.is(key)) {
            out.push(std::mem::replace(&mut before, ','));
            out.extend(["\"", name.inner, "\":", value]);
        }
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
}

#[cfg(test)]
mod tests {
    use super::project;

    #[test]
    fn what_is_asked_for_is_left() {
        let data = r#"{"a":1,"b":{"a":[2]},"c\"":"x,}","é":null}"#;
        for (keys, left) in [
            (&["a"][..], r#"{"a":1}"#),
            (&["b", "zz"], r#"{"b":{"a":[2]}}"#),
            (&["é", "c\""], r#"{"c\"":"x,}","é":null}"#),
            (&["zz"], "{}"),
            (&[], "{}"),
        ] {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            let mut out = String::new();
            project(&mut out, data, &keys);
            assert_eq!(out, left, "{keys:?}");
        }
    }
}
