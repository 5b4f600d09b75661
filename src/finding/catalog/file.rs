//! Family J: the file as text and as JSON.

use crate::finding::{Rule, Severity};

/// `J001` invalid-json
pub static J001: Rule = Rule {
    code: "J001",
    name: "invalid-json",
    severity: Severity::Error,
    summary: "the file is not well-formed JSON",
    help: "Fix the text at this place; nothing else can be checked before it parses.",
    page: page!("pages/J001-invalid-json.md"),
};

/// `J002` duplicate-key
pub static J002: Rule = Rule {
    code: "J002",
    name: "duplicate-key",
    severity: Severity::Error,
    summary: "an object holds the same key twice",
    help: "Keep one of the two members.",
    page: page!("pages/J002-duplicate-key.md"),
};

/// `J003` not-a-package
pub static J003: Rule = Rule {
    code: "J003",
    name: "not-a-package",
    severity: Severity::Error,
    summary: "the file is JSON, but no template package",
    help: "Name a package file, or declare `templateVersion` in the manifest.",
    page: page!("pages/J003-not-a-package.md"),
};

/// `J004` unsupported-version
pub static J004: Rule = Rule {
    code: "J004",
    name: "unsupported-version",
    severity: Severity::Error,
    summary: "a version number that this format does not have",
    help: "Use `templateVersion` 1 or 2 and `planVersion` 1, as JSON integers.",
    page: page!("pages/J004-unsupported-version.md"),
};

/// `J005` wrong-type
pub static J005: Rule = Rule {
    code: "J005",
    name: "wrong-type",
    severity: Severity::Error,
    summary: "a value of the wrong JSON type, pattern or enumeration",
    help: "Write a value of the expected type.",
    page: page!("pages/J005-wrong-type.md"),
};

/// `J006` missing-field
pub static J006: Rule = Rule {
    code: "J006",
    name: "missing-field",
    severity: Severity::Error,
    summary: "a required field is absent",
    help: "Add the field.",
    page: page!("pages/J006-missing-field.md"),
};

/// `J007` unknown-field
pub static J007: Rule = Rule {
    code: "J007",
    name: "unknown-field",
    severity: Severity::Warning,
    summary: "a field that the format does not define",
    help: "Remove the field, or correct its name.",
    page: page!("pages/J007-unknown-field.md"),
};

/// `J008` payloads-not-array
pub static J008: Rule = Rule {
    code: "J008",
    name: "payloads-not-array",
    severity: Severity::Error,
    summary: "`payloads` is present and no list",
    help: "Write a list, or leave `payloads` out.",
    page: page!("pages/J008-payloads-not-array.md"),
};

/// `J009` nul-character
pub static J009: Rule = Rule {
    code: "J009",
    name: "nul-character",
    severity: Severity::Error,
    summary: "U+0000 in a key or a string",
    help: "Remove the character: no store can hold it.",
    page: page!("pages/J009-nul-character.md"),
};

/// `J010` broken-folder
pub static J010: Rule = Rule {
    code: "J010",
    name: "broken-folder",
    severity: Severity::Error,
    summary: "an unpacked folder that cannot be put together",
    help: "Make index and files agree; `tplkit pack DIR` says when the folder is whole again.",
    page: page!("pages/J010-broken-folder.md"),
};
