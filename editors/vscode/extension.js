/**
 * Starts `lang lsp` for VS Code, and runs tests and games in its terminal.
 *
 * The language is all in the server; what stands here is where the program is, and commands that need VS Code itself.
 */
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

function program() {
  return vscode.workspace.getConfiguration("lang").get("path", "lang");
}

function createClient() {
  const command = program();
  const wantsLenses = vscode.workspace.getConfiguration("lang").get("lenses", true);
  return new LanguageClient(
    "lang",
    "lang",
    { command, args: ["lsp"] },
    {
      documentSelector: [
        { language: "lang" },
        { scheme: "file", pattern: "**/project.toml" },
      ],
      initializationOptions: { lenses: wantsLenses },
    },
  );
}

async function start() {
  client = createClient();
  try {
    await client.start();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const choice = await vscode.window.showErrorMessage(
      `Cannot start ${program()} lsp: ${reason}. The setting lang.path says where the program is.`,
      "Open the Setting",
    );
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "lang.path");
    }
  }
}

async function stop() {
  const stopped = client;
  client = undefined;
  // A server that never started has nothing to stop.
  if (stopped !== undefined && stopped.needsStop()) await stopped.stop();
}

/** The folder of the package around what is being edited. */
async function packageFolder() {
  const manifests = await vscode.workspace.findFiles("**/project.toml", "**/{target,node_modules}/**");
  const folders = manifests.map((uri) => vscode.Uri.joinPath(uri, "..").fsPath);
  const open = vscode.window.activeTextEditor?.document.uri.fsPath ?? "";
  const around = folders.filter((folder) => open.startsWith(folder)).sort((a, b) => b.length - a.length);
  return around[0] ?? folders[0];
}

/** Runs the program in a terminal, without a shell between. */
async function run(name, args, folder) {
  if (folder === undefined) {
    await vscode.window.showErrorMessage("Cannot find a package: there is no project.toml in the workspace.");
    return;
  }
  const task = new vscode.Task(
    { type: "process", task: name },
    vscode.TaskScope.Workspace,
    name,
    "lang",
    new vscode.ProcessExecution(program(), args, { cwd: folder }),
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true };
  await vscode.tasks.executeTask(task);
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("lang.restart", async () => {
      await stop();
      await start();
    }),
    vscode.commands.registerCommand(
      "lang.runTest",
      (folder, name) => run(`test ${name}`, ["test", "--filter", name], folder),
    ),
    vscode.commands.registerCommand("lang.test", async () => run("test", ["test"], await packageFolder())),
    vscode.commands.registerCommand(
      "lang.serve",
      async () => run("serve", ["serve", "--watch", "--open"], await packageFolder()),
    ),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
