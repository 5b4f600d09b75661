// What the server says is wrong with a package, each with a control that leads to its text.
import { element } from "./element.js";
import { locate } from "./pointer.js";
import { counted } from "./words.js";

// A browser is slow with a text box of many megabytes, and whoever drops such a file does not read it there.
const MOST = 2_000_000;

const [list, verdict, sheet, area] = ["findings", "verdict", "sheet", "text"].map((id) => document.getElementById(id));

/** Nothing is known while the server checks. */
export function checking() {
  delete list.dataset.outcome;
  list.setAttribute("aria-busy", "true");
  list.replaceChildren();
  area.value = "";
  sheet.hidden = true;
  verdict.textContent = "The server checks the package…";
}

/** The package has no error. */
export function clean() {
  list.replaceChildren(element("p", { class: "none" }, "The server found no error in this package."));
  conclude("clean", "Clean");
}

/** The check itself failed. */
export function failed() {
  list.replaceChildren(element("p", { class: "none" }, "The package could not be checked."));
  conclude("failed", "The check failed");
}

/** Shows the findings of a refusal; gives whether it has any. */
export function show({ problem }, bytes) {
  const found = (problem.errors ?? []).filter(({ code }) => /^[A-Z]\d{3}$/.test(code));
  if (found.length === 0) return false;
  const text = bytes.length <= MOST ? new TextDecoder().decode(bytes) : null;
  sheet.hidden = text === null;
  area.value = text ?? "";
  // The text box has its own line ends.
  list.replaceChildren(element("ol", {}, ...found.map((finding) => entry(finding))));
  conclude("findings", counted(found.length, "error"));
  return true;
}

function entry({ code, path, message }) {
  const control = element("button", { type: "button", class: "jump" }, element("b", {}, "error"), " ", element("code", {}, code), element("span", { dir: "auto" }, message), path && element("code", { class: "where" }, path));
  control.addEventListener("click", () => select(path));
  return element("li", { "data-code": code, "data-severity": "error" }, control);
}

function select(path) {
  const place = sheet.hidden ? null : locate(area.value, path);
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
