// Numbers and lists in words.

/** "1 table", "2 tables". */
export const counted = (count, word) => `${count.toLocaleString("en")} ${count === 1 ? word : plural(word)}`;

const plural = (word) => (word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`);

const KINDS = { feature: "table", rail: "navigation entry", workflow: "automation" };

/** The word that people use for a kind of record. */
export const kindWord = (kind) => KINDS[kind] ?? kind;

/** "2 tables, 1 view" of records with a `kind`. */
export function countedKinds(records) {
  const counts = new Map();
  for (const { kind } of records) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => counted(count, kindWord(kind))).join(", ");
}

/** What stands in a cell, as text. */
export function cellText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
