//! Recognizes secrets in undeclared fields by the names that the definitions give to secrets
//! anywhere, so a moved or misspelt setting leaks none.

use std::collections::HashSet;

use crate::definitions::{Definitions, Fields};

/// Members that every step and trigger has: a registry that calls a secret so means its own.
const OF_THE_FORMAT: [&str; 6] = ["key", "id", "name", "type", "config", "steps"];

/// The names of all secrets, in plain spelling.
pub(crate) fn names(definitions: &Definitions) -> HashSet<String> {
    let keys = &definitions.config_keys;
    let mut names = HashSet::new();
    let structural = [
        &definitions.column_config,
        &keys.organization,
        &keys.workspace,
        &keys.module,
        &keys.rail,
        &keys.feature,
    ];
    let columns = definitions.column_types.values().map(|one| &one.config);
    let views = definitions.view_types.values().map(|one| &one.config);
    let triggers = definitions.triggers.values().map(|one| &one.config);
    let steps = definitions.steps.values().map(|one| &one.config);
    let all = structural.into_iter().chain(columns).chain(views);
    for fields in all.chain(triggers).chain(steps) {
        gather(fields, &mut names);
    }
    names
}

fn gather(fields: &Fields, names: &mut HashSet<String>) {
    for (name, field) in fields {
        if field.secret && !OF_THE_FORMAT.contains(&name.as_str()) {
            names.insert(plain(name));
        }
        let items = field
            .items
            .as_deref()
            .and_then(|items| items.fields.as_ref());
        for inner in field.fields.iter().chain(items) {
            gather(inner, names);
        }
    }
}

/// A name without case and what is between its words: `api_key` is `apiKey`.
pub(crate) fn plain(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a text is one token and nothing else: where a secret is read from is none.
pub(crate) fn is_token(text: &str) -> bool {
    let inner = text.trim().strip_prefix("{{");
    inner.is_some_and(|inner| inner.find("}}").is_some_and(|end| end + 2 == inner.len()))
}

#[cfg(test)]
mod tests {
    use super::{is_token, names, plain};
    use crate::definitions::Definitions;

    #[test]
    fn names_are_those_of_the_registry() {
        let mut names: Vec<String> = names(Definitions::embedded()).into_iter().collect();
        names.sort();
        assert_eq!(names, ["apikey", "bearertoken"]);
        assert_eq!(plain("API-Key"), "apikey");
    }

    #[test]
    fn a_token_alone_is_no_secret() {
        assert!(is_token(" {{vars.key}} "));
        assert!(!is_token("{{vars.a}}hush{{vars.b}}"));
        assert!(!is_token("hush"));
    }
}
