/** Settings: checks, scopes, reports. */
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { parseSearchPath, Settings } from "./settings.ts";

Deno.test("Settings.set() normalizes booleans and choices and refuses others", () => {
  const settings = new Settings();
  settings.set("Default_Transaction_Read_Only", "TRUE", { local: false });
  strictEqual(settings.get("default_transaction_read_only"), "on");
  throws(() => settings.set("default_transaction_read_only", "maybe", { local: false }), { code: "22023" });
  throws(() => settings.set("client_encoding", "latin1", { local: false }), { code: "22023" });
  throws(() => settings.set("server_version", "16", { local: false }), { code: "55P02" });
  throws(() => settings.set("statment_timeout", "1s", { local: false }), {
    code: "42704",
    hint: 'Did you mean "statement_timeout"?',
  });
});

Deno.test("Settings.milliseconds() reads units", () => {
  const settings = new Settings();
  for (const [text, expected] of [["1500", 1500], ["2s", 2000], ["1min", 60_000], ["0", 0]] as const) {
    settings.set("statement_timeout", text, { local: false });
    strictEqual(settings.milliseconds("statement_timeout"), expected);
  }
});

Deno.test("Settings scopes restore on rollback, and SET LOCAL at the end of the transaction", () => {
  const settings = new Settings();
  settings.set("timezone", "UTC", { local: false });
  settings.beginScope();
  settings.set("timezone", "Europe/Berlin", { local: false });
  settings.endScope(true);
  strictEqual(settings.get("timezone"), "UTC");
  settings.beginScope();
  settings.set("timezone", "Europe/Berlin", { local: true });
  strictEqual(settings.get("timezone"), "Europe/Berlin");
  settings.endScope(false);
  strictEqual(settings.get("timezone"), "UTC");
});

Deno.test("Settings.onReported() tells of changes of reported settings only", () => {
  const settings = new Settings();
  const told: string[] = [];
  settings.onReported((name, value) => told.push(`${name}=${value}`));
  settings.set("application_name", "psql", { local: false });
  settings.set("work_mem", "1MB", { local: false });
  settings.set("application_name", "psql", { local: false });
  deepStrictEqual(told, ["application_name=psql"]);
});

Deno.test("parseSearchPath() folds plain names and keeps quoted ones", () => {
  deepStrictEqual(parseSearchPath('"$user", Public, "My Schema"', "anna"), ["anna", "public", "My Schema"]);
});
