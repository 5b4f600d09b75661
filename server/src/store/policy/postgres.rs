//! Renders policies as PostgreSQL's row-level security, in the form of a migration.
//!
//! Each role owns nothing and has policies of its own, so that the plan of a request compares settings
//! and has no alternatives.

use std::fmt::Write as _;

use super::condition::{FOR_EVERYBODY, PLATFORM};
use super::{Access, Allows, Condition, Evaluation, ReadRestriction, Rows, Rule, TablePolicy};
use crate::store::dialect::WHOLE_ROWS;
use crate::store::scope::ROLES;
use crate::store::scope_ids::{Id, Ids};

/// The names of the policies of each role.
const POLICIES: [&str; 3] = ["gate", "operator", "request"];

/// The two forms of row-level security.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Form {
    /// On one machine.
    OneMachine,
    /// Over several: Citus takes no subqueries in the policies of a distributed table. So settings are read for each
    /// row, and a function looks into another table.
    Distributed,
}

impl Form {
    /// How often a policy that wants it once for a statement reads the settings.
    fn once(self) -> SettingReads {
        match self {
            Form::OneMachine => SettingReads::PerStatement,
            Form::Distributed => SettingReads::PerRow,
        }
    }
}

impl TablePolicy {
    /// What a migration says of it: row-level security, privileges and policies.
    pub(in crate::store) fn postgres(&self, form: Form) -> String {
        let name = self.name;
        let mut sql = format!(
            "ALTER TABLE {name} ENABLE ROW LEVEL SECURITY;\n\
             ALTER TABLE {name} FORCE ROW LEVEL SECURITY;\n"
        );
        let each = [self.authentication, self.operator, self.caller];
        let each = ROLES.into_iter().zip(each);
        for (role, Access { privileges, .. }) in each.clone() {
            if !privileges.is_empty() {
                let _ = writeln!(sql, "GRANT {privileges} ON {name} TO {role};");
            }
        }
        let [.., role] = ROLES;
        for (policy, (who, access)) in POLICIES.into_iter().zip(each) {
            let Some(rows) = access.rows.postgres(form) else {
                continue;
            };
            let rows = match (&self.read_restriction, form) {
                (Some(restriction), Form::Distributed) if who == role => {
                    sql.push_str(&leads_to_function(name, restriction));
                    restricted_reads(name, restriction, &rows)
                }
                _ => format!("USING ({rows})"),
            };
            let _ = writeln!(
                sql,
                "CREATE POLICY {policy} ON {name} TO {who}\n    {rows};"
            );
        }
        if let (Some(restriction), Form::OneMachine) = (&self.read_restriction, form) {
            let own = restriction.own.postgres(SettingReads::PerRow);
            let led_to = restriction.is_led_to(name);
            // Databases have the policy under this name.
            let _ = writeln!(
                sql,
                "CREATE POLICY sight ON {name} AS RESTRICTIVE FOR SELECT TO {role}\n    \
                 USING ({own}\n        OR {led_to});"
            );
        }
        for exception in self.exceptions {
            let policy = exception.name;
            let (kind, using, check) = match exception.allows {
                Allows::Read(rule) => ("SELECT", rule, None),
                Allows::Change { from, into } => ("UPDATE", from, Some(into)),
            };
            let _ = write!(
                sql,
                "CREATE POLICY {policy} ON {name} FOR {kind} TO {role}\n    USING ({})",
                using.postgres(SettingReads::PerRow)
            );
            if let Some(check) = check {
                let check = check.postgres(SettingReads::PerRow);
                let _ = write!(sql, "\n    WITH CHECK ({check})");
            }
            sql.push_str(";\n");
        }
        sql.extend(self.whole_rows_view(form));
        sql
    }

