//! The laws.

use super::compare::{Content, content, differs, keeping, linking, transactional};
use super::deciding::{Gone, decide};
use super::kept::lost;
use super::killed::Kill;
use super::line::{Line, request};
use super::triple::Triple;
use super::{Places, Seen, Verdict};
use crate::random::{Dice, Hand};
use std::collections::{BTreeMap, BTreeSet};

use tplkit::apply::Report;
use tplkit::json::Value;
use tplkit::problem::Code;
use tplkit::upgrade::Side;
use tplkit::workspace::memory::State;
use tplkit::workspace::{Id, RecordKind, RowData};

/// The laws by their names.
pub const LAWS: [&str; 9] = [
    "the_same_version_changes_nothing",
    "untouched_it_is_a_fresh_apply",
    "undone_it_is_as_before",
    "nothing_has_drifted_after_it",
    "refused_it_changes_nothing",
    "killed_it_ends_as_not_killed",
    "what_people_changed_stays_unless_decided",
    "a_plain_apply_before_it_makes_no_difference",
    "other_upgrades_before_it_make_no_difference",
];

/// The laws by their names.
pub fn law_names() -> impl Iterator<Item = &'static str> {
    LAWS.into_iter()
}

pub(super) async fn run<P: Places>(law: &str, places: &P, triple: &Triple) -> Verdict {
    match law {
        "the_same_version_changes_nothing" => same_version(places, triple).await,
        "untouched_it_is_a_fresh_apply" => untouched(places, triple).await,
        "undone_it_is_as_before" => undone(places, triple).await,
        "nothing_has_drifted_after_it" => drifted(places, triple).await,
        "refused_it_changes_nothing" => refused(places, triple).await,
        "killed_it_ends_as_not_killed" => killed(places, triple).await,
        "what_people_changed_stays_unless_decided" => kept(places, triple).await,
        "a_plain_apply_before_it_makes_no_difference" => plain_first(places, triple).await,
        "other_upgrades_before_it_make_no_difference" => prior_upgrades(places, triple).await,
        other => Err(format!("there is no law {other:?}")),
    }
}

/// That two states are the same, whichever workspace they are of. The order of the cells of a row, and empty
/// ones, say nothing.
fn same(what: &str, is: &State, should: &State) -> Result<(), String> {
    let (is, should) = (&in_order(is), &in_order(should));
    if is == should {
        return Ok(());
    }
    let text = |state: &State| state.save().map_err(|error| error.to_string());
    let (is, should) = (text(is)?, text(should)?);
    let lines = is.lines().zip(should.lines()).enumerate();
    let mut differing = lines.filter(|(_, (one, other))| one != other);
    let at = differing.next().map_or(0, |(at, _)| at);
    let part = |text: &str| {
        let lines = text.lines().skip(at.saturating_sub(12)).take(20);
        lines.collect::<Vec<_>>().join("\n")
    };
    Err(format!(
        "{what} is\n{}\nand should be\n{}",
        part(&is),
        part(&should)
    ))
}

fn in_order(state: &State) -> State {
    let mut state = state.clone();
    // Each place has its own.
    state.structure.organization.id = Id::nil();
    state.structure.workspace.id = Id::nil();
    state.structure.workspace.name.clear();
    // Tables and automations have no order, and what comes back is behind the others.
    state.structure.features.sort_by_key(|one| one.id);
    state.structure.automations.sort_by_key(|one| one.id);
    for row in state.rows.values_mut().flatten() {
        let Ok(Value::Object(cells)) = Value::parse(row.data.as_str()) else {
            continue;
        };
        let cells = cells.into_iter().filter(|(_, cell)| *cell != Value::Null);
        let cells: BTreeMap<String, Value> = cells.collect();
        row.data = RowData::of(&cells.into_iter().collect());
    }
    state
}

/// A workspace to which the first package was applied.
async fn applied<P: Places>(places: &P, text: &str) -> Result<Line<P::Place>, String> {
    Ok(reported(places, text).await?.0)
}

