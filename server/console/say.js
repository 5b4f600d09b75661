// What the page says to a person: refusals, and questions before something happens.
import { Ended, Refusal } from "./api.js";
import { element, visible } from "./element.js";

const byId = (id) => document.getElementById(id);
const alert = byId("alert");

/** Shows a refusal; nothing takes it away. */
export function refuse(error) {
  const faults = error instanceof Refusal ? (error.problem.errors ?? []) : [];
  alert.replaceChildren(visible(error.message), ...faults.slice(0, 20).filter(({ message }) => !error.message.includes(message)).map(fault));
  if (error.message !== "") alert.scrollIntoView({ block: "nearest" });
}

const fault = ({ path, message }) => element("span", {}, `${path}: ${message}`);

/** Does something for a person; a refusal is shown. Gives whether it was done. */
export async function attempt(action) {
  alert.replaceChildren();
  try {
    await action();
    return true;
  } catch (error) {
    if (!(error instanceof Ended)) refuse(error);
    return false;
  }
}

/** Takes back a question that is asked. */
export const withdraw = () => byId("question").close();

/** Asks once. The button says what it does; gives `null` for no, else whether the option is checked. */
export async function ask(word, text, option) {
  byId("question-title").textContent = `${word}?`;
  byId("question-text").textContent = visible(text);
  byId("question-yes").textContent = word;
  byId("question-option").hidden = !option;
  byId("question-option").querySelector("label").textContent = option ?? "";
  byId("forced").checked = false;
  const dialog = byId("question");
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  return dialog.returnValue === "yes" ? byId("forced").checked : null;
}
