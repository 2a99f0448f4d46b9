/**
 * The connection of the language server to an editor, on standard input and output: messages in, answers out, and
 * errors a moment after the last edit.
 *
 * Before `initialize` requests are refused; a request whose handler fails is answered with an error, and the server
 * goes on. The process ends with `exit`, or when its input does: with 0 after `shutdown`, else with 1.
 */
import process from "node:process";
import {
  type Connection,
  createConnection,
  DidChangeWatchedFilesNotification,
  ErrorCodes,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  ResponseError,
  TextDocumentContentRequest,
  TextDocumentSyncKind,
} from "vscode-languageserver/node";
import { LanguageServer, RequestRefused } from "../../../../lang/servers/lsp/language_server.ts";
import type { PackageSession } from "../../../../lang/servers/lsp/package_session.ts";
import { SEMANTIC_LEGEND } from "../../../../lang/servers/lsp/semantic_tokens.ts";
import { LIBRARY_SCHEME } from "../../../../lang/servers/lsp/uris.ts";
import { version } from "../../../shared/version.ts";
import { DiskHost } from "./editor_host.ts";

/** How long after an edit errors are looked for: the next key is likely to come sooner. */
const PAUSE_MILLISECONDS = 120;

/** Waits at least this often as long as the last check took, so that large packages leave time for answers. */
const PAUSE_FACTOR = 2;

const CAPABILITIES: InitializeResult["capabilities"] = {
  positionEncoding: "utf-16",
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  completionProvider: { triggerCharacters: ["."], resolveProvider: true },
  signatureHelpProvider: { triggerCharacters: ["(", ","], retriggerCharacters: [","] },
  hoverProvider: true,
  definitionProvider: true,
  typeDefinitionProvider: true,
  referencesProvider: true,
  documentHighlightProvider: true,
  documentSymbolProvider: true,
  workspaceSymbolProvider: true,
  codeActionProvider: { codeActionKinds: ["quickfix", "source.fixAll"] },
  codeLensProvider: {},
  documentFormattingProvider: true,
  documentRangeFormattingProvider: true,
  renameProvider: { prepareProvider: true },
  foldingRangeProvider: true,
  selectionRangeProvider: true,
  inlayHintProvider: true,
  semanticTokensProvider: { legend: SEMANTIC_LEGEND, full: { delta: true }, range: true },
  workspace: {
    workspaceFolders: { supported: true, changeNotifications: true },
    textDocumentContent: { schemes: [LIBRARY_SCHEME] },
  },
};

/** Serves the editor until it says `exit`. */
export function serveEditor(): Promise<never> {
  const connection = createConnection(process.stdin, process.stdout);
  new EditorConnection(connection).listen();
  // The process is ended by the connection.
  return new Promise(() => {});
}