/// The same, and what the apply reported.
async fn reported<P: Places>(places: &P, text: &str) -> Result<(Line<P::Place>, Report), String> {
    let mut line = Line::new(places.fresh().await);
    let ran = line.apply(text, &request(false)).await?;
    let ran = ran.ok_or("a first apply was refused")?;
    Ok((line, ran.report))
}

/// Whether links were dropped, because tables link to each other or a row is not there: they stay dropped as long
/// as the package says the same of them.
fn drops_links(report: &Report) -> bool {
    let mut unresolved = report.unresolved.iter();
    unresolved.any(|one| one.reason == "row_ref_dropped")
}

fn idle(report: &Report) -> bool {
    let rows = |rows: &tplkit::apply::TableReport| rows.inserted == 0 && rows.updated == 0;
    report.structure_updated == 0 && report.rows.values().all(rows) && report.moved.is_empty()
}

/// Whether a row was refused because of a value that another one has.
fn is_taken(report: &Report) -> bool {
    let mut errors = report.errors.iter();
    errors.any(|error| error.code == Code::UniqueViolation)
}

/// Whether rows were refused only because of values that others keep, in these tables.
fn is_kept(report: &Report, keeping: &BTreeSet<String>) -> bool {
    let errors = report.errors.iter();
    let mut taken = errors
        .filter(|error| error.code == Code::UniqueViolation)
        .peekable();
    taken.peek().is_some() && taken.all(|error| keeping.contains(&error.reference))
}

async fn same_version<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let packages = triple.packages()?;
    let mut line = Line::new(places.fresh().await);
    let first = line.apply(&packages.base, &request(false)).await?;
    let first = first.ok_or("a first apply was refused")?;
    // A row that was refused is tried again, and people may have made room for it.
    if first.report.failed_rows() > 0 {
        return Ok(Seen::Nothing);
    }
    let done = line
        .people(&triple.shape(), &triple.people, Hand::People)
        .await?;
    let before = line.state().await?;
    let plan = line.plan_twice(&packages.base, &request(true)).await?;
    if !plan.refusals.is_empty() || plan.changes() {
        return Err(format!(
            "people: {done:#?}\nthe plan changes something: {plan:#?}"
        ));
    }
    let Some(ran) = line.apply(&packages.base, &request(true)).await? else {
        return Err("refused".to_owned());
    };
    if !idle(&ran.report) {
        return Err(format!("it did something: {:#?}", ran.report));
    }
    same("the workspace", &line.state().await?, &before)?;
    Ok(Seen::Plain)
}

async fn untouched<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let packages = triple.packages()?;
    let (mut line, first) = reported(places, &packages.base).await?;
    let dropped = drops_links(&first);
    let Some(ran) = line.apply(&packages.new, &request(true)).await? else {
        let plan = line.plan(&packages.new, &request(true)).await?;
        let known = |code: &str| matches!(code, "rows_unmatched");
        if plan.refusals.iter().all(|one| known(one.code.as_str())) {
            return Ok(Seen::Nothing);
        }
        // What a stricter column cannot hold is asked about, although nobody else changed anything.
        let measured = plan
            .conflicts
            .iter()
            .all(|one| !matches!(one.code.as_str(), "changed" | "name_taken" | "removed_here"));
        return if (measured || dropped) && !plan.conflicts.is_empty() {
            Ok(Seen::Nothing)
        } else {
            Err(format!(
                "refused: {:#?} {:#?}",
                plan.refusals, plan.conflicts
            ))
        };
    };
    let upgraded = content(&line.state().await?, &line.entries());
    let mut fresh = applied(places, &packages.new).await?;
    let mut expected = content(&fresh.state().await?, &fresh.entries());
    // A package that says nothing of the workspace takes nothing back there.
    if !packages.new.contains("\"update_workspace\"") {
        let workspace = (RecordKind::Workspace, "workspace".to_owned());
        expected.things.remove(&workspace);
    }
    // What somebody has to complete first is a draft, and what is in force goes on.
    for waiting in &ran.report.not_published {
        let automation = (RecordKind::Workflow, waiting.reference.clone());
        expected.things.remove(&automation);
    }
    let mut aside = transactional(&packages.new, &packages.base)?;
    aside.extend(linking(&packages.new, &packages.base)?);
    match differs(&upgraded, &expected, &aside) {
        // A row that the package no longer has stays, and with it its unique values.
        Some(_) if is_kept(&ran.report, &keeping(&packages.new, &packages.base)?) => {
            Ok(Seen::Nothing)
        }
        // Of two things of one name one has another name in either workspace.
        Some(_) if dropped || !ran.report.renamed.is_empty() => Ok(Seen::Nothing),
        Some(wrong) => Err(format!(
            "{wrong}\nrows: {:#?}, errors: {:#?}",
            ran.report.rows, ran.report.errors
        )),
        None if idle(&ran.report) => Ok(Seen::Nothing),
        None => Ok(Seen::Plain),
    }
}

