// The console: signs in, and lets each part know what the others did.
import * as api from "./api.js";
import * as job from "./job.js";
import * as packages from "./package.js";
import * as plan from "./plan.js";
import * as rows from "./rows.js";
import { attempt, refuse, withdraw } from "./say.js";
import * as templates from "./templates.js";
import * as workspaces from "./workspaces.js";

const byId = (id) => document.getElementById(id);
const form = byId("sign-in");

function signedIn(yes) {
  form.hidden = yes;
  byId("inside").hidden = !yes;
  byId("sign-out").hidden = !yes;
  byId("who").hidden = !yes;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    await api.signIn(byId("email").value, byId("password").value);
    byId("password").value = "";
    const { email } = await api.get("/v1/me");
    byId("who").textContent = email;
    signedIn(true);
    await workspaces.open({ workspace: enter, table: rows.show });
  });
});

async function enter() {
  packages.close();
  job.close();
  templates.clear();
  await packages.forget();
  if (workspaces.current) await templates.show(workspaces.current);
}

byId("sign-out").addEventListener("click", () =>
  attempt(async () => {
    templates.clear();
    await packages.forget();
    await api.signOut();
  }),
);

// The next person sees nothing of this one.
api.whenEnded(({ byServer }) => {
  withdraw();
  workspaces.close();
  templates.clear();
  rows.show(null);
  packages.end();
  job.close();
  byId("who").textContent = "";
  signedIn(false);
  // Whatever was under way is not done, and nothing else says so.
  if (byServer) refuse(new Error("Your session has ended. Sign in again."));
  byId("email").focus();
});

// A page that the browser keeps to come back to may be thrown away, and hears nothing of that.
addEventListener("pagehide", packages.left);
addEventListener("pageshow", ({ persisted }) => persisted && attempt(templates.refresh));

templates.listen({ plan: packages.openTemplate, job: job.watch });

plan.listen({ agreed: packages.keep, started: job.watch });

job.whenChanged(async () => {
  const [table] = await Promise.all([workspaces.refresh(), templates.refresh()]);
  await rows.refresh(table);
});

const openFile = (file) => file && attempt(() => packages.open(file));

byId("file").addEventListener("change", async ({ target }) => {
  await openFile(target.files[0]);
  // So that the same file, changed, can be chosen again.
  target.value = "";
});

const holdsFiles = ({ dataTransfer }) => [...(dataTransfer?.types ?? [])].includes("Files");

addEventListener("dragover", (event) => {
  if (holdsFiles(event)) event.preventDefault();
});
addEventListener("drop", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  // What a question is about stays while it is asked.
  if (document.querySelector("dialog[open]")) return;
  if (form.hidden) openFile(event.dataTransfer.files[0]);
  else refuse(new Error("Sign in first."));
});
