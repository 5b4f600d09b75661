//! Valid names of the records that automations refer to by name.

/// How many characters a name may have.
pub const LONGEST_NAME: usize = 255;

/// What is wrong with the name of a channel or a connection, if anything.
pub fn name_fault(name: &str) -> Option<&'static str> {
    let length = name.chars().take(LONGEST_NAME + 1).count();
    (!(1..=LONGEST_NAME).contains(&length)).then_some("has to have 1 to 255 characters")
}

#[cfg(test)]
mod tests {
    use super::name_fault;

    #[test]
    fn a_name_has_1_to_255_characters() {
        for good in ["a", " ", "a:b", &"é".repeat(255)] {
            assert_eq!(name_fault(good), None, "{good}");
        }
        for bad in ["", &"é".repeat(256)] {
            assert!(name_fault(bad).is_some(), "{bad}");
        }
    }
}
