/**
 * An editor for tests: the client side of the Language Server Protocol, by its own packages, over the real `lang lsp`.
 *
 * It keeps the texts of open documents as an editor does, and puts edits into them by its own arithmetic, not the
 * server's.
 */
import { spawn } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  type ClientCapabilities,
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  type Position,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type Range,
  RegistrationRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  type TextEdit,
  Trace,
  type WorkspaceEdit,
} from "vscode-languageserver-protocol/node";
import { newPackageFiles, type TemplateName } from "../../../lang/package/new_package.ts";

const PROGRAM = fileURLToPath(new URL("../../../cli/lang.ts", import.meta.url));

/** What VS Code can do, as far as the server asks. */
export const CAPABLE: ClientCapabilities = {
  workspace: {
    workspaceEdit: { documentChanges: true },
    textDocumentContent: {},
    didChangeWatchedFiles: { dynamicRegistration: true },
    workspaceFolders: true,
  },
  textDocument: { completion: { completionItem: { snippetSupport: true } } },
};

/** A package of a template in a folder of its own. */
export async function newPackage(
  name: string,
  template: TemplateName = "game",
  changes: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "lang-lsp-" }));
  for (const [path, text] of [...newPackageFiles(name, template), ...Object.entries(changes)]) {
    const target = `${folder}/${path}`;
    await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(target, text);
  }
  return folder;
}

/** The offset of a place, which an editor counts in UTF-16 units. */
function offsetOf(text: string, { line, character }: Position): number {
  const lines = text.split("\n");
  return lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
}

/** The place of an offset. */
function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}

/** The text with edits, which do not overlap. */
export function edited(text: string, edits: readonly TextEdit[]): string {
  return [...edits].sort((left, right) =>
    offsetOf(text, right.range.start) - offsetOf(text, left.range.start)
  )
    .reduce(
      (at, { range, newText }) =>
        at.slice(0, offsetOf(text, range.start)) + newText + at.slice(offsetOf(text, range.end)),
      text,
    );
}

interface Waiting {
  readonly uri: string;
  readonly isWanted: (diagnostics: readonly Diagnostic[]) => boolean;
  readonly resolve: (diagnostics: readonly Diagnostic[]) => void;
}

/** An editor with a server of its own. */
export class Editor implements AsyncDisposable {
  readonly connection: ProtocolConnection;
  readonly #exit: Promise<number | null>;
  readonly #kill: () => void;
  readonly #diagnostics = new Map<string, readonly Diagnostic[]>();
  readonly #texts = new Map<string, string>();
  readonly #versions = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  readonly #times = new Map<string, readonly number[]>();
  #isEnded = false;

