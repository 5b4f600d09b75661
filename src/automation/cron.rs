//! Checks that the five fields of a cron expression can be read.
//!
//! [`run::Schedule`](super::run::Schedule) computes due times; this module reports only what no
//! scheduler accepts.

struct Part {
    name: &'static str,
    low: u32,
    high: u32,
    /// Names for values, the first standing for `low`.
    words: &'static [&'static str],
}

const PARTS: [Part; 5] = [
    Part {
        name: "minute",
        low: 0,
        high: 59,
        words: &[],
    },
    Part {
        name: "hour",
        low: 0,
        high: 23,
        words: &[],
    },
    Part {
        name: "day of the month",
        low: 1,
        high: 31,
        words: &[],
    },
    Part {
        name: "month",
        low: 1,
        high: 12,
        words: &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    },
    Part {
        name: "day of the week",
        low: 0,
        high: 7,
        words: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    },
];

/// What is wrong with a cron expression, if anything.
pub(super) fn fault(expression: &str) -> Option<String> {
    let fields: Vec<&str> = expression.split_whitespace().collect();
    if fields.len() != PARTS.len() {
        return Some(format!("it has {} fields and not five", fields.len()));
    }
    let wrong = PARTS
        .iter()
        .zip(fields)
        .find(|(part, field)| !field.split(',').all(|item| part.reads(item)));
    wrong.map(|(part, field)| format!("`{field}` is no {}", part.name))
}

impl Part {
    fn reads(&self, item: &str) -> bool {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        if step.is_some_and(|step| number(step).is_none_or(|step| step == 0)) {
            return false;
        }
        match range {
            "*" | "?" => true,
            _ => match range.split_once('-') {
                Some((from, to)) => {
                    matches!((self.value(from), self.value(to)), (Some(from), Some(to)) if from <= to)
                }
                None => {
                    self.value(range).is_some() || (step.is_none() && self.reads_special(range))
                }
            },
        }
    }

    fn value(&self, text: &str) -> Option<u32> {
        if let Some(value) = number(text) {
            return (self.low..=self.high).contains(&value).then_some(value);
        }
        let at = self
            .words
            .iter()
            .position(|word| word.eq_ignore_ascii_case(text))?;
        Some(self.low + u32::try_from(at).ok()?)
    }

    /// Last day, nearest working day, last or n-th weekday of the month: widely understood.
    fn reads_special(&self, text: &str) -> bool {
        let upper = text.to_ascii_uppercase();
        match self.high {
            31 => {
                upper == "L"
                    || upper == "LW"
                    || upper
                        .strip_suffix('W')
                        .is_some_and(|day| self.value(day).is_some())
            }
            7 => {
                let counted = upper.split_once('#').is_some_and(|(day, count)| {
                    self.value(day).is_some()
                        && number(count).is_some_and(|count| (1..=5).contains(&count))
                });
                counted
                    || upper == "L"
                    || upper
                        .strip_suffix('L')
                        .is_some_and(|day| self.value(day).is_some())
            }
            _ => false,
        }
    }
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn five_fields_that_read() {
        for good in [
            "* * * * *",
            "*/15 8-18 * * 1-5",
            "0 0 1,15 jan-mar MON",
            "5  4 L * 5#2",
            "0 0 15W * 5L",
            "0 0 ? * 7",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "",
            "* * * *",
            "* * * * * *",
            "@daily",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 8",
            "*/0 * * * *",
            "5-1 * * * *",
            "a * * * *",
            "1,,2 * * * *",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
