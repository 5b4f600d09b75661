//! The configs inside the args of a plan step: which part of them the definitions declare, and
//! how to change values in them by place.
//!
//! The linter looks at them, the exporter turns ids into refs, an apply turns refs into ids: all
//! of them walk here.

use super::Tool;
use crate::definitions::{
    ConfigFault, DeclaredValue, Definitions, Field, FieldType, Fields, Reference, Visitor, walk,
    walk_listed,
};
use crate::json::path::{dotted, split_dotted};
use crate::json::{Doc, Node, Object, SyntaxError, Value};
use crate::rows::sorted_to;

/// What the definitions need to know of the record, beyond the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declared<'f> {
    /// Type and component of a column.
    Column(&'f str, Option<&'f str>),
    /// Type of a view.
    View(&'f str),
    /// Nothing: the tool says it all (or the type is not known).
    Other,
}

/// A declared value in a config.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSpot<'d, 'f> {
    /// The value.
    pub node: Node<'d>,
    /// Its declaration.
    pub field: &'f Field,
    /// What it names.
    pub reference: Option<&'f Reference>,
    /// The outermost object of the config (of an automation: of one step or the trigger), within
    /// which `of` is looked up.
    pub config: Node<'d>,
    /// Whether it is in an automation.
    pub automation: bool,
}

impl<'d> ConfigSpot<'d, '_> {
    /// The sibling that `of` names, looked for outwards from the value to the config's end.
    pub fn named_by(&self, key: &str) -> Option<Node<'d>> {
        let mut current = self.node;
        while current != self.config {
            current = current.parent()?;
            if let Some(found) = current.get(key) {
                return Some(found);
            }
        }
        None
    }

    /// Whether a run resolves the tokens in it: a binding of the type `literal` is written as it is.
    pub fn holds_tokens(&self) -> bool {
        let owner = self.node.parent().filter(|owner| *owner != self.config);
        let is_literal = owner.and_then(|owner| owner.get_str("type")) == Some("literal");
        self.field.expression && !is_literal
    }

    /// Whether the value is a list or object whose parts are reported on their own.
    pub fn is_container(&self) -> bool {
        matches!(self.field.kind, FieldType::List | FieldType::Object)
    }
}