    /// The view of a table for whom nothing of it is kept from: it looks at no more columns than its indexes
    /// have. It belongs to a role that no policy restricts, and says itself whose rows it shows.
    fn whole_rows_view(&self, form: Form) -> Option<String> {
        let Rows::Where(rules, Evaluation::OnceForOrganization) = self.caller.rows else {
            return None;
        };
        let (first, rest) = rules.split_first()?;
        let (column, id) = rest.iter().find_map(Rule::about)?;
        let name = self.name;
        let [_, operator, caller] = ROLES;
        let once = form.once();
        Some(format!(
            "CREATE VIEW {WHOLE_ROWS} WITH (security_barrier) AS SELECT * FROM {name}\n    \
             WHERE CASE\n            WHEN ({}) IS NOT TRUE THEN false\n            \
             WHEN {} THEN true\n            ELSE coalesce({column} = {}, false)\n        END;\n\
             ALTER VIEW {WHOLE_ROWS} OWNER TO {operator};\n\
             GRANT SELECT ON {WHOLE_ROWS} TO {caller};\n",
            first.postgres(once),
            nothing_kept(rest, once),
            once.id(id),
        ))
    }
}

impl Rows {
    /// The expression of a policy for these rows; nothing for none.
    fn postgres(&self, form: Form) -> Option<String> {
        let (rules, evaluation) = match *self {
            Rows::None => return None,
            Rows::All => return Some("true".to_owned()),
            Rows::Where(rules, evaluation) => (rules, evaluation),
        };
        if evaluation == Evaluation::Plain {
            return Some(all(rules, SettingReads::PerRow));
        }
        let (first, rest) = rules.split_first()?;
        let shortcut = evaluation == Evaluation::OnceForOrganization;
        Some(match form {
            Form::OneMachine => in_order(first, rest, shortcut),
            Form::Distributed => joined_at_once(first, rest, shortcut),
        })
    }
}

/// The function that says, on a worker, whether something leads to a row with these ids. It asks as the caller, and the
/// shard that lies next to the row: Citus lets what runs on a worker query no table again unless a setting allows it.
fn leads_to_function(table: &str, restriction: &ReadRestriction) -> String {
    let ids = vec!["uuid"; restriction.pairs.len()].join(", ");
    let leads_to = restriction.leads_to((1..).map(|number| format!("${number}")));
    format!(
        "CREATE OR REPLACE FUNCTION leads_to_{table}({ids}) RETURNS boolean LANGUAGE plpgsql STABLE\n    \
         SET search_path = main, pg_temp SET citus.allow_nested_distributed_execution = on\n    \
         AS $$ BEGIN RETURN {leads_to}; END $$;\n"
    )
}

/// What a caller reads and writes of a table with such a restriction, over several machines: on workers, Citus makes a
/// policy that restricts others one that adds to them, so there is one policy.
fn restricted_reads(table: &str, restriction: &ReadRestriction, rows: &str) -> String {
    let own = restriction.own.postgres(SettingReads::PerRow);
    let columns: Vec<&str> = restriction.pairs.iter().map(|(_, ours)| *ours).collect();
    let columns = columns.join(", ");
    format!(
        "USING ({rows}\n        AND ({own}\n        OR leads_to_{table}({columns})))\n    WITH CHECK ({rows})"
    )
}

/// A policy of which the planner expects nothing: asked in this order, with settings that are read once.
fn in_order(first: &Rule, rest: &[Rule], shortcut: bool) -> String {
    let once = SettingReads::PerStatement;
    let shortcut = if shortcut {
        format!("\n            WHEN {} THEN true", nothing_kept(rest, once))
    } else {
        String::new()
    };
    format!(
        "CASE\n            WHEN ({}) IS NOT TRUE THEN false{shortcut}\n            \
         ELSE {}\n        END",
        first.postgres(once),
        all(rest, once)
    )
}

