/** `lang lsp` as it ships: an editor starts the executable, makes an error, fixes it, and asks for names. */
import { ok, strictEqual } from "node:assert/strict";
import { CodeActionRequest, CompletionRequest } from "vscode-languageserver-protocol/node";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { Editor, newPackage, uriOf } from "../lang/lsp/editor.ts";

Deno.test("lang lsp: the executable serves an editor", async () => {
  const { lang } = await compiledPrograms();
  const folder = await newPackage("pong");
  await using editor = new Editor(lang);
  const { serverInfo } = await editor.initialize(folder);
  strictEqual(serverInfo?.name, "lang");
  const main = uriOf(`${folder}/src/main.lang`);
  await editor.open(main);
  const original = editor.text(main);
  await editor.replace(main, "canvas.clear(", "canvas.cleer(");
  const [error] = await editor.diagnostics(main, (found) => found.length > 0);
  ok(error !== undefined);
  const [action] = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: main },
    range: error.range,
    context: { diagnostics: [error] },
  }) ?? [];
  ok(action !== undefined && "edit" in action);
  await editor.apply(action.edit);
  strictEqual(editor.text(main), original);
  const list = await editor.connection.sendRequest(CompletionRequest.type, {
    textDocument: { uri: main },
    position: editor.positionOf(main, "canvas.clear(", 7),
  });
  ok(list !== null && "items" in list && list.items.some(({ label }) => label === "clear"));
  strictEqual(await editor.end(), 0);
  await Deno.remove(folder, { recursive: true });
});