class EditorConnection {
  readonly #connection: Connection;
  readonly #server = new LanguageServer(new DiskHost());
  readonly #waiting = new Map<PackageSession, ReturnType<typeof setTimeout>>();
  readonly #lastFailures = new Map<PackageSession, string>();
  #state: "new" | "ready" | "ending" = "new";
  #watchesFiles = false;
  #reportsFolders = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  listen(): void {
    const connection = this.#connection;
    const server = this.#server;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => this.#initialized());
    connection.onShutdown(() => {
      this.#state = "ending";
      for (const timer of this.#waiting.values()) clearTimeout(timer);
      this.#waiting.clear();
    });
    connection.onDidOpenTextDocument(
      this.#told(({ textDocument: { uri, version, text } }) =>
        this.#schedule(server.open({ uri, version, text }), 0)
      ),
    );
    connection.onDidChangeTextDocument(
      this.#told(({ textDocument: { uri, version }, contentChanges }) =>
        this.#schedule(server.change(uri, version, contentChanges))
      ),
    );
    connection.onDidCloseTextDocument(
      this.#told(({ textDocument }) => this.#schedule(server.close(textDocument.uri))),
    );
    connection.onDidSaveTextDocument(this.#told(({ textDocument }) => this.#touched([textDocument.uri])));
    connection.onDidChangeWatchedFiles(
      this.#told(({ changes }) => this.#touched(changes.map(({ uri }) => uri))),
    );
    connection.onHover(this.#asked(({ textDocument, position }) => server.hover(textDocument.uri, position)));
    connection.onDefinition(
      this.#asked(({ textDocument, position }) =>
        server.definitions(textDocument.uri, position, { ofType: false })
      ),
    );
    connection.onTypeDefinition(
      this.#asked(({ textDocument, position }) =>
        server.definitions(textDocument.uri, position, { ofType: true })
      ),
    );
    connection.onReferences(
      this.#asked(({ textDocument, position, context }) =>
        server.references(textDocument.uri, position, context.includeDeclaration)
      ),
    );
    connection.onDocumentHighlight(
      this.#asked(({ textDocument, position }) => server.highlights(textDocument.uri, position)),
    );
    connection.onDocumentSymbol(this.#asked(({ textDocument }) => server.documentSymbols(textDocument.uri)));
    connection.onWorkspaceSymbol(this.#asked(({ query }) => server.workspaceSymbols(query)));
    connection.onCodeAction(this.#asked((params) => server.codeActions(params)));
    connection.onCodeLens(this.#asked(({ textDocument }) => server.codeLenses(textDocument.uri)));
    connection.onCompletion(
      this.#asked(({ textDocument, position }) => server.complete(textDocument.uri, position)),
    );
    connection.onCompletionResolve(this.#asked((item) => server.resolveCompletion(item)));
    connection.onSignatureHelp(
      this.#asked(({ textDocument, position }) => server.signatureHelp(textDocument.uri, position)),
    );
    connection.onDocumentFormatting(this.#asked(({ textDocument }) => server.format(textDocument.uri, null)));
    connection.onDocumentRangeFormatting(
      this.#asked(({ textDocument, range }) => server.format(textDocument.uri, range)),
    );
    connection.onPrepareRename(
      this.#asked(({ textDocument, position }) => server.renameTarget(textDocument.uri, position)),
    );
    connection.onRenameRequest(
      this.#asked(({ textDocument, position, newName }) =>
        server.rename(textDocument.uri, position, newName)
      ),
    );
    connection.onFoldingRanges(this.#asked(({ textDocument }) => server.foldingRanges(textDocument.uri)));
    connection.onSelectionRanges(
      this.#asked(({ textDocument, positions }) => server.selectionRanges(textDocument.uri, positions)),
    );
    connection.languages.inlayHint.on(
      this.#asked(({ textDocument, range }) => server.inlayHints(textDocument.uri, range)),
    );
    connection.languages.semanticTokens.on(
      this.#asked(({ textDocument }) => server.semanticTokens(textDocument.uri)),
    );
    connection.languages.semanticTokens.onDelta(
      this.#asked(({ textDocument, previousResultId }) =>
        server.semanticTokensDelta(textDocument.uri, previousResultId)
      ),
    );
    connection.languages.semanticTokens.onRange(
      this.#asked(({ textDocument, range }) => server.semanticTokens(textDocument.uri, range)),
    );
    connection.onRequest(
      TextDocumentContentRequest.type,
      this.#asked(({ uri }) => {
        const text = server.libraryText(uri);
        if (text === null) throw new RequestRefused(`Cannot show ${uri}: the library has no such module`);
        return { text };
      }),
    );
    connection.listen();
  }

  #initialize(params: InitializeParams): InitializeResult {
    this.#server.initialize(params);
    const { workspace } = params.capabilities;
    this.#watchesFiles = workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    this.#reportsFolders = workspace?.workspaceFolders === true;
    this.#state = "ready";
    return { capabilities: CAPABILITIES, serverInfo: { name: "lang", version } };
  }

  #initialized(): void {
    if (this.#watchesFiles) {
      this.#connection.client.register(DidChangeWatchedFilesNotification.type, {
        watchers: [
          { globPattern: "**/*.lang" },
          { globPattern: "**/project.toml" },
          // What `lang pkg` leaves when it has fetched packages.
          { globPattern: "**/.lang/packages.json" },
          { globPattern: "**/.lang/vendor/packages.json" },
        ],
      }).catch((error: unknown) => this.#connection.console.warn(`Cannot watch files: ${messageOf(error)}`));
    }
    if (this.#reportsFolders) {
      this.#connection.workspace.onDidChangeWorkspaceFolders(({ added }) => {
        for (const { uri } of added) this.#server.addFolder(uri);
        for (const session of this.#server.sessions) this.#schedule(session);
      });
    }
    for (const session of this.#server.sessions) this.#schedule(session, 0);
  }

  /** A handler of a notification; what it says is ignored while there is nobody to answer for it. */
  #told<Parameters>(handle: (parameters: Parameters) => void): (parameters: Parameters) => void {
    return (parameters) => {
      if (this.#state !== "ready" || !isWellFormed(parameters)) return;
      try {
        handle(parameters);
      } catch (error) {
        this.#connection.console.error(messageOf(error));
      }
    };
  }

  /** A handler of a request. */
  #asked<Parameters, Result>(
    answer: (parameters: Parameters) => Result,
  ): (parameters: Parameters) => Result | ResponseError<void> {
    return (parameters) => {
      if (this.#state === "new") {
        return new ResponseError<void>(
          ErrorCodes.ServerNotInitialized,
          "Cannot answer: `initialize` has not been sent",
        );
      }
      if (this.#state === "ending") {
        return new ResponseError<void>(ErrorCodes.InvalidRequest, "Cannot answer: the server is shut down");
      }
      if (!isWellFormed(parameters)) {
        return new ResponseError<void>(
          ErrorCodes.InvalidParams,
          "Cannot answer: a document or place is not as the protocol has it",
        );
      }
      try {
        return answer(parameters);
      } catch (error) {
        if (error instanceof RequestRefused) {
          return new ResponseError<void>(LSPErrorCodes.RequestFailed, error.message);
        }
        this.#connection.console.error(error instanceof Error ? error.stack ?? error.message : String(error));
        return new ResponseError<void>(ErrorCodes.InternalError, `Cannot answer: ${messageOf(error)}`);
      }
    };
  }

  #touched(uris: readonly string[]): void {
    for (const session of this.#server.touched(uris)) this.#schedule(session);
  }

  #pause = PAUSE_MILLISECONDS;

  #schedule(session: PackageSession | null, pause = this.#pause): void {
    if (session === null) return;
    clearTimeout(this.#waiting.get(session));
    this.#waiting.set(
      session,
      setTimeout(() => {
        this.#waiting.delete(session);
        this.#check(session);
      }, pause),
    );
  }

  #check(session: PackageSession): void {
    const started = performance.now();
    try {
      for (const { uri, version, diagnostics } of this.#server.check(session)) {
        this.#send(this.#connection.sendDiagnostics({
          uri,
          ...(version === null ? {} : { version }),
          diagnostics: [...diagnostics],
        }));
      }
      this.#reportFailure(session);
    } catch (error) {
      this.#connection.console.error(`Cannot check ${session.root}: ${messageOf(error)}`);
    }
    this.#pause = Math.max(PAUSE_MILLISECONDS, PAUSE_FACTOR * (performance.now() - started));
  }

  /** What keeps a package from being checked is said once. */
  #reportFailure(session: PackageSession): void {
    const { failure } = session;
    if (failure === null) this.#lastFailures.delete(session);
    else if (this.#lastFailures.get(session) !== failure) {
      this.#lastFailures.set(session, failure);
      this.#connection.console.warn(`${session.root}: ${failure}`);
    }
  }

  /** What is sent may meet an editor that is gone: then the process ends by itself. */
  #send(sent: Promise<void>): void {
    sent.catch(() => {});
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

function isPosition(value: unknown): boolean {
  return Number.isInteger(fieldOf(value, "line")) && Number.isInteger(fieldOf(value, "character"));
}

function isRange(value: unknown): boolean {
  return isPosition(fieldOf(value, "start")) && isPosition(fieldOf(value, "end"));
}

/** Whether the parts that all messages share are what the protocol says. */
function isWellFormed(parameters: unknown): boolean {
  if (typeof parameters !== "object" || parameters === null) return false;
  return Object.entries(parameters).every(([name, value]: [string, unknown]) => {
    switch (name) {
      case "textDocument": {
        const text = fieldOf(value, "text");
        return typeof fieldOf(value, "uri") === "string" && (text === undefined || typeof text === "string");
      }
      case "position":
        return isPosition(value);
      case "positions":
        return Array.isArray(value) && value.every(isPosition);
      case "range":
        return isRange(value);
      case "contentChanges":
        return Array.isArray(value) && value.every((change: unknown) => {
          const range = fieldOf(change, "range");
          return typeof fieldOf(change, "text") === "string" && (range === undefined || isRange(range));
        });
      case "newName":
      case "query":
      case "uri":
        return typeof value === "string";
      default:
        return true;
    }
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