/// The first package, and what people made of it.
struct Ready<P> {
    line: Line<P>,
    new: String,
    /// What people did.
    done: Vec<String>,
    base: State,
    before: State,
}

async fn worked_on<P: Places>(
    places: &P,
    triple: &Triple,
    hand: Hand,
) -> Result<Ready<P::Place>, String> {
    let packages = triple.packages()?;
    let mut line = applied(places, &packages.base).await?;
    let base = line.state().await?;
    let done = line.people(&triple.shape(), &triple.people, hand).await?;
    let before = line.state().await?;
    Ok(Ready {
        line,
        new: packages.new,
        done,
        base,
        before,
    })
}

fn met(conflicted: bool, report: &Report) -> Seen {
    if conflicted {
        Seen::Decided
    } else if idle(report) {
        Seen::Nothing
    } else {
        Seen::Plain
    }
}

async fn undone<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let mut ready = worked_on(places, triple, Hand::People).await?;
    let line = &mut ready.line;
    let mut dice = Dice::new(triple.seed ^ 0x0D0);
    let Some(decisions) = decide(line, &ready.new, &mut dice, Gone::MayGo).await? else {
        return Ok(Seen::Nothing);
    };
    let ran = line.run(&ready.new, &decisions.request, None).await?;
    line.undo().await?;
    same("the workspace", &line.state().await?, &ready.before)
        .map_err(|wrong| format!("{:#?}\n{wrong}", ready.done))?;
    Ok(met(decisions.conflicted, &ran.report))
}

async fn drifted<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let packages = triple.packages()?;
    let mut line = applied(places, &packages.base).await?;
    let drift = line.drift().await?;
    if drift.drift {
        return Err(format!("after the first apply: {drift:#?}"));
    }
    let Some(ran) = line.apply(&packages.new, &request(true)).await? else {
        return Ok(Seen::Nothing);
    };
    // One of two things of a name stands for what the first package had outside of itself.
    if !ran.report.renamed.is_empty() {
        return Ok(Seen::Nothing);
    }
    let drift = line.drift().await?;
    let rows = drift.rows.values();
    let rows = rows.filter(|rows| rows.added + rows.deleted + rows.changed > 0);
    if drift.drift || rows.count() > 0 {
        return Err(format!("after the upgrade: {drift:#?}"));
    }
    Ok(met(false, &ran.report))
}

async fn refused<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let mut ready = worked_on(places, triple, Hand::People).await?;
    let line = &mut ready.line;
    line.plan_twice(&ready.new, &request(true)).await?;
    let entries = line.entries();
    if line.apply(&ready.new, &request(true)).await?.is_some() {
        return Ok(Seen::Nothing);
    }
    same("the workspace", &line.state().await?, &ready.before)?;
    if line.entries() != entries {
        return Err("a refused upgrade left something in the ledger".to_owned());
    }
    Ok(Seen::Decided)
}

