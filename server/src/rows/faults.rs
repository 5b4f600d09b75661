//! Collects the faults of the rows of a request.
//!
//! All are counted, and as many are listed as fit a response. In a batch the path of each fault
//! begins with its row.

use crate::refusal::{Fault, MOST_FAULTS, Refusal};

/// The faults of a request that writes rows.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    batch: bool,
    count: usize,
    listed: Vec<Fault>,
}

/// How many faults are reported in full.
const MAX_LISTED_FAULTS: usize = 3;

impl Faults {
    /// Of a request about one row, or about a batch.
    pub fn new(batch: bool) -> Faults {
        Faults {
            batch,
            ..Faults::default()
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Something is wrong in a row, at that place inside it.
    pub fn push(&mut self, row: usize, place: &str, message: &str) {
        self.count += 1;
        if self.listed.len() < MOST_FAULTS {
            self.listed.push(if self.batch {
                let dot = if place.is_empty() { "" } else { "." };
                let path = format!("rows[{row}]{dot}{place}");
                Fault::new(path, format!("rows[{row}]: {message}"))
            } else {
                Fault::new(place, message)
            });
        }
    }

    /// Something is wrong outside of the rows.
    pub fn outside(&mut self, path: &str, message: &str) {
        self.count += 1;
        if self.listed.len() < MOST_FAULTS {
            self.listed.push(Fault::new(path, message));
        }
    }

    /// The refusal, if there is a reason for one.
    ///
    /// # Errors
    /// 422 with all faults.
    pub fn finish(self) -> Result<(), Refusal> {
        if self.count == 0 {
            return Ok(());
        }
        let mut details: Vec<String> = Vec::new();
        for fault in self.listed.iter().take(MAX_LISTED_FAULTS) {
            details.push(describe(fault));
        }
        if self.count > details.len() {
            details.push(format!("and {} more", self.count - details.len()));
        }
        Err(Refusal::invalid(self.listed).with_detail(details.join("; ")))
    }
}

/// `rows[3]: data.amount: …`, `data.amount: …`, or what is wrong with the whole body.
fn describe(fault: &Fault) -> String {
    let inside = fault.message.split_once("]: ").and_then(|(row, message)| {
        let place = fault.path.strip_prefix(row)?.strip_prefix(']')?;
        let place = place.trim_start_matches('.');
        let between = if place.is_empty() { "" } else { ": " };
        Some(format!("{row}]: {place}{between}{message}"))
    });
    inside.unwrap_or_else(|| match fault.path.as_str() {
        "" => fault.message.clone(),
        path => format!("{path}: {}", fault.message),
    })
}

#[cfg(test)]
mod tests {
    use super::Faults;

    #[test]
    fn a_batch_says_which_row_first() {
        let mut faults = Faults::new(true);
        faults.push(3, "data.amount", "the column stores numbers");
        faults.push(4, "", "has to be an object");
        let refusal = faults.finish().expect_err("faults");
        assert_eq!(
            refusal.detail(),
            "rows[3]: data.amount: the column stores numbers; rows[4]: has to be an object"
        );
        let mut faults = Faults::new(false);
        faults.push(0, "data.amount", "the column stores numbers");
        let refusal = faults.finish().expect_err("faults");
        assert_eq!(refusal.detail(), "data.amount: the column stores numbers");
    }

    #[test]
    fn what_is_wrong_with_the_whole_body_has_no_place() {
        for batch in [false, true] {
            let mut faults = Faults::new(batch);
            faults.outside("", "the body has to be an object");
            let refusal = faults.finish().expect_err("a fault");
            assert_eq!(refusal.detail(), "the body has to be an object");
            assert_eq!(refusal.errors()[0].path, "");
        }
    }

    #[test]
    fn a_hundred_are_listed_and_all_are_counted() {
        let mut faults = Faults::new(true);
        for row in 0..500 {
            faults.push(row, "data.x", "is wrong");
        }
        let refusal = faults.finish().expect_err("faults");
        assert!(refusal.detail().ends_with("; and 497 more"), "{refusal:?}");
        assert_eq!(refusal.errors().len(), 100);
        assert!(Faults::new(true).finish().is_ok());
    }
}
