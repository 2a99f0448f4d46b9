/**
 * The extension for VS Code: what its manifest names is there and fits, and it starts what the server's tests start.
 */
import { strict as assert } from "node:assert";
import { textMateGrammar } from "../../../lang/syntax/textmate.ts";

const FOLDER = new URL("../../../editors/vscode/", import.meta.url);

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, FOLDER));
}

/** A value of JSON by the names on its way. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (here, name) =>
      typeof here === "object" && here !== null ? new Map(Object.entries(here)).get(String(name)) : undefined,
    value,
  );
}

function list(value: unknown): readonly unknown[] {
  assert.ok(Array.isArray(value), JSON.stringify(value));
  return value;
}

const manifest: unknown = JSON.parse(read("package.json"));

Deno.test("editors/vscode: the manifest names files that are there, and the grammar is the language's", () => {
  const [language] = list(at(manifest, "contributes", "languages"));
  const [grammar] = list(at(manifest, "contributes", "grammars"));
  assert.equal(at(language, "id"), "lang");
  assert.deepEqual(at(language, "extensions"), [".lang"]);
  assert.equal(at(grammar, "language"), "lang");
  assert.equal(at(grammar, "scopeName"), textMateGrammar().scopeName);
  const written: unknown = JSON.parse(read(String(at(grammar, "path"))));
  assert.equal(at(written, "scopeName"), at(grammar, "scopeName"));
  assert.match(read(String(at(manifest, "main"))), /module\.exports = \{ activate, deactivate/);
  const configuration: unknown = JSON.parse(read(String(at(language, "configuration"))));
  assert.equal(at(configuration, "comments", "lineComment"), "//");
  const word = new RegExp(`^(?:${String(at(configuration, "wordPattern"))})$`);
  assert.ok(word.test("move_ball") && !word.test("ball.x"));
  for (const rule of list(at(configuration, "onEnterRules"))) new RegExp(String(at(rule, "beforeText")));
  for (const name of ["increaseIndentPattern", "decreaseIndentPattern"]) {
    new RegExp(String(at(configuration, "indentationRules", name)));
  }
  const indent = new RegExp(String(at(configuration, "indentationRules", "increaseIndentPattern")));
  assert.ok(indent.test("fn f() {") && indent.test("  State {") && !indent.test("  let a = [1, 2]"));
});

interface Started {
  readonly server: unknown;
  readonly client: unknown;
}

/** Runs the extension with a VS Code that only notes what is asked of it. */
async function activated(settings: Readonly<Record<string, unknown>>) {
  const started: Started[] = [];
  const commands = new Map<string, (...parameters: unknown[]) => Promise<void>>();
  const executions: unknown[] = [];
  const errors: string[] = [];
  class LanguageClient {
    constructor(_id: string, _name: string, server: unknown, client: unknown) {
      started.push({ server, client });
    }
    start(): Promise<void> {
      return at(started.at(-1)?.server, "command") === "missing"
        ? Promise.reject(new Error("no such program"))
        : Promise.resolve();
    }
    needsStop(): boolean {
      return true;
    }
    stop(): Promise<void> {
      return Promise.resolve();
    }
  }
  class ProcessExecution {
    readonly call: unknown;
    constructor(process: string, parameters: readonly string[], options: unknown) {
      this.call = { process, parameters, options };
    }
  }
  class Task {
    readonly execution: ProcessExecution;
    constructor(
      _definition: unknown,
      _scope: unknown,
      _name: string,
      _source: string,
      execution: ProcessExecution,
    ) {
      this.execution = execution;
    }
  }
  const vscode = {
    workspace: {
      getConfiguration: () => ({ get: (name: string, otherwise: unknown) => settings[name] ?? otherwise }),
      findFiles: () => Promise.resolve([{ fsPath: "/games/pong/project.toml" }]),
    },
    window: {
      showErrorMessage: (text: string) => {
        errors.push(text);
        return Promise.resolve(undefined);
      },
    },
    commands: {
      registerCommand: (name: string, run: () => Promise<void>) => {
        commands.set(name, run);
        return { dispose: () => {} };
      },
    },
    Uri: { joinPath: ({ fsPath }: { fsPath: string }) => ({ fsPath: fsPath.replace(/\/[^/]*$/, "") }) },
    Task,
    ProcessExecution,
    TaskScope: { Workspace: 2 },
    TaskRevealKind: { Always: 1 },
    tasks: { executeTask: (task: Task) => Promise.resolve(executions.push(task.execution.call)) },
  };
  const modules: Readonly<Record<string, unknown>> = {
    vscode,
    "vscode-languageclient/node": { LanguageClient },
  };
  const module: { exports: unknown } = { exports: {} };
  new Function("require", "module", read("extension.js"))((name: string) => modules[name], module);
  const activate = at(module.exports, "activate");
  assert.ok(typeof activate === "function");
  await activate({ subscriptions: [] });
  return { started, commands, executions, errors };
}

Deno.test("editors/vscode: the extension starts lang lsp, runs tests and games, and says when the program is missing", async () => {
  const { started, commands, executions, errors } = await activated({ path: "/opt/lang" });
  assert.deepEqual(started.map(({ server }) => server), [{ command: "/opt/lang", args: ["lsp"] }]);
  assert.deepEqual(at(started[0]?.client, "initializationOptions"), { lenses: true });
  const offered = list(at(manifest, "contributes", "commands")).map((each) => at(each, "command"));
  assert.deepEqual(offered.filter((name) => !commands.has(String(name))), []);
  await commands.get("lang.runTest")?.("/games/pong", "a ball bounces");
  await commands.get("lang.serve")?.();
  assert.deepEqual(executions, [
    {
      process: "/opt/lang",
      parameters: ["test", "--filter", "a ball bounces"],
      options: { cwd: "/games/pong" },
    },
    { process: "/opt/lang", parameters: ["serve", "--watch", "--open"], options: { cwd: "/games/pong" } },
  ]);
  await commands.get("lang.restart")?.();
  assert.equal(started.length, 2);
  assert.deepEqual(errors, []);
  const missing = await activated({ path: "missing" });
  assert.match(missing.errors[0] ?? "", /Cannot start missing lsp: no such program/);
});