/// What a job that was killed reports in the end, as if nothing had happened.
fn folded(report: &Report) -> String {
    let mut report = report.clone();
    for table in report.rows.values_mut() {
        table.inserted += table.skipped;
        table.skipped = 0;
    }
    // Each place has its own workspace.
    for kept in &mut report.kept {
        if kept.kind == RecordKind::Workspace {
            kept.id = Id::nil();
        }
    }
    for moved in &mut report.moved {
        if moved.kind == Some(RecordKind::Workspace) {
            moved.id = None;
        }
    }
    format!("{report:#?}")
}

async fn killed<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let mut ready = worked_on(places, triple, Hand::People).await?;
    let mut dice = Dice::new(triple.seed ^ 0xDEAD);
    let Some(decisions) = decide(&mut ready.line, &ready.new, &mut dice, Gone::MayGo).await? else {
        return Ok(Seen::Nothing);
    };
    let line = &mut ready.line;
    let request = &decisions.request;
    let whole = line.run(&ready.new, request, None).await?;
    let expected = line.state().await?;
    for unit in 0..whole.units {
        for written in [false, true] {
            let kill = Kill { unit, written };
            let wrong = |wrong: String| format!("{kill:?}: {wrong}");
            let mut again = worked_on(places, triple, Hand::People).await?;
            let line = &mut again.line;
            let ran = line
                .run(&again.new, request, Some(kill))
                .await
                .map_err(wrong)?;
            if !ran.killed {
                return Err(format!("{kill:?} did not happen"));
            }
            same("the workspace", &line.state().await?, &expected).map_err(wrong)?;
            if folded(&ran.report) != folded(&whole.report) {
                return Err(format!(
                    "{kill:?}: the report is {}\nand should be {}",
                    folded(&ran.report),
                    folded(&whole.report)
                ));
            }
        }
    }
    Ok(met(decisions.conflicted, &whole.report))
}

async fn kept<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let mut ready = worked_on(places, triple, Hand::People).await?;
    let mut dice = Dice::new(triple.seed ^ 0xCE9);
    let Some(decisions) = decide(&mut ready.line, &ready.new, &mut dice, Gone::Stay).await? else {
        return Ok(Seen::Nothing);
    };
    let line = &mut ready.line;
    let ran = line.run(&ready.new, &decisions.request, None).await?;
    let after = line.state().await?;
    let wrong = lost(&ready.base, &ready.before, &after, &decisions.decided);
    if let Some(wrong) = wrong {
        let decided = &decisions.request.terms.decisions;
        return Err(format!(
            "people: {:#?}\ndecided: {decided:#?}\n{wrong}",
            ready.done
        ));
    }
    let planned = decisions.plan.update.len() as u64;
    if ran.report.structure_updated != planned {
        return Err(format!(
            "the plan changes {planned} leaves, and {} were changed",
            ran.report.structure_updated
        ));
    }
    Ok(met(decisions.conflicted, &ran.report))
}

async fn plain_first<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let mut ready = worked_on(places, triple, Hand::Careful).await?;
    let mut upgrade = request(true);
    upgrade.terms.conflicts = Some(Side::Theirs);
    let line = &mut ready.line;
    let plan = line.plan(&ready.new, &upgrade).await?;
    // A name of theirs that the package brings, or a column that is too strict for its cells.
    if !plan.refusals.is_empty() {
        return Ok(Seen::Nothing);
    }
    let plain = line.plan(&ready.new, &request(false)).await?;
    if !plain.refusals.is_empty() || !plain.rename.is_empty() || !plan.rename.is_empty() {
        return Ok(Seen::Nothing);
    }
    let ran = line.run(&ready.new, &upgrade, None).await?;
    let mut expected = content(&line.state().await?, &line.entries());
    let mut other = worked_on(places, triple, Hand::Careful).await?;
    let line = &mut other.line;
    let first = line.run(&other.new, &request(false), None).await?;
    // A row that waits for an upgrade has a value that a new one brings.
    if is_taken(&first.report) || is_taken(&ran.report) {
        return Ok(Seen::Nothing);
    }
    let Some(_) = line.apply(&other.new, &upgrade).await? else {
        let plan = line.plan(&other.new, &upgrade).await?;
        return Err(format!(
            "refused after a plain apply: {:#?} {:#?}",
            plan.refusals, plan.conflicts
        ));
    };
    let mut found = content(&line.state().await?, &line.entries());
    // A plain apply replaces configs whole, with what people changed in them.
    for replaced in &plain.replaced_configs {
        for content in [&mut found, &mut expected] {
            let others = |reference: &String| *reference != replaced.reference;
            content.things.retain(|(_, reference), _| others(reference));
        }
    }
    let aside = linking(&other.new, &triple.packages()?.base)?;
    match compared(&found, &expected, &aside) {
        Some(wrong) => Err(format!(
            "people: {:#?}
{wrong}",
            ready.done
        )),
        None => Ok(met(false, &ran.report)),
    }
}

