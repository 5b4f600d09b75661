//! Deciding what a plan asks, until it asks nothing.

use tplkit::apply::{Preview, Refusal, Request};
use tplkit::problem::Code;
use tplkit::upgrade::{Conflict, ConflictCode, Decision, EVERYTHING, RecordDecision, Side, Take};

use super::Place;
use super::kept::Decided;
use super::line::{Line, request};
use crate::random::Dice;

/// An upgrade with everything decided.
pub(super) struct Decisions {
    pub(super) request: Request,
    pub(super) decided: Decided,
    /// Whether anything was asked.
    pub(super) conflicted: bool,
    pub(super) plan: Preview,
}

/// What becomes of records that the package no longer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// They stay.
    Stay,
    /// Each of them may go, with what it holds.
    MayGo,
}

/// Decides at random; nothing when the upgrade is refused for another reason.
pub(super) async fn decide<P: Place>(
    line: &mut Line<P>,
    text: &str,
    dice: &mut Dice,
    gone: Gone,
) -> Result<Option<Decisions>, String> {
    let mut request = request(true);
    request.terms.allow_destructive = gone == Gone::MayGo;
    if gone == Gone::MayGo {
        let plan = line.plan(text, &request).await?;
        for left in plan.left.iter().filter(|_| dice.chance(60)) {
            word(&mut request, &left.reference, RecordDecision::Delete);
        }
    }
    let mut decided = Decided::default();
    let mut conflicted = false;
    for _ in 0..8 {
        let plan = line.plan(text, &request).await?;
        if plan.refusals.is_empty() {
            return Ok(Some(Decisions {
                request,
                decided,
                conflicted,
                plan,
            }));
        }
        let mut codes = plan.refusals.iter().map(|refusal| refusal.code);
        if codes.any(|code| code == Code::RowsUnmatched) {
            return Ok(None);
        }
        let refused = plan.refusals.iter();
        let refused = refused.filter(|refusal| refusal.code == Code::DeleteRefused);
        let refused: Vec<&str> = refused.filter_map(|one| one.reference.as_deref()).collect();
        if !refused.is_empty() {
            // People have changed it, or it does not go.
            let decisions = &mut request.terms.decisions;
            decisions.retain(|reference, _| !refused.contains(&reference.as_str()));
            continue;
        }
        let mut codes = plan.refusals.iter().map(|refusal| refusal.code);
        if codes.any(|code| code == Code::Destructive) {
            // The type was taken from the package, and cells do not fit it.
            keep_types(&mut request, &plan.refusals)?;
            continue;
        }
        let mut codes = plan.refusals.iter().map(|refusal| refusal.code);
        if !codes.all(|code| code == Code::UpgradeConflicts) || plan.conflicts.is_empty() {
            return Err(format!("refused: {:#?}", plan.refusals));
        }
        conflicted = true;
        for conflict in &plan.conflicts {
            let (path, take) = choice(conflict, &request, dice)?;
            if take != Take::Side(Side::Ours) && take != Take::Word(RecordDecision::Leave) {
                decided.take(conflict);
            }
            let of = request.terms.decisions.entry(conflict.reference.clone());
            of.or_default().insert(path, Decision { take, ours: None });
        }
    }
    Err("the plan asks without an end".to_owned())
}

fn word(request: &mut Request, reference: &str, word: RecordDecision) {
    let take = Take::Word(word);
    let of = request.terms.decisions.entry(reference.to_owned());
    let of = of.or_default();
    of.insert(EVERYTHING.to_owned(), Decision { take, ours: None });
}

/// Decides for the types of columns as they are, where cells would be lost.
fn keep_types(request: &mut Request, refusals: &[Refusal]) -> Result<(), String> {
    for refusal in refusals {
        let reference = refusal.reference.clone();
        let of = reference.and_then(|reference| request.terms.decisions.get_mut(&reference));
        let of = of.ok_or_else(|| format!("destructive without a decision: {refusal:#?}"))?;
        let take = Take::Side(Side::Ours);
        of.insert("type".to_owned(), Decision { take, ours: None });
    }
    Ok(())
}

fn choice(
    conflict: &Conflict,
    request: &Request,
    dice: &mut Dice,
) -> Result<(String, Take), String> {
    let either = |dice: &mut Dice, one: RecordDecision, other: RecordDecision| {
        Take::Word(if dice.chance(50) { one } else { other })
    };
    let take = match conflict.code {
        ConflictCode::NameTaken => either(dice, RecordDecision::Adopt, RecordDecision::Create),
        ConflictCode::RemovedHere => either(dice, RecordDecision::Create, RecordDecision::Leave),
        ConflictCode::Changed | ConflictCode::RequiredEmpty if dice.chance(50) => {
            Take::Side(Side::Theirs)
        }
        _ => Take::Side(Side::Ours),
    };
    let path = conflict
        .path
        .clone()
        .unwrap_or_else(|| EVERYTHING.to_owned());
    let before = request.terms.decisions.get(&conflict.reference);
    match before.and_then(|of| of.get(&path)).map(|one| &one.take) {
        Some(Take::Side(Side::Ours) | Take::Word(_)) => {
            Err(format!("asked again although it is decided: {conflict:#?}"))
        }
        // What is measured cannot always be as the package has it.
        Some(_) => Ok((path, Take::Side(Side::Ours))),
        None => Ok((path, take)),
    }
}