/// Visits configs.
pub(crate) trait ConfigVisitor<'d, 'f> {
    /// A declared value.
    fn spot(&mut self, spot: ConfigSpot<'d, 'f>);
    /// A structural mistake; the last argument says whether it is in an automation.
    fn fault(&mut self, fault: ConfigFault<'d, 'f>, automation: bool);
    /// A value in an automation of which the definitions say nothing, steps inside it included:
    /// that of an unknown step or trigger, or what stands where steps or settings should.
    fn undeclared(&mut self, _node: Node<'d>) {}
}

/// Walks everything in `args` that the definitions declare for a step of that tool.
pub(crate) fn walk_args<'d, 'f>(
    definitions: &'f Definitions,
    tool: Tool,
    args: Node<'d>,
    declared: Declared<'f>,
    visitor: &mut dyn ConfigVisitor<'d, 'f>,
) {
    let mut walker = Walker {
        definitions,
        config: args,
        automation: false,
        visitor,
    };
    let keys = &definitions.config_keys;
    let config = args.get("config");
    let object = config.filter(|config| config.is_object());
    match tool {
        Tool::CreateColumn | Tool::UpdateColumn => {
            let Declared::Column(column_type, component) = declared else {
                return;
            };
            let fields = definitions.column_fields(column_type, component.unwrap_or_default());
            let Some(fields) = fields else { return };
            match object {
                Some(config) => {
                    walker.config = config;
                    walk_listed(config, &fields, &mut walker);
                }
                None if config.is_none() && tool == Tool::CreateColumn => {
                    // A column without config lacks every required key of its type.
                    for (key, field) in fields.iter().filter(|(_, field)| field.is_required()) {
                        let object = args;
                        walker.fault(ConfigFault::Missing { object, key, field });
                    }
                }
                None => {}
            }
        }
        Tool::CreateView | Tool::UpdateView => {
            let Declared::View(view_type) = declared else {
                return;
            };
            if let (Some(kind), Some(config)) = (definitions.view_types.get(view_type), config) {
                // Anything but a list of one object is another rule's (S010).
                if let Some(element) = config.at(0).filter(|e| config.len() == 1 && e.is_object()) {
                    walker.object(Some(element), &kind.config);
                }
            }
        }
        Tool::CreateRail => {
            let elements = config.into_iter().flat_map(Node::elements);
            for element in elements.filter(|element| element.is_object()) {
                walker.object(Some(element), &keys.rail);
            }
        }
        Tool::CreateModule | Tool::UpdateModule => walker.object(object, &keys.module),
        Tool::CreateFeature | Tool::UpdateFeature => walker.object(object, &keys.feature),
        Tool::UpdateWorkspace => walker.object(object, &keys.workspace),
        Tool::CreateWorkflowV2 => {
            walker.automation = true;
            let trigger = args.get("triggerConfig");
            let kind = trigger
                .and_then(|trigger| trigger.get_str("type"))
                .and_then(|name| definitions.triggers.get(name));
            let settings = trigger.and_then(|trigger| trigger.get("config"));
            match (kind, settings) {
                (Some(kind), Some(settings)) if settings.is_object() => {
                    walker.object(Some(settings), &kind.config);
                }
                (_, Some(settings)) => walker.visitor.undeclared(settings),
                (_, None) => {}
            }
            let graph = args.get("graphConfig");
            match graph.and_then(|graph| graph.get("steps")) {
                Some(steps) if steps.is_array() => walker.graph_steps(steps),
                Some(other) => walker.visitor.undeclared(other),
                None => {}
            }
        }
        _ => {}
    }
}

struct Walker<'d, 'f, 'v> {
    definitions: &'f Definitions,
    config: Node<'d>,
    automation: bool,
    visitor: &'v mut dyn ConfigVisitor<'d, 'f>,
}

impl<'d, 'f> Walker<'d, 'f, '_> {
    fn object(&mut self, object: Option<Node<'d>>, fields: &'f Fields) {
        if let Some(object) = object {
            self.config = object;
            walk(object, fields, self);
        }
    }

    fn graph_steps(&mut self, list: Node<'d>) {
        for step in list.elements() {
            let definition = step
                .get_str("key")
                .and_then(|key| self.definitions.steps.get(key));
            match (definition, step.get("config")) {
                (Some(definition), Some(config)) if config.is_object() => {
                    let outer = std::mem::replace(&mut self.config, config);
                    walk(config, &definition.config, self);
                    self.config = outer;
                }
                (_, Some(config)) => self.visitor.undeclared(config),
                (_, None) if !step.is_object() => self.visitor.undeclared(step),
                (_, None) => {}
            }
        }
    }
}

impl<'d, 'f> Visitor<'d, 'f> for Walker<'d, 'f, '_> {
    fn field(&mut self, spot: DeclaredValue<'d, 'f>) {
        self.visitor.spot(ConfigSpot {
            node: spot.node,
            field: spot.field,
            reference: spot.reference(),
            config: self.config,
            automation: self.automation,
        });
    }

    fn fault(&mut self, fault: ConfigFault<'d, 'f>) {
        self.visitor.fault(fault, self.automation);
    }

    fn steps(&mut self, spot: DeclaredValue<'d, 'f>) {
        self.graph_steps(spot.node);
    }
}

/// What happens to one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Another value takes its place.
    Set(Value),
    /// It goes, with its key.
    Remove,
    /// The member gets another key.
    Rename(String),
}

/// Values to be changed, by dotted path inside the args (`contract` 2.4).
#[derive(Debug, Clone, Default)]
pub(crate) struct Edits(Vec<(String, Edit)>);

