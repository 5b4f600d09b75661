//! Suggests the nearest valid name for a misspelt one.

/// The candidate that `word` was surely meant to be, if one is near enough.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // A third of the letters may be wrong; beyond that a guess misleads.
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Help that names the nearest right name, or all of them when none is near.
pub fn help<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str> + Clone,
) -> Option<String> {
    if let Some(name) = nearest(word, candidates.clone()) {
        return Some(format!("Did you mean `{name}`?"));
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    // A long list helps nobody.
    (!all.is_empty() && all.len() <= 20).then(|| format!("Known here: {}.", all.join(", ")))
}

/// A value as it is in the file, cut to a length that fits into a message.
pub fn short_text(raw: &str) -> String {
    const LONGEST: usize = 60;
    if raw.chars().count() <= LONGEST {
        return raw.to_owned();
    }
    let cut: String = raw.chars().take(LONGEST).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["create_feature", "create_column"];
        assert_eq!(nearest("create_featre", names), Some("create_feature"));
        assert_eq!(nearest("Create_Column", names), Some("create_column"));
        assert_eq!(nearest("drop_table", names), None);
    }
}
