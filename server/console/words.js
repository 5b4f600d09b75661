// Numbers, lists and messages in words.
import { element } from "./element.js";
import { stringify } from "./json.js";

/** "1 table", "2 tables". */
export const counted = (count, word) => `${count.toLocaleString("en")} ${count === 1 ? word : plural(word)}`;

const plural = (word) => (word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`);

const KINDS = { feature: "table", rail: "navigation entry", workflow: "automation", workflowV2: "automation", timerProfile: "timer profile" };

/** The word that people use for a kind of record. */
export const kindWord = (kind) => KINDS[kind] ?? kind;

/** "2 tables, 1 view" of records with a `kind`. */
export function countedKinds(records) {
  const counts = new Map();
  for (const { kind } of records) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => counted(count, kindWord(kind))).join(", ");
}

/** Each record once, of entries about leaves. */
export const distinct = (entries) => [...new Map(entries.map((entry) => [entry.ref, entry])).values()];

/** Labels by ref of what a package brings and names. */
export function labelsOf({ items = [], dependencies = [], plan } = {}) {
  const labels = new Map();
  const note = (ref, label) => {
    const bare = ref?.replace(/^\$/, "");
    if (bare && label && !labels.has(bare)) labels.set(bare, label);
  };
  for (const { ref, label } of items) note(ref, label);
  for (const { ref, args = {} } of plan?.steps ?? []) note(ref, args.label ?? args.name);
  for (const { ref, identity = {} } of dependencies) note(ref, identity.label ?? identity.name);
  return labels;
}

/** What a ref names, as people call it. */
export const called = (labels, ref) => labels.get(ref) ?? ref;

/** A message of the server as nodes: what it has between backticks is code. */
export const coded = (message) => message.split(/`([^`]+)`/).map((part, at) => (at % 2 === 0 ? part : element("code", {}, part)));

/** What stands in a cell, as text. */
export function cellText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? stringify(value) : String(value);
}
