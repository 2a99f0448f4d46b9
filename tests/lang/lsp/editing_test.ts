/** An editor and the real `lang lsp`: Pong is opened, broken, fixed, renamed, completed and formatted. */
import { strict as assert } from "node:assert";
import {
  CodeActionRequest,
  CodeLensRequest,
  CompletionRequest,
  CompletionResolveRequest,
  DefinitionRequest,
  DidChangeWatchedFilesNotification,
  DocumentFormattingRequest,
  DocumentHighlightRequest,
  DocumentSymbolRequest,
  FileChangeType,
  FoldingRangeRequest,
  HoverRequest,
  InlayHintRequest,
  type Location,
  PrepareRenameRequest,
  ReferencesRequest,
  RenameRequest,
  SelectionRangeRequest,
  SemanticTokensDeltaRequest,
  SemanticTokensRequest,
  SignatureHelpRequest,
  TextDocumentContentRequest,
  TypeDefinitionRequest,
  WorkspaceSymbolRequest,
} from "vscode-languageserver-protocol/node";
import { fileURLToPath } from "node:url";
import { CAPABLE, Editor, newPackage, uriOf } from "./editor.ts";

const NONE = (diagnostics: readonly unknown[]) => diagnostics.length === 0;
const SOME = (diagnostics: readonly unknown[]) => diagnostics.length > 0;

function locations(found: unknown): Location[] {
  assert.ok(Array.isArray(found));
  return found;
}