/// The same for Citus, which cannot send such an order to its workers.
fn joined_at_once(first: &Rule, rest: &[Rule], shortcut: bool) -> String {
    let each = SettingReads::PerRow;
    let shortcut = if shortcut {
        format!("{} OR ", nothing_kept(rest, each))
    } else {
        String::new()
    };
    format!(
        "{}\n        AND ({shortcut}({}))",
        first.postgres(each),
        all(rest, each)
    )
}

/// Whether nothing is kept from who asks, for one reason or another.
fn nothing_kept(rules: &[Rule], settings: SettingReads) -> String {
    fn lists(condition: &Condition, found: &mut Vec<String>) {
        match condition {
            Condition::NotIn(_, ids) => {
                found.push(format!(
                    "current_setting('{}', true) = '{{}}'",
                    ids.setting()
                ));
            }
            Condition::Only(_, _, other) => lists(other, found),
            Condition::Any(conditions) | Condition::All(conditions) => {
                for one in *conditions {
                    lists(one, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for rule in rules {
        lists(&rule.condition, &mut found);
    }
    let found = found.join(" AND ");
    match settings {
        SettingReads::PerRow => format!("({found})"),
        SettingReads::PerStatement => format!("(SELECT {found})"),
    }
}

fn all(rules: &[Rule], settings: SettingReads) -> String {
    let rules = rules.iter().map(|rule| rule.postgres(settings));
    rules.collect::<Vec<_>>().join("\n        AND ")
}

/// How often a policy reads the settings of the transaction.
#[derive(Clone, Copy)]
enum SettingReads {
    PerRow,
    PerStatement,
}

impl SettingReads {
    fn list(self, ids: Ids) -> String {
        let list = format!(
            "nullif(current_setting('{}', true), '')::uuid[]",
            ids.setting()
        );
        match self {
            SettingReads::PerRow => list,
            SettingReads::PerStatement => format!("(SELECT {list})::uuid[]"),
        }
    }

    fn id(self, id: Id) -> String {
        let id = format!(
            "nullif(current_setting('{}', true), '')::uuid",
            id.setting()
        );
        match self {
            SettingReads::PerRow => id,
            SettingReads::PerStatement => format!("(SELECT {id})"),
        }
    }
}

impl Rule {
    /// The column and the id by which a row is seen where the scope is about that id.
    fn about(&self) -> Option<(&'static str, Id)> {
        match self.condition {
            Condition::Only(column, id, _) => Some((self.columns[column], id)),
            _ => None,
        }
    }

    fn postgres(&self, settings: SettingReads) -> String {
        self.condition.postgres(self.columns, settings)
    }
}

impl Condition {
    fn postgres(&self, columns: &[&str], settings: SettingReads) -> String {
        let joined = |conditions: &[Condition], word| {
            let parts = conditions.iter().map(|one| one.postgres(columns, settings));
            format!("({})", parts.collect::<Vec<_>>().join(word))
        };
        match *self {
            Condition::In(column, ids) => {
                format!("{} = ANY ({})", columns[column], settings.list(ids))
            }
            Condition::NotIn(column, ids) => {
                format!("{} <> ALL ({})", columns[column], settings.list(ids))
            }
            Condition::Is(column, id) => format!("{} = {}", columns[column], settings.id(id)),
            // Without such an id the comparison is NULL. So is the other one without its list: a setting that
            // is missing closes the table.
            Condition::Only(column, id, other) => format!(
                "coalesce({} = {}, {})",
                columns[column],
                settings.id(id),
                other.postgres(columns, settings)
            ),
            Condition::Word(column, word) => format!("{} = '{word}'", columns[column]),
            Condition::ForEverybody(column) => {
                format!("{} IN ('{}')", columns[column], FOR_EVERYBODY.join("', '"))
            }
            Condition::Flag(column) => columns[column].to_owned(),
            Condition::Platform => format!("current_setting('{PLATFORM}', true) = 'on'"),
            Condition::Any(conditions) => joined(conditions, " OR "),
            Condition::All(conditions) => joined(conditions, " AND "),
        }
    }
}
