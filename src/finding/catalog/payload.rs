//! Family R: row payloads.

use crate::finding::{Rule, Severity};

/// `R001` payload-duplicate
pub static R001: Rule = Rule {
    code: "R001",
    name: "payload-duplicate",
    severity: Severity::Error,
    summary: "two payload entries for one rows item",
    help: "Merge the entries.",
    page: page!("pages/R001-payload-duplicate.md"),
};

/// `R002` payload-table-mismatch
pub static R002: Rule = Rule {
    code: "R002",
    name: "payload-table-mismatch",
    severity: Severity::Error,
    summary: "an entry's table is not its item's table",
    help: "Make `featureRef` the ref of the rows item's table.",
    page: page!("pages/R002-payload-table-mismatch.md"),
};

/// `R003` row-count-mismatch
pub static R003: Rule = Rule {
    code: "R003",
    name: "row-count-mismatch",
    severity: Severity::Error,
    summary: "an entry's `count` is not its number of rows",
    help: "Write the number of rows.",
    page: page!("pages/R003-row-count-mismatch.md"),
};

/// `R004` undeclared-column
pub static R004: Rule = Rule {
    code: "R004",
    name: "undeclared-column",
    severity: Severity::Error,
    summary: "a row holds a column that the entry does not list",
    help: "List the column in `columns`, or remove the cell.",
    page: page!("pages/R004-undeclared-column.md"),
};

/// `R005` column-not-in-table
pub static R005: Rule = Rule {
    code: "R005",
    name: "column-not-in-table",
    severity: Severity::Error,
    summary: "the entry lists a column that its table does not have",
    help: "Correct the name, or create the column.",
    page: page!("pages/R005-column-not-in-table.md"),
};

/// `R006` column-unused
pub static R006: Rule = Rule {
    code: "R006",
    name: "column-unused",
    severity: Severity::Warning,
    summary: "a listed column that no row carries, or the list is not in table order",
    help: "List exactly the columns that rows carry, in the table's order.",
    page: page!("pages/R006-column-unused.md"),
};

/// `R007` identity-travels
pub static R007: Rule = Rule {
    code: "R007",
    name: "identity-travels",
    severity: Severity::Error,
    summary: "the automatic identity column travels",
    help: "Remove it: the destination mints its own ids.",
    page: page!("pages/R007-identity-travels.md"),
};

/// `R008` key-column-invalid
pub static R008: Rule = Rule {
    code: "R008",
    name: "key-column-invalid",
    severity: Severity::Error,
    summary: "a key column by which rows cannot be matched",
    help: "Name a text column of `columns` that is not a link, or null.",
    page: page!("pages/R008-key-column-invalid.md"),
};

/// `R009` key-not-unique
pub static R009: Rule = Rule {
    code: "R009",
    name: "key-not-unique",
    severity: Severity::Error,
    summary: "the key column is said to be unique and is not",
    help: "Fill and distinguish the keys, or write null and false.",
    page: page!("pages/R009-key-not-unique.md"),
};

/// `R010` key-flag-without-column
pub static R010: Rule = Rule {
    code: "R010",
    name: "key-flag-without-column",
    severity: Severity::Error,
    summary: "`keyColumn` and `keyUnique` contradict each other",
    help: "Name a verified key with true, or write null and false.",
    page: page!("pages/R010-key-flag-without-column.md"),
};

/// `R011` ref-on-plain-column
pub static R011: Rule = Rule {
    code: "R011",
    name: "ref-on-plain-column",
    severity: Severity::Error,
    summary: "a row ref where no link can be",
    help: "Remove the ref.",
    page: page!("pages/R011-ref-on-plain-column.md"),
};

/// `R012` ref-target-missing
pub static R012: Rule = Rule {
    code: "R012",
    name: "ref-target-missing",
    severity: Severity::Error,
    summary: "a row ref to a row that does not travel",
    help: "Point at a row of the package, or remove the ref and keep the value.",
    page: page!("pages/R012-ref-target-missing.md"),
};

/// `R013` ref-shape
pub static R013: Rule = Rule {
    code: "R013",
    name: "ref-shape",
    severity: Severity::Error,
    summary: "a row ref whose shape does not fit its cell",
    help: "One triple for a scalar cell, `rows` with at most as many triples for a list.",
    page: page!("pages/R013-ref-shape.md"),
};

