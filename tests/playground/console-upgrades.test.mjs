// What the console does with upgrades in Chromium: what it asks, and what their undo says.
import { test } from "node:test";
import { api, applied, drop, named, page, signIn, skip } from "./console.mjs";
import { sample } from "./tools.mjs";

const version = async (name) => new TextDecoder().decode(await sample(`examples/upgrades/${name}.json`));

let template;
let teas;

/** Signs in where the first version stands. */
async function standing() {
  await signIn();
  if (template) return;
  await drop("v1.json", await version("v1"));
  await applied();
  template = named((await api("GET", "/v1/templates")).items, "tea-menu").id;
  teas = named((await api("GET", "/v1/features?limit=200")).items, "teas").id;
}

test("a number with many digits is decided on as it is", { skip }, async () => {
  await standing();
  const [row] = (await api("GET", `/v1/features/${teas}/rows?filter=code:eq:ASM`)).items;
  const number = "12345678901234567890";
  await api("PATCH", `/v1/features/${teas}/rows/${row.id}?merge=true`, `{"data":{"price":${number}}}`);
  await drop("v2.json", await version("v2"));
  const conflict = page.locator("#conflicts .conflict");
  await conflict.getByText(number, { exact: true }).waitFor();
  await conflict.getByRole("combobox").selectOption({ label: "Keep what the workspace has" });
  await page.locator("#apply:enabled").waitFor();
  await api("PATCH", `/v1/features/${teas}/rows/${row.id}?merge=true`, '{"data":{"price":4.9}}');
});
