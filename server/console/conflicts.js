// What an upgrade asks: one choice for each thing that the package and people have both changed.
import { element } from "./element.js";
import { ExactNumber } from "./json.js";
import { called, cellText, kindWord } from "./words.js";

const place = document.getElementById("conflicts");

const WORDS = {
  ours: "Keep what the workspace has",
  theirs: "Take what the package brings",
  adopt: "Take over what people made",
  create: "Create it",
  leave: "Leave it away",
};
// A decision about a whole record stands here.
const WHOLE = "*";
const SIDES = [["base", "Applied before"], ["theirs", "The package"], ["ours", "The workspace"]];

/** Everything that was asked, by ref and path. */
let asked = new Map();
let rest = null;
let destructive = null;

/** Nothing is asked. */
export function clear() {
  asked = new Map();
  [rest, destructive] = [null, null];
  place.replaceChildren();
}

/** Adds what a plan asks, and shows all of it; `changed` is called after every choice. */
export function show({ conflicts = [], conflicts_more: more = 0, bind = [], refusals = [] }, labels, changed) {
  for (const conflict of conflicts) ask(conflict, bind, labels, changed);
  if (asked.size === 0 && more === 0) return;
  rest ??= select("rest", [["", "Decide each"], ["ours", WORDS.ours], ["theirs", WORDS.theirs]], changed);
  if (refusals.some(({ code }) => code === "destructive")) destructive ??= box(changed);
  place.replaceChildren(
    element("p", {}, "The package and people have both changed something. Decide what holds."),
    ...[...asked.values()].map(({ line }) => line),
    element("p", { class: "decision" }, element("label", { for: rest.id }, more > 0 ? `Everything else, with ${more} more cells` : "Everything else"), rest),
    ...(destructive ? [element("p", { class: "decision" }, element("label", { for: destructive.id }, "Also what deletes cells, columns or tables"), destructive)] : []),
  );
}

/** What is decided, as members of a request. */
export function terms() {
  const decisions = {};
  for (const { conflict, bind, choice } of asked.values()) {
    if (choice.value !== "") (decisions[conflict.ref] ??= {})[conflict.path ?? WHOLE] = decision(conflict, bind, choice.value);
  }
  return {
    ...(Object.keys(decisions).length > 0 && { decisions }),
    ...(rest?.value && { conflicts: rest.value }),
    ...(destructive?.checked && { allowDestructive: true }),
  };
}

function ask(conflict, bind, labels, changed) {
  const key = JSON.stringify([conflict.ref, conflict.path]);
  const before = asked.get(key);
  // It is asked again because the workspace has another value by now.
  const at = before?.at ?? asked.size;
  const options = [["", "Decide…"], ...choices(conflict).map((word) => [word, WORDS[word]])];
  const choice = select(`conflict-${at}`, options, changed);
  const focused = before && document.activeElement === before.choice;
  asked.set(key, { at, conflict, bind, choice, line: line(conflict, labels, choice) });
  if (focused) queueMicrotask(() => choice.focus());
}

function choices({ code }) {
  switch (code) {
    case "name_taken":
      return ["adopt", "create"];
    case "removed_here":
      return ["leave", "create"];
    case "unique_repeated":
      return ["ours"];
    default:
      return ["ours", "theirs"];
  }
}

function select(id, options, changed) {
  const made = element("select", { id }, ...options.map(([value, words]) => element("option", { value }, words)));
  made.addEventListener("change", changed);
  return made;
}

function box(changed) {
  const made = element("input", { id: "destructive", type: "checkbox" });
  made.addEventListener("change", changed);
  return made;
}

function line(conflict, labels, choice) {
  const { ref, kind, path, code, count } = conflict;
  const what = kind === "rows" ? "rows of" : kindWord(kind);
  const of = count ? `${code}, ${count} cells` : code;
  const head = element("label", { for: choice.id }, `${what} `, element("bdi", {}, called(labels, ref)), " ", element("small", { dir: "auto" }, `${path ?? "as a whole"}, ${of}`));
  const values = path === null ? [] : [element("dl", {}, ...SIDES.flatMap(([side, words]) => [element("dt", {}, words), element("dd", { dir: "auto" }, value(conflict, side))]))];
  return element("div", { class: "conflict" }, element("p", { class: "decision" }, head, choice), ...values);
}

function value({ absent = [], ...conflict }, side) {
  if (absent.includes(side) || conflict[side] === null) return "(none)";
  return cellText(conflict[side]);
}

/** A decision, made against the value that the workspace has. */
function decision({ path, ours, ours_digest: digest }, bind, take) {
  if (path === null) return take;
  if (ours === null) return { take, absent: true };
  // It is cut, and its digest stands for it.
  if (typeof ours === "string" && ours.endsWith("…")) return digest ? { take, ours: digest } : take;
  return { take, ours: inPackageWords(ours, new Map(bind.map(({ id, ref }) => [id, `$${ref}`]))) };
}

/** A value of the workspace with refs in place of ids. */
function inPackageWords(value, refs) {
  if (typeof value === "string") return refs.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => inPackageWords(one, refs));
  if (value === null || typeof value !== "object" || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inPackageWords(one, refs)]));
}
