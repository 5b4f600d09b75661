//! The selection of rules and their severities: `select` chooses rules, `ignore` leaves some out,
//! `warn` and `deny` change severities. A selector is a code (`R003`), a prefix of codes (`R`,
//! `R00`), a rule's name, `all`, or a whole severity (`warnings`, `hints`). The more specific
//! selector wins; between equally specific ones `ignore` beats `select` and `deny` beats `warn`.
//! A selection may lie over another, the command line over a file: where it says something of a
//! rule, the other is not asked. Over another, a severity for a rule asks for the rule, too.

use super::catalog::{J001, J010, RULES};
use super::suggest::likeness;
use super::{Finding, Rule, Severity};

/// A set of rules as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// Every rule.
    All,
    /// Every finding of that severity.
    Severity(Severity),
    /// Every rule whose code begins so.
    Prefix(String),
    /// One rule.
    Rule(&'static Rule),
}

/// The words that stand for many rules.
pub const WORDS: [(&str, Selector); 4] = [
    ("all", Selector::All),
    ("errors", Selector::Severity(Severity::Error)),
    ("warnings", Selector::Severity(Severity::Warning)),
    ("hints", Selector::Severity(Severity::Hint)),
];

/// A word that selects nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no rule has the code, prefix or name `{word}`{}", nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
pub struct UnknownSelector {
    /// The word.
    pub word: String,
    /// The code or name that resembles it most.
    pub nearest: Option<&'static str>,
}

impl std::str::FromStr for Selector {
    type Err = UnknownSelector;

    fn from_str(word: &str) -> Result<Selector, UnknownSelector> {
        let lower = word.to_ascii_lowercase();
        if let Some((_, selector)) = WORDS.into_iter().find(|(name, _)| *name == lower) {
            return Ok(selector);
        }
        if let Some(rule) = super::catalog::find(word) {
            return Ok(Selector::Rule(rule));
        }
        let prefix = word.to_ascii_uppercase();
        if !prefix.is_empty() && RULES.iter().any(|rule| rule.code.starts_with(&prefix)) {
            return Ok(Selector::Prefix(prefix));
        }
        Err(UnknownSelector {
            word: word.to_owned(),
            nearest: nearest_rule(word),
        })
    }
}

impl Selector {
    /// How exactly the finding is meant; nothing when it is not.
    fn weight(&self, rule: &Rule, severity: Severity) -> Option<usize> {
        let (holds, weight) = match self {
            Selector::All => (true, 0),
            Selector::Severity(wanted) => (*wanted == severity, 1),
            Selector::Prefix(prefix) => (rule.code.starts_with(prefix.as_str()), 1 + prefix.len()),
            Selector::Rule(wanted) => (*wanted == rule, usize::MAX),
        };
        holds.then_some(weight)
    }
}

/// The code or name that resembles `word` most, if any does.
pub fn nearest_rule(word: &str) -> Option<&'static str> {
    RULES
        .iter()
        .flat_map(|rule| [rule.code, rule.name])
        .map(|name| (likeness(word, name), name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)))
        .map(|(_, name)| name)
}

/// The requested rules.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only these, when there are any.
    pub select: Vec<Selector>,
    /// Not these.
    pub ignore: Vec<Selector>,
    /// These as warnings.
    pub warn: Vec<Selector>,
    /// These as errors.
    pub deny: Vec<Selector>,
    /// What holds where this one says nothing of a rule.
    pub beneath: Option<Box<Selection>>,
}

impl Selection {
    /// Lays this selection over another. A list that is given here replaces the one of its name there.
    #[must_use]
    pub fn over(self, mut beneath: Selection) -> Selection {
        for (mine, theirs) in [
            (&self.select, &mut beneath.select),
            (&self.ignore, &mut beneath.ignore),
            (&self.warn, &mut beneath.warn),
            (&self.deny, &mut beneath.deny),
        ] {
            if !mine.is_empty() {
                theirs.clear();
            }
        }
        Selection {
            beneath: Some(Box::new(beneath)),
            ..self
        }
    }

    /// Whether the rule may speak.
    ///
    /// A file that is not JSON was not checked at all, nor is all of a folder that cannot be put
    /// together, so J001 and J010 are never silenced.
    pub fn wants(&self, rule: &Rule, severity: Severity) -> bool {
        if is_fixed(rule) {
            return true;
        }
        let ignored = exactness(&self.ignore, rule, severity);
        let selected = exactness(&self.select, rule, severity);
        match (selected, ignored) {
            (None, None) if !self.select.is_empty() => false,
            (None, None) => self.beneath.as_ref().is_none_or(|beneath| {
                // Whoever says here how the rule weighs wants to see it, whatever the other leaves out.
                self.weighs(rule) || beneath.wants(rule, severity)
            }),
            (selected, ignored) => selected > ignored,
        }
    }

    /// Whether `warn` or `deny` name the rule. Words for whole severities name none: they say how what is
    /// found weighs.
    fn weighs(&self, rule: &Rule) -> bool {
        self.warn
            .iter()
            .chain(&self.deny)
            .any(|selector| match selector {
                Selector::All | Selector::Severity(_) => false,
                Selector::Prefix(_) | Selector::Rule(_) => {
                    selector.weight(rule, rule.severity).is_some()
                }
            })
    }