  /** Starts the server: that of the sources, or a program of its own. */
  constructor(program: string | null = null) {
    const [command, ...parameters] = program === null
      ? [Deno.execPath(), "run", "-A", "--no-check", PROGRAM]
      : [program];
    const child = spawn(command, [...parameters, "lsp"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#exit = new Promise((resolve) => child.on("exit", resolve));
    this.#kill = () => child.kill("SIGKILL");
    this.connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    this.connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
      this.#diagnostics.set(uri, diagnostics);
      for (const waiting of [...this.#waiting]) {
        if (waiting.uri !== uri || !waiting.isWanted(diagnostics)) continue;
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        waiting.resolve(diagnostics);
      }
    });
    this.connection.onRequest(RegistrationRequest.type, () => {});
    // The library tells how long each answer took.
    void this.connection.trace(Trace.Messages, {
      log: (text: unknown) => {
        const [, method, time] = /^Received response '(\S+) - \(\d+\)' in (\d+)ms/.exec(String(text)) ?? [];
        if (method !== undefined) this.#times.set(method, [...this.#times.get(method) ?? [], Number(time)]);
      },
    });
    this.connection.onError(() => {});
    this.connection.listen();
  }

  /** Starts the conversation about a folder. */
  async initialize(
    folder: string | null,
    capabilities: ClientCapabilities = CAPABLE,
    initializationOptions: unknown = null,
  ): Promise<InitializeResult> {
    // A server that cannot even start answers nothing, for ever.
    const ended = this.#exit.then((code) => {
      throw new Error(`The server ended with exit code ${code} before it answered`);
    });
    ended.catch(() => {});
    const answer = this.connection.sendRequest(InitializeRequest.type, {
      processId: Deno.pid,
      rootUri: null,
      capabilities,
      initializationOptions,
      workspaceFolders: folder === null ? [] : [{ uri: uriOf(folder), name: "package" }],
    });
    const result = await Promise.race([answer, ended]);
    await this.connection.sendNotification(InitializedNotification.type, {});
    return result;
  }

  /** Opens a file, with the text of the disk unless another is given. */
  async open(uri: string, text?: string): Promise<void> {
    const shown = text ?? await Deno.readTextFile(fileURLToPath(uri));
    this.#texts.set(uri, shown);
    this.#versions.set(uri, 1);
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "lang", version: 1, text: shown },
    });
  }

  /** Closes a file without saving it. */
  async close(uri: string): Promise<void> {
    this.#texts.delete(uri);
    await this.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri } });
  }

  /** The text of an open document. */
  text(uri: string): string {
    const text = this.#texts.get(uri);
    if (text === undefined) throw new Error(`Cannot show ${uri}: it is not open`);
    return text;
  }

  /** Puts edits into an open document and tells the server. */
  async edit(uri: string, edits: readonly TextEdit[]): Promise<void> {
    const text = this.text(uri);
    const version = (this.#versions.get(uri) ?? 0) + 1;
    this.#versions.set(uri, version);
    this.#texts.set(uri, edited(text, edits));
    // From the end, so that each change stands where the text before it has it.
    const changes = [...edits].sort((left, right) =>
      offsetOf(text, right.range.start) - offsetOf(text, left.range.start)
    );
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: changes.map(({ range, newText }) => ({ range, text: newText })),
    });
  }

  /** Replaces the first place of a text in an open document. */
  async replace(uri: string, before: string, after: string): Promise<void> {
    await this.edit(uri, [{ range: this.rangeOf(uri, before), newText: after }]);
  }

  /** Where a text first stands in an open document; `delta` units further on. */
  positionOf(uri: string, needle: string, delta = 0): Position {
    const at = this.text(uri).indexOf(needle);
    if (at < 0) throw new Error(`Cannot find ${JSON.stringify(needle)} in ${uri}`);
    return positionOf(this.text(uri), at + delta);
  }

  /** The range of the first place of a text. */
  rangeOf(uri: string, needle: string): Range {
    return { start: this.positionOf(uri, needle), end: this.positionOf(uri, needle, needle.length) };
  }

  /** The text of a range. */
  textAt(uri: string, { start, end }: Range): string {
    const text = this.text(uri);
    return text.slice(offsetOf(text, start), offsetOf(text, end));
  }

  /** Puts the edits of an action into the open documents. */
  async apply(edit: WorkspaceEdit | null | undefined): Promise<void> {
    for (const change of edit?.documentChanges ?? []) {
      if (!("edits" in change)) throw new Error(`Cannot apply ${change.kind}: only edits of texts are`);
      const { uri, version } = change.textDocument;
      if (version !== null && version !== this.#versions.get(uri)) {
        throw new Error(`Cannot edit ${uri}: wrong version`);
      }
      await this.edit(uri, change.edits.flatMap((each) => "newText" in each ? [each] : []));
    }
    for (const [uri, edits] of Object.entries(edit?.changes ?? {})) await this.edit(uri, edits);
  }

  /** The errors of a file, once they are as somebody wants them; what was reported before counts too. */
  async diagnostics(
    uri: string,
    isWanted: (diagnostics: readonly Diagnostic[]) => boolean,
  ): Promise<readonly Diagnostic[]> {
    const now = this.#diagnostics.get(uri);
    if (now !== undefined && isWanted(now)) return now;
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(
            new Error(`No such errors of ${uri}; the last: ${JSON.stringify(this.#diagnostics.get(uri))}`),
          ),
        30_000,
      );
      this.#waiting.push({
        uri,
        isWanted,
        resolve: (found) => {
          clearTimeout(timer);
          resolve(found);
        },
      });
    });
  }

  /** How long answers took, at most, in words. */
  get latencies(): string {
    return [...this.#times].map(([method, times]) => `${method} ${Math.max(...times)} ms`).join(", ");
  }

  /** Ends the conversation as an editor does; the server's exit code. */
  async end(): Promise<number | null> {
    this.#isEnded = true;
    await this.connection.sendRequest(ShutdownRequest.type);
    await this.connection.sendNotification(ExitNotification.type);
    const code = await this.#exit;
    this.connection.dispose();
    return code;
  }

  /** The exit code, once the server has ended by itself. */
  get exited(): Promise<number | null> {
    return this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isEnded) return;
    this.#kill();
    await this.#exit;
    this.connection.dispose();
  }
}

/** The URI of a path. */
export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}
