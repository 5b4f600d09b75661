//! Edits of the text of a folder as edits of its files.

use std::collections::BTreeMap;

use super::INDEX;
use super::joined::Joined;
use super::splice::{PieceSource, Slot};
use crate::finding::{Edit, FileEdit};

/// Translates edits that do not overlap; gives nothing when one of them is not an edit of a file.
pub(super) fn translate(joined: &Joined, edits: &[&Edit]) -> Option<Vec<FileEdit>> {
    let (moves, rest): (Vec<&Edit>, Vec<&Edit>) = edits
        .iter()
        .copied()
        .partition(|edit| slot_of(joined, edit).is_some());
    let mut out = Vec::new();
    match moved(joined, &moves) {
        Some(moved) => out.extend(moved),
        // A new entry in place of another is an edit like all others.
        None => out.extend(direct_all(joined, &moves)?),
    }
    out.extend(direct_all(joined, &rest)?);
    Some(out)
}

fn direct_all(joined: &Joined, edits: &[&Edit]) -> Option<Vec<FileEdit>> {
    edits.iter().map(|edit| direct(joined, edit)).collect()
}

/// An edit inside of what was copied from one file.
fn direct(joined: &Joined, edit: &Edit) -> Option<FileEdit> {
    let span = &edit.span;
    if span.is_empty() {
        return inserted(joined, span.start, &edit.text);
    }
    let part = joined.part(span.start)?;
    match part.from {
        PieceSource::Copied(offset) if span.end <= joined.end_of(part) => {
            let from = offset + (span.start - part.at);
            let file = joined.files.get(part.file)?;
            Some(file.edit(from..from + span.len(), edit.text.clone()))
        }
        _ => None,
    }
}

/// Where text goes that is inserted. A member that is added after one that another file holds
/// stands after the last that this file has.
fn inserted(joined: &Joined, at: usize, text: &str) -> Option<FileEdit> {
    let after = joined.part(at)?;
    let file = joined.files.get(after.file)?;
    let before = joined.parts.get(
        joined
            .parts
            .partition_point(|part| part.at < at)
            .checked_sub(1)?,
    );
    let follows_made =
        after.at == at && before.is_some_and(|part| matches!(part.from, PieceSource::Made(_)));
    match after.from {
        PieceSource::Copied(offset) => {
            let offset = offset + (at - after.at);
            let here = file.bytes().get(..offset)?.trim_ascii_end();
            // Nothing stands before it in this file, so nothing needs a comma.
            let text = match here.last() {
                Some(b'{') if follows_made => text.strip_prefix(',').unwrap_or(text),
                _ => text,
            };
            Some(file.edit(offset..offset, text.to_owned()))
        }
        PieceSource::Made(_) => None,
    }
}

/// The entry that an edit replaces.
fn slot_of<'j>(joined: &'j Joined, edit: &Edit) -> Option<&'j Slot> {
    let slots = &joined.slots;
    let at = slots.partition_point(|slot| slot.span.start < edit.span.start);
    slots.get(at).filter(|slot| slot.span == edit.span)
}

/// Entries of one list that change places: the lines of the index do, and the entries of a file
/// that come in another order then.
fn moved(joined: &Joined, edits: &[&Edit]) -> Option<Vec<FileEdit>> {
    let slots: Vec<&Slot> = edits
        .iter()
        .filter_map(|edit| slot_of(joined, edit))
        .collect();
    let first = slots.first()?;
    let together = |slot: &&Slot| slot.heading == first.heading && !slot.divided;
    if !slots.iter().all(together) {
        return None;
    }
    let raw = |slot: &Slot| joined.text.get(slot.span.clone());
    // Which entry comes to which slot; of equal ones any.
    let mut left: Vec<&Slot> = slots.clone();
    let mut new: BTreeMap<usize, &Slot> = BTreeMap::new();
    for (edit, slot) in edits.iter().zip(&slots) {
        let found = left
            .iter()
            .position(|other| raw(other) == Some(edit.text.as_str()))?;
        new.insert(slot.span.start, left.swap_remove(found));
    }
    let mut out = Vec::new();
    let index = joined.files.iter().find(|file| file.name == INDEX)?;
    let name_of = |slot: &Slot| index.bytes().get(slot.line.clone());
    for slot in &slots {
        let comes = new.get(&slot.span.start)?;
        let (old, text) = (name_of(slot)?, name_of(comes)?);
        if old != text {
            let text = String::from_utf8_lossy(text).into_owned();
            out.push(index.edit(slot.line.clone(), text));
        }
    }
    // All entries of the list, in their new order, file by file.
    let mut inside: BTreeMap<usize, Vec<(&Slot, &Slot)>> = BTreeMap::new();
    let list = joined.slots.iter();
    let list: Vec<&Slot> = list.filter(|slot| slot.heading == first.heading).collect();
    let mut places: BTreeMap<usize, std::vec::IntoIter<&Slot>> = BTreeMap::new();
    for slot in &list {
        let of_file = list.iter().filter(|other| other.file == slot.file);
        places
            .entry(slot.file)
            .or_insert_with(|| of_file.copied().collect::<Vec<_>>().into_iter());
    }
    for slot in &list {
        let comes = new.get(&slot.span.start).copied().unwrap_or(slot);
        let place = places.get_mut(&comes.file)?.next()?;
        inside.entry(comes.file).or_default().push((place, comes));
    }
    for (file, pairs) in inside {
        let file = joined.files.get(file)?;
        let moved = pairs
            .iter()
            .filter(|(place, comes)| place.span != comes.span);
        for (place, comes) in moved {
            out.push(file.edit(place.inside.clone(), raw(comes)?.to_owned()));
        }
    }
    Some(out)
}

/// Makes the edits in the files that they are about.
pub(super) fn apply(joined: &Joined, edits: &[FileEdit]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut by_file: BTreeMap<&str, Vec<&Edit>> = BTreeMap::new();
    for edit in edits {
        let name = edit.file.as_deref()?;
        by_file.entry(name).or_default().push(&edit.edit);
    }
    let files = by_file.into_iter().map(|(name, mut edits)| {
        let old = joined.file(name)?;
        let file = joined.files.iter().find(|file| file.name == name)?;
        let bytes = file.bytes();
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let mut new = old.get(..old.len() - bytes.len())?.to_vec();
        let mut at = 0;
        for edit in edits {
            new.extend_from_slice(bytes.get(at..edit.span.start)?);
            new.extend_from_slice(edit.text.as_bytes());
            at = edit.span.end;
        }
        new.extend_from_slice(bytes.get(at..)?);
        Some((name.to_owned(), new))
    });
    files.collect()
}