Deno.test("lang lsp: Pong is edited from breaking it to having it formatted", async () => {
  const folder = await newPackage("pong");
  await using editor = new Editor();
  const { capabilities, serverInfo } = await editor.initialize(folder, CAPABLE, { lenses: true });
  assert.equal(serverInfo?.name, "lang");
  assert.equal(capabilities.positionEncoding, "utf-16");
  const main = uriOf(`${folder}/src/main.lang`);
  const physics = uriOf(`${folder}/src/physics.lang`);
  const textDocument = { uri: main };
  await editor.open(main);
  const original = editor.text(main);

  // An error, the fix that the editor offers, and the text is what it was.
  await editor.replace(main, "  state.ticks += 1\n", "  state.tick += 1\n");
  const [error] = await editor.diagnostics(main, SOME);
  assert.ok(error !== undefined);
  assert.equal(error.code, "NM0004");
  assert.equal(editor.textAt(main, error.range), "tick");
  const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument,
    range: error.range,
    context: { diagnostics: [error] },
  });
  const [action] = actions ?? [];
  assert.ok(action !== undefined && "edit" in action);
  assert.equal(action.title, "use `ticks`");
  await editor.apply(action.edit);
  assert.equal(editor.text(main), original);
  await editor.diagnostics(main, NONE);

  // What others use goes: they have errors, though they are not open.
  await editor.open(physics);
  await editor.replace(physics, "pub fn Ball.serve(", "pub fn Ball.send(");
  await editor.close(main);
  const elsewhere = await editor.diagnostics(main, SOME);
  assert.ok(elsewhere.every(({ code }) => code === "NM0015"), JSON.stringify(elsewhere));
  assert.equal(elsewhere.length, 3);
  // Closed without saving, the file is as it is on disk.
  await editor.close(physics);
  await editor.diagnostics(main, NONE);
  await editor.open(main);

  // Names.
  const score = editor.positionOf(main, "player_score: Int");
  const prepared = await editor.connection.sendRequest(PrepareRenameRequest.type, {
    textDocument,
    position: score,
  });
  assert.ok(prepared !== null && "placeholder" in prepared);
  assert.equal(prepared.placeholder, "player_score");
  const uses = locations(
    await editor.connection.sendRequest(ReferencesRequest.type, {
      textDocument,
      position: score,
      context: { includeDeclaration: true },
    }),
  );
  assert.equal(uses.length, 10);
  assert.ok(uses.every(({ uri, range }) => uri === main && editor.textAt(main, range) === "player_score"));
  const marks = await editor.connection.sendRequest(DocumentHighlightRequest.type, {
    textDocument,
    position: score,
  });
  assert.equal(marks?.length, 10);
  assert.equal(marks?.filter(({ kind }) => kind === 3).length, 4);
  await editor.apply(
    await editor.connection.sendRequest(RenameRequest.type, {
      textDocument,
      position: score,
      newName: "points",
    }),
  );
  assert.equal(editor.text(main), original.replaceAll("player_score", "points"));
  await assert.rejects(
    () =>
      editor.connection.sendRequest(RenameRequest.type, {
        textDocument,
        position: editor.positionOf(main, "fn step", 4),
        newName: "go",
      }),
    /the host calls it by its name/,
  );
  await editor.apply(
    await editor.connection.sendRequest(RenameRequest.type, {
      textDocument,
      position: editor.positionOf(main, "points: Int"),
      newName: "player_score",
    }),
  );
  assert.equal(editor.text(main), original);

  // Hover and definitions, also in the library.
  const hover = await editor.connection.sendRequest(HoverRequest.type, {
    textDocument,
    position: editor.positionOf(main, "draw_net()", 2),
  });
  assert.ok(hover !== null && "value" in Object(hover.contents));
  assert.match(JSON.stringify(hover.contents), /fn draw_net\(\) uses Draw/);
  const [home] = locations(
    await editor.connection.sendRequest(DefinitionRequest.type, {
      textDocument,
      position: editor.positionOf(main, "Ball.serve(1.0", 6),
    }),
  );
  assert.equal(home?.uri, physics);
  const [clamp] = locations(
    await editor.connection.sendRequest(DefinitionRequest.type, {
      textDocument,
      position: editor.positionOf(main, ".clamp(", 2),
    }),
  );
  assert.equal(clamp?.uri, "lang-library:/std/float.lang");
  const { text } = await editor.connection.sendRequest(TextDocumentContentRequest.type, { uri: clamp.uri });
  assert.match(text.split("\n")[clamp.range.start.line] ?? "", /fn Float\.clamp/);
  await editor.open(clamp.uri, text);
  const inside = await editor.connection.sendRequest(HoverRequest.type, {
    textDocument: { uri: clamp.uri },
    position: clamp.range.start,
  });
  assert.match(JSON.stringify(inside?.contents), /fn Float\.clamp\(self: Float/);
  await editor.close(clamp.uri);
  const [ballType] = locations(
    await editor.connection.sendRequest(TypeDefinitionRequest.type, {
      textDocument,
      position: editor.positionOf(main, "state.ball.dx", 7),
    }),
  );
  assert.equal(ballType?.uri, physics);

  // Writing.
  await editor.replace(main, "  state.ticks += 1\n", "  state.ball.\n  state.ticks += 1\n");
  const list = await editor.connection.sendRequest(CompletionRequest.type, {
    textDocument,
    position: editor.positionOf(main, "state.ball.\n", 11),
  });
  assert.ok(list !== null && "items" in list);
  assert.deepEqual(list.items.slice(0, 5).map(({ label }) => label), ["dx", "dy", "x", "y", "move"]);
  const move = list.items[4];
  assert.ok(move?.textEdit !== undefined && "range" in move.textEdit);
  assert.equal(move.textEdit.newText, "move(${1:left}, ${2:right})$0");
  const resolved = await editor.connection.sendRequest(CompletionResolveRequest.type, move);
  assert.match(JSON.stringify(resolved.documentation), /Moves the ball by one step/);
  await editor.edit(main, [{ range: move.textEdit.range, newText: "move(state.player, " }]);
  const help = await editor.connection.sendRequest(SignatureHelpRequest.type, {
    textDocument,
    position: editor.positionOf(main, "move(state.player, ", 19),
  });
  assert.equal(
    help?.signatures[0]?.label,
    "fn Ball.move(self: inout Ball, left: Paddle, right: Paddle) -> Event",
  );
  assert.equal(help?.activeParameter, 1);
  await editor.replace(main, "  state.ball.move(state.player, \n", "");
  assert.equal(editor.text(main), original);

  // The style: only the lines that change are edited.
  await editor.replace(main, "  state.ticks += 1\n", "      state.ticks+=1\n");
  const edits = await editor.connection.sendRequest(DocumentFormattingRequest.type, {
    textDocument,
    options: { tabSize: 4, insertSpaces: true },
  });
  assert.equal(edits?.length, 1);
  await editor.edit(main, edits ?? []);
  assert.equal(editor.text(main), original);

  // Colors come back to what they were, and an unchanged text gives no edits of them.
  const tokens = await editor.connection.sendRequest(SemanticTokensRequest.type, { textDocument });
  assert.ok(tokens !== null && tokens.data.length > 2_000);
  await editor.replace(main, "use physics\n", "use physics\n\nfn added(x: Int) -> Int { x }\n");
  const delta = await editor.connection.sendRequest(SemanticTokensDeltaRequest.type, {
    textDocument,
    previousResultId: tokens.resultId ?? "",
  });
  assert.ok(delta !== null && "edits" in delta);
  assert.equal(delta.edits.length, 1);
  await editor.replace(main, "use physics\n\nfn added(x: Int) -> Int { x }\n", "use physics\n");
  const again = await editor.connection.sendRequest(SemanticTokensRequest.type, { textDocument });
  assert.deepEqual(again?.data, tokens.data);
  const same = await editor.connection.sendRequest(SemanticTokensDeltaRequest.type, {
    textDocument,
    previousResultId: again?.resultId ?? "",
  });
  assert.ok(same !== null && "edits" in same);
  assert.deepEqual(same.edits, []);

  // What an editor shows beside the text.
  const symbols = await editor.connection.sendRequest(DocumentSymbolRequest.type, { textDocument });
  assert.ok(symbols?.some(({ name }) => name === "State.move_ball"));
  const found = await editor.connection.sendRequest(WorkspaceSymbolRequest.type, { query: "follow" });
  assert.deepEqual(found?.map(({ name }) => name), ["Paddle.follow"]);
  const hints = await editor.connection.sendRequest(InlayHintRequest.type, {
    textDocument,
    range: editor.rangeOf(main, "let slope"),
  });
  assert.deepEqual(hints?.map(({ label }) => label), [": Float"]);
  const folds = await editor.connection.sendRequest(FoldingRangeRequest.type, { textDocument });
  assert.ok(folds?.some(({ kind }) => kind === "imports") && folds.some(({ kind }) => kind === "comment"));
  const selections = await editor.connection.sendRequest(SelectionRangeRequest.type, {
    textDocument,
    positions: [editor.positionOf(main, "state.ticks += 1", 7)],
  });
  const shown: string[] = [];
  for (let at = selections?.[0]; at !== undefined; at = at.parent) shown.push(editor.textAt(main, at.range));
  assert.equal(shown[0], "state.ticks");
  assert.equal(shown[1], "state.ticks += 1");
  assert.equal(shown.at(-1), original);
  const lenses = await editor.connection.sendRequest(CodeLensRequest.type, { textDocument });
  assert.deepEqual(lenses?.[0]?.command?.arguments, [folder, "space starts the game"]);
  console.log(`longest answers: ${editor.latencies}`);
  assert.equal(await editor.end(), 0);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("lang lsp: places are right beside emoji and combining characters", async () => {
  const text = `type Person = { name: String }

pub fn main(_args: List[String]) -> Int uses Log {
  let person = Person { name: "👩‍🚀 and e\u0301" }
  print("👩‍🚀👩‍🚀 e\u0301 {person.nme} 😀 {person.name}")
  0
}
`;
  const folder = await newPackage("places", "tool", { "src/main.lang": text });
  await using editor = new Editor();
  await editor.initialize(folder);
  const main = uriOf(`${folder}/src/main.lang`);
  const textDocument = { uri: main };
  await editor.open(main);
  const [error] = await editor.diagnostics(main, (found) => found.some(({ code }) => code === "NM0004"));
  assert.ok(error !== undefined);
  assert.equal(editor.textAt(main, error.range), "nme");
  const uses = locations(
    await editor.connection.sendRequest(ReferencesRequest.type, {
      textDocument,
      position: editor.positionOf(main, "😀 {person.name", 14),
      context: { includeDeclaration: true },
    }),
  );
  assert.deepEqual(uses.map(({ range }) => editor.textAt(main, range)), ["name", "name", "name"]);
  const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument,
    range: error.range,
    context: { diagnostics: [error] },
  });
  const [action] = actions ?? [];
  assert.ok(action !== undefined && "edit" in action);
  await editor.apply(action.edit);
  assert.equal(editor.text(main), text.replace("nme", "name"));
  const hover = await editor.connection.sendRequest(HoverRequest.type, {
    textDocument,
    position: editor.positionOf(main, "{person.name} 😀", 3),
  });
  assert.ok(hover?.range !== undefined);
  assert.equal(editor.textAt(main, hover.range), "person");
  // An edit between the halves of what looks like one character.
  await editor.replace(main, "🚀 and", "🚀, the second, and");
  await editor.diagnostics(main, NONE);
  assert.equal(await editor.end(), 0);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("lang lsp: all safe fixes at once, sources outside of packages, texts in no file, manifests", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "lang-lsp-" }));
  await using editor = new Editor();
  await editor.initialize(folder, {});
  const lone = uriOf(`${folder}/lone.lang`);
  await editor.open(
    lone,
    "fn f() -> Int {\n  var a = 1\n  var b = 2\n  a + b\n}\n\npub fn main(_args: List[String]) -> Int { f() }\n",
  );
  const errors = await editor.diagnostics(lone, (found) => found.length === 2);
  assert.deepEqual(errors.map(({ code }) => code), ["LI0003", "LI0003"]);
  const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: lone },
    range: editor.rangeOf(lone, "var a"),
    context: { diagnostics: [], only: ["source.fixAll"] },
  });
  assert.equal(actions?.length, 1);
  const [all] = actions ?? [];
  assert.ok(all !== undefined && "edit" in all);
  // This editor knows no versions of documents.
  assert.deepEqual(Object.keys(all.edit?.changes ?? {}), [lone]);
  await editor.apply(all.edit);
  await editor.diagnostics(lone, NONE);
  const quick = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: lone },
    range: editor.rangeOf(lone, "let a"),
    context: { diagnostics: [] },
  });
  assert.deepEqual(quick, []);

  // Without virtual documents, the library is in files.
  const [len] = locations(
    await editor.connection.sendRequest(DefinitionRequest.type, {
      textDocument: { uri: lone },
      position: editor.positionOf(lone, "List[", 1),
    }),
  );
  assert.ok(len !== undefined && len.uri.startsWith("file:"));
  assert.match(await Deno.readTextFile(fileURLToPath(len.uri)), /pub type List\[T\] = builtin/);
  // It is no source of the user's: nothing in it is an error.
  await editor.open(len.uri);
  const inside = await editor.connection.sendRequest(HoverRequest.type, {
    textDocument: { uri: len.uri },
    position: editor.positionOf(len.uri, "List.push", 6),
  });
  assert.match(JSON.stringify(inside?.contents), /fn List\.push\[T\]/);

  const loose = "untitled:Untitled-1";
  await editor.open(loose, "fn f() -> Int { 1.5 }\n");
  await editor.diagnostics(loose, (found) => found.some(({ code }) => code === "TY0001"));
  await editor.close(loose);

  // A manifest makes a package of the folder; its errors are shown as well.
  const manifest = uriOf(`${folder}/project.toml`);
  await Deno.mkdir(`${folder}/src`);
  await Deno.writeTextFile(`${folder}/src/main.lang`, "pub fn main(_args: List[String]) -> Int { 0 }\n");
  const inner = uriOf(`${folder}/src/main.lang`);
  await editor.open(inner);
  await editor.diagnostics(inner, NONE);
  await Deno.writeTextFile(`${folder}/project.toml`, 'name = "Wrong Name"\nversion = "1.0.0"\n');
  await editor.open(manifest);
  const [wrong] = await editor.diagnostics(manifest, SOME);
  assert.match(String(wrong?.code), /^PK/);
  await editor.replace(manifest, "Wrong Name", "right_name");
  await editor.diagnostics(manifest, (found) => !found.some(({ severity }) => severity === 1));

  // A source of it is no package of its own any more.
  await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
    changes: [{ uri: manifest, type: FileChangeType.Created }],
  });
  const mains = await editor.connection.sendRequest(WorkspaceSymbolRequest.type, { query: "main" });
  assert.equal(mains?.filter((each) => each.location.uri === inner).length, 1);
  await editor.close(inner);

  // Files that come and go beside the editor.
  const extra = uriOf(`${folder}/src/extra.lang`);
  const tell = (type: FileChangeType) =>
    editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: extra, type }],
    });
  await Deno.writeTextFile(`${folder}/src/extra.lang`, "pub fn f() -> Int { nothing }\n");
  await tell(FileChangeType.Created);
  await editor.diagnostics(extra, (found) => found.some(({ code }) => code === "NM0001"));
  await Deno.remove(`${folder}/src/extra.lang`);
  await tell(FileChangeType.Deleted);
  await editor.diagnostics(extra, NONE);
  assert.equal(await editor.end(), 0);
  await Deno.remove(folder, { recursive: true });
});