    /// The weight that a finding of the rule has here. `severity` is the one that it is made with, which words
    /// for whole severities mean in every layer.
    pub fn severity(&self, rule: &Rule, severity: Severity) -> Severity {
        if is_fixed(rule) {
            return severity;
        }
        let beneath = match &self.beneath {
            Some(beneath) => beneath.severity(rule, severity),
            None => severity,
        };
        let warned = exactness(&self.warn, rule, severity);
        let denied = exactness(&self.deny, rule, severity);
        let chosen = match (warned, denied) {
            (None, None) => beneath,
            (warned, denied) if denied >= warned => Severity::Error,
            _ => Severity::Warning,
        };
        // `--warn X --deny warnings`: what was made a warning is denied with the others.
        let deny_all = self.deny.contains(&Selector::Severity(Severity::Warning));
        if chosen == Severity::Warning && deny_all {
            Severity::Error
        } else {
            chosen
        }
    }

    /// Drops what is not wanted and weighs the rest.
    pub fn apply(&self, findings: &mut Vec<Finding>) {
        findings.retain(|finding| self.wants(finding.rule, finding.severity));
        for finding in findings {
            finding.severity = self.severity(finding.rule, finding.severity);
        }
    }
}

/// Whether nothing can silence the rule.
fn is_fixed(rule: &Rule) -> bool {
    [&J001, &J010].contains(&rule)
}

fn exactness(selectors: &[Selector], rule: &Rule, severity: Severity) -> Option<usize> {
    selectors
        .iter()
        .filter_map(|selector| selector.weight(rule, severity))
        .max()
}

#[cfg(test)]
mod tests {
    use super::{Selection, Selector};
    use crate::finding::catalog::{J001, R003, R006};
    use crate::finding::{Rule, Severity};

    fn selectors(words: &[&str]) -> Vec<Selector> {
        words
            .iter()
            .map(|word| word.parse().expect("known"))
            .collect()
    }

    fn wants(select: &[&str], ignore: &[&str], rule: &Rule) -> bool {
        let selection = Selection {
            select: selectors(select),
            ignore: selectors(ignore),
            ..Selection::default()
        };
        selection.wants(rule, rule.severity)
    }

    #[test]
    fn the_more_exact_selector_wins() {
        assert!(wants(&[], &[], &R003));
        assert!(!wants(&["S"], &[], &R003));
        assert!(wants(&["r"], &["R006"], &R003));
        assert!(!wants(&["R"], &["R003"], &R003));
        assert!(wants(&["row-count-mismatch"], &["R"], &R003));
        assert!(!wants(&["R"], &["R"], &R003));
        assert!(!wants(&[], &["all"], &R003));
        assert!(wants(&["S"], &["all"], &J001));
    }

    #[test]
    fn the_upper_selection_speaks_first_and_replaces_lists_of_its_names() {
        let file = Selection {
            ignore: selectors(&["R003"]),
            deny: selectors(&["warnings"]),
            ..Selection::default()
        };
        let alone = Selection::default().over(file.clone());
        assert!(!alone.wants(&R003, R003.severity));
        assert!(alone.wants(&R006, R006.severity));
        assert_eq!(alone.severity(&R003, Severity::Warning), Severity::Error);
        let arguments = Selection {
            select: selectors(&["R003"]),
            warn: selectors(&["R003"]),
            ..Selection::default()
        };
        let both = arguments.over(file.clone());
        assert!(both.wants(&R003, R003.severity));
        assert!(!both.wants(&R006, R006.severity));
        assert_eq!(both.severity(&R003, Severity::Warning), Severity::Warning);
        assert_eq!(both.severity(&R006, Severity::Warning), Severity::Error);
        let replaced = Selection {
            ignore: selectors(&["R006"]),
            ..Selection::default()
        };
        let replaced = replaced.over(file);
        assert!(replaced.wants(&R003, R003.severity));
        assert!(!replaced.wants(&R006, R006.severity));
    }

    #[test]
    fn weights_change_and_warnings_can_be_denied() {
        let weigh = |warn: &[&str], deny: &[&str], rule: &Rule| {
            let selection = Selection {
                warn: selectors(warn),
                deny: selectors(deny),
                ..Selection::default()
            };
            selection.severity(rule, rule.severity)
        };
        assert_eq!(weigh(&[], &[], &R006), Severity::Warning);
        assert_eq!(weigh(&[], &["warnings"], &R006), Severity::Error);
        assert_eq!(weigh(&["R003"], &[], &R003), Severity::Warning);
        assert_eq!(weigh(&["R003"], &["warnings"], &R003), Severity::Error);
        assert_eq!(weigh(&["R003"], &["R"], &R003), Severity::Warning);
        assert_eq!(weigh(&["J001"], &[], &J001), Severity::Error);
    }

    #[test]
    fn unknown_words_name_their_neighbour() {
        let error = "R03".parse::<Selector>().expect_err("unknown");
        assert!(error.nearest.is_some());
        let error = "row-cout-mismatch"
            .parse::<Selector>()
            .expect_err("unknown");
        assert_eq!(error.nearest, Some("row-count-mismatch"));
    }
}