/// `R014` ref-value-mismatch
pub static R014: Rule = Rule {
    code: "R014",
    name: "ref-value-mismatch",
    severity: Severity::Error,
    summary: "the row pointed at holds another value than the cell",
    help: "Point at the row that holds the value.",
    page: page!("pages/R014-ref-value-mismatch.md"),
};

/// `R015` ref-without-value-column
pub static R015: Rule = Rule {
    code: "R015",
    name: "ref-without-value-column",
    severity: Severity::Warning,
    summary: "a row ref without `valueColumn`",
    help: "Name the column whose value the cell holds.",
    page: page!("pages/R015-ref-without-value-column.md"),
};

/// `R016` entry-too-large
pub static R016: Rule = Rule {
    code: "R016",
    name: "entry-too-large",
    severity: Severity::Warning,
    summary: "a payload entry over 5000 rows or 4 MiB",
    help: "Travel with fewer rows.",
    page: page!("pages/R016-entry-too-large.md"),
};

/// `R017` value-not-storable
pub static R017: Rule = Rule {
    code: "R017",
    name: "value-not-storable",
    severity: Severity::Error,
    summary: "a cell that its column cannot store",
    help: "Write a value of the column's type.",
    page: page!("pages/R017-value-not-storable.md"),
};

/// `R018` unique-violated
pub static R018: Rule = Rule {
    code: "R018",
    name: "unique-violated",
    severity: Severity::Error,
    summary: "a repeated value in a unique column",
    help: "Make the values distinct.",
    page: page!("pages/R018-unique-violated.md"),
};

/// `R019` required-empty
pub static R019: Rule = Rule {
    code: "R019",
    name: "required-empty",
    severity: Severity::Error,
    summary: "a required cell is empty",
    help: "Fill the cell.",
    page: page!("pages/R019-required-empty.md"),
};

/// `R020` ref-wrong-table
pub static R020: Rule = Rule {
    code: "R020",
    name: "ref-wrong-table",
    severity: Severity::Error,
    summary: "a row ref into another table than the column links to",
    help: "Point into the linked table.",
    page: page!("pages/R020-ref-wrong-table.md"),
};

/// `R021` link-without-ref
pub static R021: Rule = Rule {
    code: "R021",
    name: "link-without-ref",
    severity: Severity::Warning,
    summary: "a link cell matches a travelling row and has no ref",
    help: "Add the ref, so that the link survives the import.",
    page: page!("pages/R021-link-without-ref.md"),
};

/// `R022` currency-rounds
pub static R022: Rule = Rule {
    code: "R022",
    name: "currency-rounds",
    severity: Severity::Warning,
    summary: "more decimals than the currency column keeps",
    help: "Round the amount here, where it can be seen.",
    page: page!("pages/R022-currency-rounds.md"),
};

/// `R023` payload-missing
pub static R023: Rule = Rule {
    code: "R023",
    name: "payload-missing",
    severity: Severity::Error,
    summary: "a rows item without its payload entry",
    help: "Add the entry, or remove the item.",
    page: page!("pages/R023-payload-missing.md"),
};

/// `R024` payload-orphan
pub static R024: Rule = Rule {
    code: "R024",
    name: "payload-orphan",
    severity: Severity::Error,
    summary: "a payload entry that no rows item declares",
    help: "Add the item, or remove the entry.",
    page: page!("pages/R024-payload-orphan.md"),
};

/// `R025` item-count-mismatch
pub static R025: Rule = Rule {
    code: "R025",
    name: "item-count-mismatch",
    severity: Severity::Error,
    summary: "a rows item's `count` is not its entry's number of rows",
    help: "Write the number of rows.",
    page: page!("pages/R025-item-count-mismatch.md"),
};

/// `R026` dropped-link-unreported
pub static R026: Rule = Rule {
    code: "R026",
    name: "dropped-link-unreported",
    severity: Severity::Error,
    summary: "links to a table without rows that no `unresolved` entry reports",
    help: "Report the column with reason `tabela_alvo_sem_linhas`.",
    page: page!("pages/R026-dropped-link-unreported.md"),
};

/// `R027` file-id
pub static R027: Rule = Rule {
    code: "R027",
    name: "file-id",
    severity: Severity::Warning,
    summary: "a `file` cell with the id of a file, which does not travel",
    help: "Leave the cell out, or write null.",
    page: page!("pages/R027-file-id.md"),
};
