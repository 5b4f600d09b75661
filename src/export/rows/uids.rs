//! The uids of rows, sixteen bytes each.

use std::collections::HashMap;

use crate::json::write_string;
use crate::workspace::Id;

/// The uids of the rows of a table, in order.
#[derive(Debug, Default)]
pub(in crate::export) struct Uids {
    numbers: Vec<u128>,
    /// Those that are spelt otherwise than minted ones, by row.
    spelt: HashMap<usize, String>,
}

impl Uids {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The uid of the next row: `u_` and this UUID.
    pub(super) fn push(&mut self, id: Id) {
        self.numbers.push(id.as_u128());
    }

    /// The uid of the next row, as it is written.
    pub(super) fn push_text(&mut self, uid: String) {
        let id = uid.strip_prefix("u_");
        let id = id.and_then(|id| Id::try_parse(id).ok());
        let mut digits = Id::encode_buffer();
        let minted = |id: &Id| uid[2..] == *id.hyphenated().encode_lower(&mut digits);
        if let Some(id) = id.filter(minted) {
            self.push(id);
        } else {
            self.spelt.insert(self.numbers.len(), uid);
            self.numbers.push(0);
        }
    }

    /// Appends the uid of a row as a JSON string; gives whether there is such a row.
    pub(super) fn write(&self, row: usize, out: &mut String) -> bool {
        let Some(number) = self.numbers.get(row) else {
            return false;
        };
        if let Some(uid) = self.spelt.get(&row) {
            out.push_str(&write_string(uid));
            return true;
        }
        let mut digits = Id::encode_buffer();
        let id = Id::from_u128(*number).hyphenated();
        out.push_str("\"u_");
        out.push_str(id.encode_lower(&mut digits));
        out.push('"');
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Uids;

    #[test]
    fn a_uid_is_written_as_it_came() {
        let spellings = [
            "u_da94e3e8-ab73-438f-af18-22ffbc688778",
            "u_DA94E3E8-ab73-438f-af18-22ffbc688778",
            "u_da94e3e8ab73438faf1822ffbc688778",
        ];
        let mut uids = Uids::default();
        for uid in spellings {
            uids.push_text(uid.to_owned());
        }
        for (row, uid) in spellings.iter().enumerate() {
            let mut out = String::new();
            assert!(uids.write(row, &mut out));
            assert_eq!(out, format!("\"{uid}\""));
        }
        assert!(!uids.write(3, &mut String::new()));
    }
}