impl Edits {
    /// Notes a change of the value at `node`, and gives its path.
    pub(crate) fn at(&mut self, args: Node<'_>, node: Node<'_>, edit: Edit) -> String {
        let path = dotted(args, node);
        self.0.push((path.clone(), edit));
        path
    }

    /// Notes a change of the value at a path, which may be a member that is not there yet.
    pub(crate) fn at_path(&mut self, path: String, edit: Edit) {
        self.0.push((path, edit));
    }

    /// Makes the changes. Values are reported from front to back, so the last go first: what is
    /// removed moves nothing that is still to be found.
    pub(crate) fn apply(self, args: &mut Object) {
        for (path, edit) in self.0.into_iter().rev() {
            let mut segments = split_dotted(&path);
            let Some(last) = segments.pop() else { continue };
            let Some(owner) = find(args, &segments) else {
                continue;
            };
            match owner {
                Container::Members(members) => match edit {
                    Edit::Set(value) => drop(members.insert(last, value)),
                    Edit::Remove => drop(members.shift_remove(&last)),
                    Edit::Rename(name) => {
                        let renamed = std::mem::take(members).into_iter();
                        *members = renamed
                            .map(|(key, value)| {
                                (if key == last { name.clone() } else { key }, value)
                            })
                            .collect();
                    }
                },
                Container::Elements(elements) => {
                    let at = last.parse().unwrap_or(usize::MAX);
                    match edit {
                        Edit::Set(value) if at < elements.len() => elements[at] = value,
                        Edit::Remove if at < elements.len() => drop(elements.remove(at)),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// What a value is in.
enum Container<'v> {
    Members(&'v mut Object),
    Elements(&'v mut Vec<Value>),
}

fn find<'v>(args: &'v mut Object, segments: &[String]) -> Option<Container<'v>> {
    segments
        .iter()
        .try_fold(Container::Members(args), |place, segment| {
            let value = match place {
                Container::Members(members) => members.get_mut(segment),
                Container::Elements(elements) => elements.get_mut(segment.parse::<usize>().ok()?),
            };
            match value? {
                Value::Object(members) => Some(Container::Members(members)),
                Value::List(elements) => Some(Container::Elements(elements)),
                _ => None,
            }
        })
}

/// Looks at `args` as a document, so that they can be walked; fails only when they are nested
/// deeper than any document may be.
pub(crate) fn with_args<T>(
    args: &Object,
    look: impl FnOnce(Node<'_>) -> T,
) -> Result<T, SyntaxError> {
    let text = Value::Object(args.clone()).write();
    Ok(look(Doc::parse(&text)?.root()))
}

/// The same, with the keys of all objects by code point: what is found then has an order of its own, whoever wrote the
/// file.
pub(crate) fn with_sorted_args<T>(
    args: &Object,
    look: impl FnOnce(Node<'_>) -> T,
) -> Result<T, SyntaxError> {
    let mut text = String::new();
    sorted_to(&mut text, &Value::Object(args.clone()).write());
    Ok(look(Doc::parse(&text)?.root()))
}

#[cfg(test)]
mod tests {
    use super::{Edit, Edits, with_args};
    use crate::json::path::find;
    use crate::json::{Object, Value};

    #[test]
    fn edits_are_made_back_to_front() {
        let text = r#"{"a":{"x.y":1,"l":[1,2,3]},"b":"z"}"#;
        let mut args: Object = serde_json::from_str(text).expect("JSON");
        let edits = with_args(&args, |root| {
            let mut edits = Edits::default();
            let at = |path: &str| find(root, path).expect("there");
            assert_eq!(
                edits.at(root, at("a.x\\.y"), Edit::Rename("w".to_owned())),
                "a.x\\.y"
            );
            edits.at(root, at("a.l.0"), Edit::Remove);
            edits.at(root, at("a.l.2"), Edit::Set(Value::Null));
            edits.at(root, at("b"), Edit::Remove);
            edits
        });
        let edits = edits.expect("parses");
        edits.apply(&mut args);
        assert_eq!(Value::Object(args).write(), r#"{"a":{"w":1,"l":[2,null]}}"#);
    }
}
