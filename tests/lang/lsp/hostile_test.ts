/** What editors should not do to `lang lsp`, and some do: it answers with an error, or not at all, and lives on. */
import { strict as assert } from "node:assert";
import { fileURLToPath } from "node:url";
import {
  CompletionRequest,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentFormattingRequest,
  DocumentSymbolRequest,
  ExitNotification,
  HoverRequest,
  RenameRequest,
  SemanticTokensRequest,
  ShutdownRequest,
  TextDocumentContentRequest,
} from "vscode-languageserver-protocol/node";
import { Editor, newPackage, uriOf } from "./editor.ts";

const START = { line: 0, character: 0 };

async function codeOf(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error);
    return error.code;
  }
}

Deno.test("lang lsp: requests before initialize and after shutdown, and methods that nobody knows, are refused", async () => {
  const folder = await newPackage("pong");
  await using editor = new Editor();
  const { connection } = editor;
  const uri = uriOf(`${folder}/src/main.lang`);
  const textDocument = { uri };
  assert.equal(
    await codeOf(connection.sendRequest(HoverRequest.type, { textDocument, position: START })),
    -32002,
  );
  // What was reported before is forgotten.
  await editor.open(uri, "fn f( {");
  await editor.initialize(folder);
  const symbols = await connection.sendRequest(DocumentSymbolRequest.type, { textDocument });
  assert.ok(symbols?.some(({ name }) => name === "init"));
  assert.equal(await codeOf(connection.sendRequest("lang/nothing", {})), -32601);
  assert.equal(await codeOf(connection.sendRequest("textDocument/hover", { textDocument: 3 })), -32602);
  assert.equal(await codeOf(connection.sendRequest("textDocument/hover", null)), -32602);
  assert.equal(
    await codeOf(
      connection.sendRequest(TextDocumentContentRequest.type, { uri: "lang-library:/../../etc/passwd" }),
    ),
    -32803,
  );
  await connection.sendNotification("$/nothing", { at: "all" });
  await connection.sendNotification("textDocument/didChange", { textDocument: null });
  await connection.sendNotification("textDocument/didOpen", { textDocument: { uri: 7 } });
  assert.ok((await connection.sendRequest(DocumentSymbolRequest.type, { textDocument }))?.length);
  await connection.sendRequest(ShutdownRequest.type);
  assert.equal(
    await codeOf(connection.sendRequest(HoverRequest.type, { textDocument, position: START })),
    -32600,
  );
  await connection.sendNotification(ExitNotification.type);
  assert.equal(await editor.exited, 0);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("lang lsp: edits and places outside of the text are moved into it; unknown documents have nothing", async () => {
  const folder = await newPackage("pong");
  await using editor = new Editor();
  await editor.initialize(folder);
  const { connection } = editor;
  const uri = uriOf(`${folder}/src/main.lang`);
  const textDocument = { uri };
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "lang", version: 1, text: "fn a() {}\r\nfn b() {}\n" },
  });
  const names = async () =>
    (await connection.sendRequest(DocumentSymbolRequest.type, { textDocument }))?.map((each) => each.name);
  const change = (version: number, ...contentChanges: { range?: unknown; text: string }[]) =>
    connection.sendNotification(DidChangeTextDocumentNotification.type.method, {
      textDocument: { uri, version },
      contentChanges,
    });
  const range = (startLine: number, start: number, endLine: number, end: number) => ({
    start: { line: startLine, character: start },
    end: { line: endLine, character: end },
  });
  // Behind the end of a line stands its end, before its line break.
  await change(2, { range: range(0, 3, 0, 4), text: "c" }, { range: range(0, 900, 0, 999), text: " // c" });
  assert.deepEqual(await names(), ["c", "b"]);
  await change(3, { range: range(900, 5, 901, 2), text: "fn d() {}\n" });
  assert.deepEqual(await names(), ["c", "b", "d"]);
  // An end before its start.
  await change(4, { range: range(1, 4, 1, 3), text: "e" });
  assert.deepEqual(await names(), ["c", "be", "d"]);
  await change(5, { range: range(-5, -5, -4, -1), text: "fn z() {}\n" });
  assert.deepEqual(await names(), ["z", "c", "be", "d"]);
  await change(6, { text: "fn only() {}\n" });
  assert.deepEqual(await names(), ["only"]);
  const far = { line: 1_000_000, character: 1_000_000 };
  assert.equal(await connection.sendRequest(HoverRequest.type, { textDocument, position: far }), null);
  assert.ok(await connection.sendRequest(CompletionRequest.type, { textDocument, position: far }));
  for (
    const other of [
      `${uri}.nothing`,
      uriOf(`${folder}/src/missing.lang`),
      "http://example.org/a.lang",
      "%%%",
      "file:///%ff.lang",
      "",
    ]
  ) {
    const unknown = { uri: other };
    assert.equal(
      await connection.sendRequest(HoverRequest.type, { textDocument: unknown, position: START }),
      null,
      other,
    );
    assert.deepEqual(
      await connection.sendRequest(DocumentSymbolRequest.type, { textDocument: unknown }),
      [],
      other,
    );
    assert.equal(
      await codeOf(
        connection.sendRequest(RenameRequest.type, { textDocument: unknown, position: START, newName: "a" }),
      ),
      -32803,
      other,
    );
    await connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: unknown });
    await connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: other, version: 1 },
      contentChanges: [{ text: "fn f() {}" }],
    });
  }
  assert.deepEqual(await names(), ["only"]);
  assert.equal(await editor.end(), 0);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("lang lsp: files that are closed, deleted and broken while they are looked at", async () => {
  const folder = await newPackage("pong");
  await using editor = new Editor();
  await editor.initialize(folder);
  const { connection } = editor;
  const uri = uriOf(`${folder}/src/main.lang`);
  const textDocument = { uri };
  await editor.open(uri);
  const text = editor.text(uri);
  // Many edits and questions without waiting for any; then the document is gone.
  const answers: Promise<unknown>[] = [];
  for (let index = 0; index < 12; index++) {
    await editor.edit(uri, [{
      range: { start: START, end: START },
      newText: index % 2 === 0 ? "fn " : "(x",
    }]);
    answers.push(connection.sendRequest(SemanticTokensRequest.type, { textDocument }));
    answers.push(
      connection.sendRequest(CompletionRequest.type, { textDocument, position: { line: 60, character: 8 } }),
    );
  }
  await editor.close(uri);
  await Promise.all(answers);
  await editor.open(uri, "fn f() -> Int { 1.5 }\n");
  await editor.diagnostics(uri, (found) => found.length > 0);
  await editor.close(uri);
  await editor.diagnostics(uri, (found) => found.length === 0);
  // Half a declaration at every place of a function.
  const start = text.indexOf("fn State.move_ball");
  for (let at = start; at < start + 400; at += 23) {
    await editor.open(uri, text.slice(0, at));
    const end = { line: text.slice(0, at).split("\n").length - 1, character: 200 };
    assert.ok(await connection.sendRequest(CompletionRequest.type, { textDocument, position: end }));
    const edits = await connection.sendRequest(DocumentFormattingRequest.type, {
      textDocument,
      options: { tabSize: 2, insertSpaces: true },
    });
    assert.ok(edits !== null);
  }
  await editor.close(uri);
  // The package goes away under the server.
  await Deno.remove(folder, { recursive: true });
  await connection.sendNotification("workspace/didChangeWatchedFiles", { changes: [{ uri, type: 3 }] });
  assert.equal(await connection.sendRequest(HoverRequest.type, { textDocument, position: START }), null);
  assert.deepEqual(await connection.sendRequest("workspace/symbol", { query: "ball" }), []);
  assert.equal(await editor.end(), 0);
});

