// What the server says is wrong with a package, each with a control that leads to its text.
import { element } from "./element.js";
import { locate } from "./pointer.js";
import { coded, counted } from "./words.js";

// A browser is slow with a text box of many megabytes, and whoever drops such a file does not read it there.
const MOST = 2_000_000;

const [list, verdict, sheet, area] = ["findings", "verdict", "sheet", "text"].map((id) => document.getElementById(id));

/** There is no package. */
export function clear() {
  delete list.dataset.outcome;
  list.removeAttribute("aria-busy");
  list.replaceChildren();
  area.value = "";
  sheet.hidden = true;
  verdict.textContent = "";
}

/** Nothing is known while the server checks. */
export function checking() {
  clear();
  list.setAttribute("aria-busy", "true");
  verdict.textContent = "The server checks the package…";
}

/** The package has no error: it was checked when it came into the catalog. */
export function clean() {
  list.replaceChildren(element("p", { class: "none" }, "The server found no error in this package."));
  conclude("clean", "Clean");
}

/** The check itself failed. */
export function failed() {
  list.replaceChildren(element("p", { class: "none" }, "The package could not be checked."));
  conclude("failed", "The check failed");
}

/** Whether there is a verdict. */
export const known = () => list.dataset.outcome !== undefined;

/** Shows a refusal that names rules; gives whether it does. */
export function refused(error, bytes) {
  const faults = (error.problem?.errors ?? []).filter(({ code }) => /^[A-Z]\d{3}$/.test(code));
  if (faults.length === 0) return false;
  show({ outcome: "findings", findings: faults.map((fault) => ({ ...fault, severity: "error", help: "" })), findings_more: 0 }, bytes);
  return true;
}

/** Shows what the server found; warnings and hints keep no package out. */
export function show({ outcome, findings, findings_more: more }, bytes) {
  if (findings.length === 0) return clean();
  const text = bytes.length <= MOST ? new TextDecoder().decode(bytes) : null;
  sheet.hidden = text === null;
  // The text box has its own line ends.
  area.value = text ?? "";
  const parts = [
    text === null && element("p", { class: "none" }, "The package is too large to show: each finding names its place."),
    element("ol", {}, ...findings.map((finding) => entry(finding, text !== null))),
    more > 0 && element("p", { class: "none" }, `And ${more.toLocaleString("en")} more.`),
  ];
  list.replaceChildren(...parts.filter(Boolean));
  const severities = ["error", "warning", "hint"].map((severity) => [findings.filter((one) => one.severity === severity).length, severity]);
  const counts = severities.filter(([count]) => count > 0).map(([count, severity]) => counted(count, severity));
  conclude(outcome, outcome === "clean" ? `No error, ${counts.join(", ")}` : counts.join(", "));
}

function entry({ code, severity, path, message, help }, leads) {
  const attributes = leads ? { type: "button", class: "jump" } : { class: "jump" };
  const control = element(leads ? "button" : "div", attributes, element("b", {}, severity), " ", element("code", {}, code), element("span", { dir: "auto" }, ...coded(message)), path && element("code", { class: "where" }, path), help !== "" && element("small", { dir: "auto" }, ...coded(help)));
  if (leads) control.addEventListener("click", () => select(path));
  return element("li", { "data-code": code, "data-severity": severity }, control);
}

function select(path) {
  const place = locate(area.value, path);
  if (!place) return;
  area.focus();
  area.setSelectionRange(...place);
  // Browsers scroll to a selection only when something is typed.
  const line = area.value.slice(0, place[0]).split("\n").length;
  area.scrollTop = (line / area.value.split("\n").length) * area.scrollHeight - area.clientHeight / 2;
}

function conclude(outcome, words) {
  list.removeAttribute("aria-busy");
  list.dataset.outcome = outcome;
  verdict.textContent = words;
}
