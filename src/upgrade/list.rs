//! Lists merged by their elements (`upgrade` 3.3.2): what the package added or took out since the
//! base is done to the list of the destination.

/// What a merge of three lists comes to; nothing when both sides have put the elements into another
/// order, each its own.
pub fn merged<T: Clone + PartialEq>(base: &[T], theirs: &[T], ours: &[T]) -> Option<Vec<T>> {
    let went = |element: &T| base.contains(element) && !theirs.contains(element);
    let in_all =
        |element: &&T| base.contains(element) && theirs.contains(element) && ours.contains(element);
    let order = |list: &[T]| -> Vec<T> { list.iter().filter(in_all).cloned().collect() };
    let (before, then, now) = (order(base), order(theirs), order(ours));
    let kept: Vec<T> = ours.iter().filter(|one| !went(one)).cloned().collect();
    if then == before || then == now {
        return Some(with_new(kept, base, theirs));
    }
    if now != before {
        return None;
    }
    // They alone put it into another order: it is theirs, with what ours has besides.
    let mut sequence: Vec<T> = theirs
        .iter()
        .filter(|one| kept.contains(one) || !base.contains(one))
        .cloned()
        .collect();
    insert_after(&mut sequence, &kept, |element| !theirs.contains(element));
    Some(sequence)
}

/// Adds what the package added, each after its nearest predecessor there.
fn with_new<T: Clone + PartialEq>(kept: Vec<T>, base: &[T], theirs: &[T]) -> Vec<T> {
    let mut sequence = kept;
    insert_after(&mut sequence, theirs, |element| !base.contains(element));
    sequence
}

/// Puts elements of `from` into a sequence that lacks them, each after the nearest one before it in
/// `from` that the sequence has, without one at the front.
pub fn insert_after<T: Clone + PartialEq>(
    sequence: &mut Vec<T>,
    from: &[T],
    wanted: impl Fn(&T) -> bool,
) {
    for (at, element) in from.iter().enumerate() {
        if !wanted(element) || sequence.contains(element) {
            continue;
        }
        let before = from.iter().take(at).rev();
        let mut places = before.filter_map(|one| sequence.iter().position(|held| held == one));
        let place = places.next().map_or(0, |place| place + 1);
        sequence.insert(place, element.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::merged;

    fn letters(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[track_caller]
    fn comes_to(base: &str, theirs: &str, ours: &str, expected: Option<&str>) {
        let found = merged(&letters(base), &letters(theirs), &letters(ours));
        let found = found.map(|list| list.into_iter().collect::<String>());
        assert_eq!(found.as_deref(), expected, "{base} {theirs} {ours}");
    }

    #[test]
    fn what_the_package_added_or_took_out_is_done_to_the_list() {
        for (base, theirs, ours, expected) in [
            ("abc", "abc", "abc", "abc"),
            ("abc", "abcd", "abc", "abcd"),
            ("abc", "ac", "abc", "ac"),
            // Both did the same.
            ("abc", "abcd", "abcd", "abcd"),
            ("abc", "ac", "ac", "ac"),
            // What people did stays.
            ("abc", "abc", "cab", "cab"),
            ("abc", "abc", "axbc", "axbc"),
            ("abc", "abcd", "ac", "acd"),
        ] {
            comes_to(base, theirs, ours, Some(expected));
        }
    }

    #[test]
    fn a_new_element_stands_after_its_nearest_predecessor() {
        for (base, theirs, ours, expected) in [
            // Its predecessor was taken out by people: the one before.
            ("abc", "abnc", "ac", "anc"),
            // None is left: the front.
            ("ab", "anb", "b", "nb"),
            ("ab", "nab", "ab", "nab"),
            ("ab", "abno", "ba", "bnoa"),
            // They take out what people moved.
            ("abc", "ac", "bca", "ca"),
        ] {
            comes_to(base, theirs, ours, Some(expected));
        }
    }

    #[test]
    fn an_order_of_the_package_alone_counts_with_what_people_added() {
        comes_to("abc", "cba", "abc", Some("cba"));
        comes_to("abc", "cba", "axbc", Some("cbax"));
        comes_to("abc", "cba", "xabc", Some("xcba"));
        comes_to("abc", "cbna", "abxc", Some("cbxna"));
        comes_to("abc", "cba", "ac", Some("ca"));
    }

    #[test]
    fn two_orders_are_a_conflict_unless_they_are_the_same() {
        comes_to("abc", "cba", "bac", None);
        comes_to("abc", "cba", "cba", Some("cba"));
        comes_to("abc", "cban", "cba", Some("cban"));
    }
}