Deno.test("lang lsp: a source that nobody wrote by hand is not looked into, and others are", async () => {
  const folder = await newPackage("pong");
  await using editor = new Editor();
  await editor.initialize(folder);
  const { connection } = editor;
  const uri = uriOf(`${folder}/src/large.lang`);
  await editor.open(uri, "fn f() -> Int { a }\n".repeat(20_001));
  assert.deepEqual(
    (await connection.sendRequest(SemanticTokensRequest.type, { textDocument: { uri } }))?.data,
    [],
  );
  assert.deepEqual(
    await connection.sendRequest(DocumentFormattingRequest.type, {
      textDocument: { uri },
      options: { tabSize: 2, insertSpaces: true },
    }),
    [],
  );
  await editor.close(uri);
  const small = { textDocument: { uri: uriOf(`${folder}/src/main.lang`) } };
  assert.ok((await connection.sendRequest(SemanticTokensRequest.type, small))?.data.length);
  assert.equal(await editor.end(), 0);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("lang lsp: a message that is no JSON ends nothing, and the end of input ends the server", async () => {
  const program = fileURLToPath(new URL("../../../cli/lang.ts", import.meta.url));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", program, "lsp"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const frame = (body: string) =>
    new TextEncoder().encode(`Content-Length: ${new TextEncoder().encode(body).length}\r\n\r\n${body}`);
  await writer.write(frame("this is no JSON"));
  await writer.write(frame('[1, 2, {"a": null}]'));
  await writer.write(
    frame(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { processId: null, rootUri: null, capabilities: {} },
      }),
    ),
  );
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let output = "";
  while (!output.includes('"serverInfo"')) {
    const { value, done } = await reader.read();
    assert.ok(!done, output);
    output += value;
  }
  await writer.close();
  await reader.cancel();
  assert.equal((await child.status).code, 1);
});
