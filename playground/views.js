// What the buttons below the findings show: promotion, graph, report, simulation. One at a time.
import { call } from "./engine.js";
import { element } from "./element.js";
import { content, isEmpty, selectPlace } from "./editor.js";

const view = document.getElementById("view");
const buttons = [...document.querySelectorAll("[data-view]")];
const writers = { promotion, graph, report, simulate };

let open;
let revision = 0;
let kind = "refs";

/** Lets the buttons be pressed while there is a package. */
export function enable(enabled) {
  for (const button of buttons) button.disabled = !enabled;
  if (!enabled) close();
}

/** Shows the open view anew, of the package as it is now. */
export async function refresh() {
  if (!open || isEmpty()) return;
  revision += 1;
  const own = revision;
  view.setAttribute("aria-busy", "true");
  let parts;
  try {
    parts = await writers[open]();
  } catch (error) {
    parts = [element("p", { class: "none" }, sentence(error.message)), element("p", { class: "help" }, "The findings say where.")];
  }
  if (own !== revision) return;
  view.removeAttribute("aria-busy");
  view.replaceChildren(...parts);
}

function close() {
  revision += 1;
  open = undefined;
  view.hidden = true;
  view.replaceChildren();
  for (const button of buttons) button.setAttribute("aria-expanded", "false");
}

for (const button of buttons) {
  button.addEventListener("click", async () => {
    const chosen = button.dataset.view;
    const again = open === chosen;
    close();
    if (again) return;
    open = chosen;
    view.hidden = false;
    button.setAttribute("aria-expanded", "true");
    await refresh();
    document.getElementById("views").scrollIntoView({ block: "nearest" });
  });
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

async function promotion() {
  const file = (await call("promote", content())).files[0];
  if (!file.promotion) throw new Error(file.findings[0]?.message ?? "it cannot be measured");
  const passes = file.promotion.every((verdict) => verdict.passed);
  const lead = passes ? "All five rules hold: this package can be promoted to system visibility." : "This package cannot be promoted to system visibility yet.";
  const verdicts = file.promotion.map((verdict) => {
    const word = verdict.passed ? "passed" : "failed";
    const places = verdict.places.map((place) => {
      const control = element("button", { type: "button", class: "place" }, element("span", { class: "where" }, `${place.line}:${place.column}`), ` ${place.message}`);
      control.addEventListener("click", () => selectPlace(place.line, place.column));
      return element("li", {}, control);
    });
    const head = element("p", {}, element("b", { class: word }, word), " ", element("code", {}, verdict.code), ` ${verdict.name}`);
    return element("li", { class: "verdict" }, head, places.length > 0 && element("ul", {}, ...places));
  });
  return [element("p", { class: "lead" }, lead), element("ul", { class: "verdicts" }, ...verdicts)];
}

const KINDS = [
  ["refs", "References"],
  ["er", "Tables and links"],
  ["plan", "Plan"],
  ["deps", "Dependencies"],
  ["automations", "Automations"],
];

async function graph() {
  const markup = await call("graph", content(), { kind, canvas: "graph" });
  const parsed = new DOMParser().parseFromString(markup, "image/svg+xml").documentElement;
  const select = element("select", { id: "kind" });
  for (const [value, name] of KINDS) {
    const option = element("option", { value }, name);
    option.selected = value === kind;
    select.append(option);
  }
  select.addEventListener("change", async () => {
    kind = select.value;
    await refresh();
    document.getElementById("kind")?.focus();
  });
  const fit = element("input", { type: "checkbox", id: "fit" });
  fit.checked = matchMedia("(min-width: 48rem)").matches;
  const figure = element("figure", { tabindex: "0", role: "region", "aria-label": "Picture" }, document.importNode(parsed, true));
  const fitted = () => figure.classList.toggle("fitted", fit.checked);
  fit.addEventListener("change", fitted);
  fitted();
  const controls = element("p", { class: "controls" }, element("label", { for: "kind" }, "Draw"), select, element("label", {}, fit, " Fit to the page"));
  return [controls, figure];
}

async function report() {
  const stylesheet = new URL("./report.css", import.meta.url).href;
  const page = await call("report", content(), { stylesheet });
  const frame = element("iframe", { sandbox: "", title: "Report about the package" });
  frame.srcdoc = page;
  return [frame];
}

async function simulate() {
  const result = await call("simulate", content());
  if (result.refusals) {
    const refusals = result.refusals.map((refusal) => element("li", {}, element("code", {}, refusal.code), ` ${refusal.detail}`));
    return [
      element("p", { class: "lead" }, "This package needs decisions before it can be applied:"),
      element("ul", { class: "plain" }, ...refusals),
      element("p", { class: "help" }, "tplkit resolve init writes them down; tplkit simulate takes them with --resolutions."),
    ];
  }
  if (!result.plan) throw new Error("only a package that checks without errors can be applied");
  return simulation(result);
}

function simulation({ outcome, plan, report: done, again, undo }) {
  const kinds = new Map();
  for (const { kind: word } of plan.create) kinds.set(word, (kinds.get(word) ?? 0) + 1);
  const created = [...kinds].map(([word, count]) => counted(count, KIND_WORDS[word] ?? word));
  const lead = outcome === "clean" ? "Applied to an empty workspace in memory, again, and undone." : "Applied in memory, but not everything could be written.";
  const facts = [
    ["Created", created.join(", ") || "nothing"],
    ["Again", again.changed ? "the workspace changed" : "0 changes"],
    ["Undo", undo.restored ? "the workspace is what it was before" : "something is left"],
  ];
  const list = element("dl", {}, ...facts.flatMap(([term, text]) => [element("dt", {}, term), element("dd", {}, text)]));
  const tables = Object.entries(done.rows ?? {});
  const open = done.unresolved ?? [];
  return [
    element("p", { class: "lead" }, lead),
    list,
    tables.length > 0 && rows(tables),
    open.length > 0 && element("p", { class: "help" }, `${counted(open.length, "place")} to be completed by hand afterwards; the report lists them.`),
  ].filter(Boolean);
}

const KIND_WORDS = { feature: "table", workflow: "automation" };

function rows(tables) {
  const head = ["Table", "Inserted", "Skipped", "Failed"].map((name) => element("th", { scope: "col" }, name));
  const body = tables.map(([name, counts]) => {
    const numbers = [counts.inserted, counts.skipped, counts.failed].map((count) => element("td", {}, (count ?? 0).toLocaleString("en")));
    return element("tr", {}, element("th", { scope: "row" }, name), ...numbers);
  });
  const table = element("table", {}, element("caption", {}, "Rows"), element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows" }, table);
}