/// In what two workspaces differ, either way round.
fn compared(
    found: &Content,
    expected: &Content,
    aside: &BTreeSet<(String, u128)>,
) -> Option<String> {
    differs(found, expected, aside).or_else(|| {
        let back = differs(expected, found, aside);
        back.map(|wrong| format!("the other way round: {wrong}"))
    })
}

/// Jobs before an upgrade after which nothing of it is left, or nothing but its records.
#[derive(Debug, Clone, Copy)]
enum PriorUpgrade {
    /// Records alone.
    WithoutRows,
    /// The upgrade, a plain apply after it, and the upgrade is undone.
    Undone,
}

async fn prior_upgrades<P: Places>(places: &P, triple: &Triple) -> Verdict {
    let mut seen = Seen::Nothing;
    for prior in [PriorUpgrade::WithoutRows, PriorUpgrade::Undone] {
        let wrong = |wrong: String| format!("{prior:?}: {wrong}");
        let met = after_prior_upgrade(places, triple, prior)
            .await
            .map_err(wrong)?;
        seen = seen.max(met);
    }
    Ok(seen)
}

async fn after_prior_upgrade<P: Places>(
    places: &P,
    triple: &Triple,
    prior: PriorUpgrade,
) -> Verdict {
    let mut ready = worked_on(places, triple, Hand::Careful).await?;
    let mut upgrade = request(true);
    upgrade.terms.conflicts = Some(Side::Theirs);
    let Some(ran) = ready.line.apply(&ready.new, &upgrade).await? else {
        return Ok(Seen::Nothing);
    };
    let waits = |report: &Report| is_taken(report) || !report.not_published.is_empty();
    if waits(&ran.report) || !ran.report.renamed.is_empty() {
        return Ok(Seen::Nothing);
    }
    let expected = content(&ready.line.state().await?, &ready.line.entries());
    let mut other = worked_on(places, triple, Hand::Careful).await?;
    let (line, new) = (&mut other.line, &other.new);
    let before = match prior {
        PriorUpgrade::WithoutRows => {
            let mut records = upgrade.clone();
            records.include_rows = false;
            line.apply(new, &records).await?
        }
        PriorUpgrade::Undone => {
            line.run(new, &upgrade, None).await?;
            let plain = line.apply(new, &request(false)).await?;
            line.undo_at(1).await?;
            plain
        }
    };
    if before.is_none_or(|before| waits(&before.report)) {
        return Ok(Seen::Nothing);
    }
    let Some(_) = line.apply(new, &upgrade).await? else {
        let plan = line.plan(new, &upgrade).await?;
        return Err(format!(
            "refused: {:#?} {:#?}",
            plan.refusals, plan.conflicts
        ));
    };
    let found = content(&line.state().await?, &line.entries());
    let aside = match prior {
        PriorUpgrade::WithoutRows => BTreeSet::new(),
        // Here, too, a plain apply brings rows.
        PriorUpgrade::Undone => linking(new, &triple.packages()?.base)?,
    };
    match compared(&found, &expected, &aside) {
        Some(wrong) => Err(format!(
            "people: {:#?}
{wrong}",
            ready.done
        )),
        None => Ok(met(false, &ran.report)),
    }
}
