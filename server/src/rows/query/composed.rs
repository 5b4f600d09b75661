//! Composed statements: what is asked first, and what instead of it.

use crate::store::Value;

/// Statements, to be asked until they have found enough, and the parameters of each of them.
#[derive(Debug)]
pub(super) struct Composed {
    pub(super) texts: Vec<String>,
    pub(super) values: Vec<Value>,
    /// How many rows are enough.
    pub(super) lookahead: usize,
    /// What is asked first, where that may be all.
    pub(super) first: Option<Box<FirstPass>>,
    /// What the index of searched cells is asked before that.
    pub(super) search: Option<Box<SearchPass>>,
}

/// What is asked before a statement that would do well only where much is found.
#[derive(Debug)]
pub(super) enum FirstPass {
    /// A look ahead, and the statement that is asked instead when it does not find enough.
    Lookahead(Composed, Composed),
    /// A statement that is the whole response, unless its rows say in their last column that there are
    /// too many of them.
    Few(Composed),
}

/// The statements that are asked before one that goes through the rows.
#[derive(Debug)]
pub(super) enum SearchPass {
    /// How many candidates there are, bounded; and the statement that is asked instead where they are not more than
    /// `most`.
    Counted {
        ahead: Composed,
        instead: Composed,
        most: i64,
    },
    /// A statement that is the whole response, unless its rows say in that column that there are too many candidates.
    /// Of a page, where nothing is found, the one row has no id.
    Flagged {
        few: Composed,
        column: usize,
        /// What is asked before it, and is the whole response where it finds a page.
        walked: Option<Composed>,
    },
}

impl Composed {
    /// Has their results end when they get too large.
    pub(super) fn bound(&mut self) {
        for text in &mut self.texts {
            text.push_str(" {bounded}");
        }
        match self.first.as_deref_mut() {
            // Ahead no row is read.
            Some(FirstPass::Lookahead(_, instead)) => instead.bound(),
            Some(FirstPass::Few(few)) => few.bound(),
            None => {}
        }
        match self.search.as_deref_mut() {
            Some(SearchPass::Counted { instead, .. }) => instead.bound(),
            Some(SearchPass::Flagged { few, walked, .. }) => {
                few.bound();
                if let Some(walked) = walked {
                    walked.bound();
                }
            }
            None => {}
        }
    }

    /// Has PostgreSQL plan the statements for their parameters, each time.
    pub(super) fn plan_anew(&mut self) {
        for text in &mut self.texts {
            text.push_str(" {anew}");
        }
    }
}
