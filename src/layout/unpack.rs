//! Unpacks a package into files.

use super::piece::{Handle, Piece};
use super::unit::{LayoutFile, LayoutFiles, Lists};
use super::{FileSink, INDEX, Index, Section, TEMPLATE, shape};
use crate::json::{JsonKind, Node, validate};
use crate::package::canonical::{self, CanonicalError, Columns, Writer};
use crate::package::format::{ENVELOPE, Shape};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// The index, which names every file.
    pub index: Index,
}

/// Writes a package as files: the index last, so that a folder without one is not a whole folder.
///
/// Fails where [`canonical::write`](crate::package::canonical::write) fails: for a text that is no
/// package, or that repeats a key; and when the target does. Files may have been created by then.
///
/// ```
/// use tplkit::layout::{Files, pack, unpack};
///
/// let text = include_str!("../../examples/crm.json");
/// let mut files = Files::new();
/// unpack(text, &mut files)?;
/// assert!(files.contains_key("tplkit.index") && files.len() > 20);
///
/// let mut packed = Vec::new();
/// pack(&files, &mut packed)?;
/// assert_eq!(packed, tplkit::package::canonical::write(text)?.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unpack(text: &str, target: &mut dyn FileSink) -> Result<Unpacked, CanonicalError> {
    let (doc, shape) = canonical::read(text)?;
    let root = doc.root();
    let envelope = std::ptr::eq(shape, &raw const ENVELOPE).then_some(root);
    let manifest = envelope
        .and_then(|file| file.get("manifest"))
        .unwrap_or(root);
    let lists = lists(manifest, envelope);
    let units = LayoutFiles::assign(&lists);
    write(
        target,
        TEMPLATE,
        &template(manifest, envelope, &lists),
        &shape::TEMPLATE,
    )?;
    for unit in &units.all {
        write_unit(target, unit)?;
    }
    let text = units.index.write();
    target.create(INDEX, &mut |sink| Ok(sink.write_all(text.as_bytes())?))?;
    Ok(Unpacked { index: units.index })
}

/// The lists that are taken apart.
fn lists<'d>(manifest: Node<'d>, envelope: Option<Node<'d>>) -> Lists<'d> {
    let plan = manifest.get("plan");
    let found = Section::ALL.into_iter().filter_map(|section| {
        let holder = match section {
            Section::Steps => plan?,
            Section::Payloads => envelope?,
            _ => manifest,
        };
        let list = holder.get(section.as_str())?;
        matches!(list.kind(), JsonKind::Array).then_some((section, list))
    });
    Lists {
        found: found.collect(),
        plan_id: plan.and_then(|plan| plan.get_str("id")),
    }
}

/// What belongs to no entry.
fn template<'d>(manifest: Node<'d>, envelope: Option<Node<'d>>, lists: &Lists<'d>) -> Piece<'d> {
    let taken = |section: Section| lists.found.iter().any(|(found, _)| *found == section);
    let keys: Vec<&str> = Section::ALL
        .into_iter()
        .filter(|section| taken(*section))
        .filter(|section| !matches!(section, Section::Steps | Section::Payloads))
        .map(Section::as_str)
        .collect();
    let mut members = Piece::without(manifest, &keys);
    if taken(Section::Steps) {
        for (key, piece) in &mut members {
            if let ("plan", Piece::Node(plan)) = (*key, &*piece) {
                *piece = Piece::Object(Piece::without(*plan, &[Section::Steps.as_str()]));
            }
        }
    }
    let mut whole = vec![("template", Piece::Object(members))];
    if let Some(envelope) = envelope {
        let mut keys = vec!["manifest"];
        keys.extend(taken(Section::Payloads).then_some(Section::Payloads.as_str()));
        whole.push(("file", Piece::Object(Piece::without(envelope, &keys))));
    }
    Piece::Object(whole)
}

fn write_unit(target: &mut dyn FileSink, unit: &LayoutFile<'_>) -> Result<(), CanonicalError> {
    let mut members = Vec::new();
    members.extend(unit.item.map(|item| ("item", Piece::Node(item))));
    members.extend(unit.dependency.map(|one| ("dependency", Piece::Node(one))));
    if let Some(payload) = unit.payload {
        let piece = match unit.rows() {
            Some(_) => Piece::Object(Piece::without(payload, &["rows"])),
            None => Piece::Node(payload),
        };
        members.push(("payload", piece));
    }
    for (key, list) in [
        ("unresolved", &unit.unresolved),
        ("redacted", &unit.redacted),
        ("steps", &unit.steps),
    ] {
        if !list.is_empty() {
            members.push((key, Piece::list(list)));
        }
    }
    write(target, &unit.name, &Piece::Object(members), &shape::UNIT)?;
    if let (Some(payload), Some(rows)) = (unit.payload, unit.rows()) {
        let columns = payload.get("columns").map(Columns::of).unwrap_or_default();
        target.create(&format!("{}l", unit.name), &mut |sink| {
            canonical::write_rows_as_lines(rows, &columns, sink)
        })?;
    }
    Ok(())
}

fn write<'p>(
    target: &mut dyn FileSink,
    name: &str,
    piece: &'p Piece<'p>,
    shape: &'static Shape,
) -> Result<(), CanonicalError> {
    let mut writer = Writer::gathering(0);
    writer.root(Handle::of(piece), shape)?;
    let text = writer.finish()?;
    // `template.json` stands one level deeper than a bare manifest: at the bound of nesting, what
    // could be read would not be read again.
    validate(&text)?;
    target.create(name, &mut |sink| Ok(sink.write_all(text.as_bytes())?))
}
