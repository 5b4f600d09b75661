// Types of @tplkit/wasm. Documents are those of `tplkit … --format json`.

/** A package: its bytes, or its text. */
export type Package = Uint8Array | string;

/** What `init` can start from when the module is not next to this file. */
export type ModuleSource = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Starts the module; every other function needs it. Later calls wait for the first. */
export default function init(source?: ModuleSource | Promise<ModuleSource>): Promise<void>;

export interface PackageOptions {
  /** The name of the package in documents; `-` without one. */
  path?: string;
  /** A registry from another server, instead of the built-in one. */
  definitions?: string | object;
}

/** Codes, prefixes of codes, names of rules, `all` or `warnings`. */
export interface RuleOptions {
  select?: string[];
  ignore?: string[];
  warn?: string[];
  deny?: string[];
}

export interface CheckOptions extends PackageOptions, RuleOptions {
  /** Measures the five promotion rules, too. */
  promotion?: boolean | "system";
}

export interface FixOptions extends CheckOptions {
  /** Also makes fixes that may change what the package means. */
  unsafeFixes?: boolean;
}

export interface DiffOptions {
  /** Compares rows, too. */
  rows?: boolean;
}

export interface GraphOptions extends PackageOptions {
  /** `refs` without one. */
  kind?: "refs" | "plan" | "deps" | "automations" | "er";
  /** `svg` without one. */
  format?: "svg" | "dot" | "mermaid" | "json";
  /** This ref, and what one edge joins to it, alone. */
  focus?: string;
  /** Draws an SVG for a page that has the style sheet `report.css`; ids inside begin with this word. */
  canvas?: string;
}

export interface ReportOptions extends PackageOptions {
  /** How many rows of each table are shown; 10 without it. */
  rows?: number;
  /** The address of `report.css`, for a `srcdoc` frame of a page whose policy forbids inline styles. */
  stylesheet?: string;
}

export interface SimulateOptions extends PackageOptions {
  /** Decisions: the body of an apply. */
  resolutions?: string | object;
  rowsMode?: "all" | "missingByKey" | "none";
  noRows?: boolean;
  acceptFailedRows?: boolean;
  /** A package that the workspace holds before. */
  into?: string | object;
}

export type Outcome = "clean" | "findings" | "failed";
export type Severity = "error" | "warning" | "hint";

/** A place; lines and columns count from 1, columns in Unicode scalar values. */
export interface Place {
  pointer: string;
  line: number;
  column: number;
  message: string;
}

/** Bytes of the text that another text replaces; a byte-order mark does not count. */
export interface Edit {
  offset: number;
  length: number;
  text: string;
}

export interface Fix {
  title: string;
  safe: boolean;
  edits: Edit[];
}

export interface Finding {
  code: string;
  name: string;
  severity: Severity;
  pointer: string;
  line: number;
  column: number;
  /** In bytes; a byte-order mark does not count. */
  offset: number;
  length: number;
  message: string;
  help: string;
  related: Place[];
  fix?: Fix;
}

export interface Verdict {
  code: string;
  name: string;
  passed: boolean;
  places: Place[];
}

export interface CheckedFile {
  path: string;
  kind: "package" | "plain";
  findings: Finding[];
  promotion?: Verdict[];
}

export interface Summary {
  files: number;
  packages: number;
  plain: number;
  errors: number;
  warnings: number;
  hints: number;
}

export interface CheckDocument {
  schemaVersion: 1;
  outcome: Outcome;
  files: CheckedFile[];
  summary: Summary;
}

export interface DiffDocument {
  schemaVersion: 1;
  outcome: "clean";
  identical: boolean;
  changes: Record<string, unknown>[];
  rows: Record<string, unknown>[];
}

export interface Refusal {
  code: string;
  ref: string | null;
  detail: string;
}

/** What a simulation did; a package with errors gives a `CheckDocument` instead. */
export interface SimulateDocument {
  schemaVersion: 1;
  outcome: "clean" | "findings" | "partial";
  path: string;
  /** Why the package cannot be applied as asked; nothing else is there then. */
  refusals?: Refusal[];
  into?: null;
  plan?: Record<string, unknown>;
  report?: Record<string, unknown>;
  again?: { changed: boolean; report: Record<string, unknown> };
  undo?: { restored: boolean };
}

/** Why a call has no result. */
export class TplkitError extends Error {
  constructor(message: string, document?: CheckDocument);
  /** Where, when it is the package that is wrong. */
  document?: CheckDocument;
}

/** The findings of a package. */
export function check(content: Package, options?: CheckOptions): CheckDocument;
/** The five promotion rules, measured. */
export function promote(content: Package, options?: PackageOptions): CheckDocument;
/** The text with all fixes made that `tplkit check --fix` makes. */
export function fix(content: Package, options?: FixOptions): string;
/** The canonical text. Throws for what is not a package. */
export function fmt(content: Package, options?: PackageOptions): string;
/** What differs between two packages. Throws for what is not a package. */
export function diff(first: Package, second: Package, options?: DiffOptions): DiffDocument;
/** The package as a picture, or as a graph for other tools. Throws for what is not a package. */
export function graph(content: Package, options?: GraphOptions): string;
/** A page about the package. Throws for what is not a package. */
export function report(content: Package, options?: ReportOptions): string;
/** What applying the package to a workspace in memory does, does again, and leaves after its undo. */
export function simulate(content: Package, options?: SimulateOptions): SimulateDocument | CheckDocument;
