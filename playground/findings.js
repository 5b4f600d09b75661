// The list of findings: one element for each, with a control that leads to its text.
import { element } from "./element.js";

const list = document.getElementById("findings");
const status = document.getElementById("status");
const welcome = document.getElementById("welcome");

/** Nothing is known while a check runs. */
export function checking() {
  delete list.dataset.outcome;
  list.setAttribute("aria-busy", "true");
}

/** There is no package. */
export function empty() {
  delete list.dataset.outcome;
  list.removeAttribute("aria-busy");
  list.replaceChildren(welcome);
  status.textContent = "";
}

/** The check itself failed; `again` is called by whoever tries once more. */
export function failed(message, again) {
  const control = element("button", { type: "button" }, "Check again");
  control.addEventListener("click", again);
  list.replaceChildren(element("p", { class: "none" }, message), element("p", { class: "none" }, control));
  conclude("failed", "The check failed");
}

/** Shows the document of a check. `jump` and `fix` are called with a finding. */
export function show(document, { jump, fix }) {
  const { findings } = document.files[0];
  const shown = findings.map((finding) => entry(finding, jump, fix));
  const none = element("p", { class: "none good" }, "No findings. This package checks clean.");
  list.replaceChildren(shown.length > 0 ? element("ol", {}, ...shown) : none);
  const { errors, warnings, hints } = document.summary;
  const counts = [counted(errors, "error"), counted(warnings, "warning"), counted(hints, "hint")];
  conclude(document.outcome, counts.filter(Boolean).join(", ") || "Clean");
}

const counted = (count, word) => count > 0 && `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function conclude(outcome, words) {
  list.removeAttribute("aria-busy");
  list.dataset.outcome = outcome;
  status.textContent = words;
}

function entry(finding, jump, fix) {
  const control = element(
    "button",
    { type: "button", class: "jump" },
    element("span", { class: "title" }, element("b", {}, finding.severity), " ", element("code", {}, finding.code), ` ${finding.name}`),
    element("span", { class: "say" }, finding.message),
    element("span", { class: "where" }, `${finding.line}:${finding.column}`, finding.pointer && ` ${finding.pointer}`),
  );
  control.addEventListener("click", () => jump(finding));
  const about = element("div", { "data-code": finding.code, "data-severity": finding.severity }, control);
  const item = element("li", { class: finding.severity }, about, element("p", { class: "help" }, finding.help));
  if (finding.fix) {
    const { title, safe } = finding.fix;
    const button = element("button", { type: "button", class: "fix" }, title, !safe && element("small", {}, " (may change its meaning)"));
    button.addEventListener("click", () => fix(finding));
    item.append(button);
  }
  return item;
}
