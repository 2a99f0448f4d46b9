/**
 * An engine that does what its statements say, for tests of the protocol alone: `rows 3` answers three rows, `write
 * 7` needs op 7 to be durable, and so on; see `#run`. Several statements of a text are divided by semicolons.
 */
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import type { OpNumber } from "../../../engine/operations/effect.ts";
import type {
  CopyTarget,
  MaybePromise,
  Notice,
  PreparedStatement,
  ResultSink,
  StatementOutcome,
  TransactionStatus,
} from "../../../engine/statements/outcome.ts";
import { whenDone } from "../../../engine/statements/outcome.ts";
import { RowBuffer, writeRow } from "../../../engine/statements/row_buffer.ts";
import { Settings } from "../../../engine/settings/settings.ts";
import type { ResultColumn } from "../../../engine/sql/plan/plan.ts";
import type { SqlType } from "../../../engine/types/sql_type.ts";
import { DEFAULT_TEXT_OPTIONS } from "../../../engine/types/text_io.ts";
import type { SqlValue } from "../../../engine/types/value.ts";
import type { EnginePort, PortalPort, SessionPort } from "../../shared/engine_port.ts";

const COLUMNS: readonly ResultColumn[] = [
  { name: "n", column: 0, type: { kind: "i64" }, tableId: 0, columnId: 0 },
  { name: "label", column: 1, type: { kind: "text" }, tableId: 16384, columnId: 2 },
];

/**
 * An engine that does what its statements say, for tests of the protocol alone: `rows 3` answers three rows, `write
 * 7` needs op 7 to be durable, and so on; see `#run`.
 */
export class ScriptedEngine implements EnginePort {
  durableOp = 0 as OpNumber;
  lastOp = 0 as OpNumber;
  /** What the sessions did, in order. */
  readonly journal: string[] = [];
  /** Ends the statements `wait`. */
  readonly waits: PromiseWithResolvers<void>[] = [];
  readonly sessions = new Map<number, ScriptedSession>();
  #listeners = new Set<(durableOp: OpNumber) => void>();

  openSession(options: { readonly settings?: Readonly<Record<string, string>> }): ScriptedSession {
    const session = new ScriptedSession(this, this.sessions.size + 1, options.settings ?? {});
    this.sessions.set(session.processId, session);
    return session;
  }

  sessionById(processId: number): ScriptedSession | undefined {
    return this.sessions.get(processId);
  }

  readonly notifications = { attach: () => {} };

  onDurable(listener: (durableOp: OpNumber) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  readonly slices = { next: () => this.yieldToLoop() };

  yieldToLoop(): Promise<void> {
    return Promise.resolve();
  }

  /** A group commit. */
  becomeDurable(op: number): void {
    this.durableOp = op as OpNumber;
    for (const listener of this.#listeners) listener(this.durableOp);
  }

  randomBytes(count: number): Uint8Array {
    return new Uint8Array(count).fill(7);
  }
}

/** A session of a {@link ScriptedEngine}. */
export class ScriptedSession implements SessionPort {
  readonly processId: number;
  readonly secretKey = 0x01020304;
  status: TransactionStatus = "idle";
  readonly settings: Settings;
  readonly evaluation = { textOptions: DEFAULT_TEXT_OPTIONS };
  readonly catalog = { serial: 1 };
  readonly currentTransaction = null;
  readonly preparedByName = new Map<string, PreparedStatement>();
  readonly cursors = { get: () => undefined, close: () => {} };
  readonly engine: ScriptedEngine;
  #notices: Notice[] = [];

  constructor(engine: ScriptedEngine, processId: number, settings: Readonly<Record<string, string>>) {
    this.engine = engine;
    this.processId = processId;
    this.settings = new Settings(settings);
  }

  whenParsed<T>(_text: string, run: () => MaybePromise<T>): MaybePromise<T> {
    return run();
  }

  simple(
    text: string,
    sink: ResultSink,
    onOutcome: (outcome: StatementOutcome) => void,
  ): MaybePromise<void> {
    const parts = text.split(";").map((part) => part.trim()).filter((part) => part !== "");
    if (parts.length === 0) {
      onOutcome(this.#outcome("", 0, "empty"));
      return;
    }
    const next = (index: number): MaybePromise<void> => {
      const part = parts[index];
      if (part === undefined) return;
      return whenDone(this.#run(part, [], sink), (outcome) => {
        onOutcome(outcome);
        return next(index + 1);
      });
    };
    return next(0);
  }

  prepare(text: string, _types: readonly (SqlType | undefined)[]): PreparedStatement {
    if (text.startsWith("bad")) {
      throw new DatabaseError(SQLSTATE.syntaxError, "syntax error", { position: 1 });
    }
    const parameterTypes: SqlType[] = [];
    for (let i = 1; text.includes(`$${i}`); i++) parameterTypes.push({ kind: i === 1 ? "i32" : "text" });
    return { text, columns: /^(rows|retract)/.test(text) ? COLUMNS : null, parameterTypes };
  }

  execute(
    prepared: PreparedStatement,
    parameters: readonly SqlValue[],
    sink: ResultSink,
    options: { readonly inPipeline?: boolean } = {},
  ): MaybePromise<StatementOutcome> {
    this.engine.journal.push(`execute ${prepared.text}${options.inPipeline === true ? " in pipeline" : ""}`);
    return this.#run(prepared.text, parameters, sink);
  }

  whenStateIsHere(): null {
    return null;
  }

  openPortal(prepared: PreparedStatement, parameters: readonly SqlValue[]): PortalPort {
    const buffer = new RowBuffer();
    void this.#run(prepared.text, parameters, buffer);
    return {
      columns: COLUMNS,
      fetch: (maximum, sink) => {
        sink.begin(COLUMNS, false);
        const rows = buffer.rows.splice(0, maximum === 0 ? Infinity : maximum);
        for (const row of rows) writeRow(sink, COLUMNS, row);
        return {
          suspended: rows.length === maximum,
          outcome: this.#outcome(`SELECT ${rows.length}`, 0, "rows"),
        };
      },
      close: () => void this.engine.journal.push("portal closed"),
    };
  }

  sync(): MaybePromise<StatementOutcome | null> {
    this.engine.journal.push("sync");
    return null;
  }

  takeNotices(): readonly Notice[] {
    return [];
  }

  fail(): void {
    this.engine.journal.push("fail");
    if (this.status === "block") this.status = "failed";
  }

  onTerminated(): void {}

  cancel(): void {
    this.engine.journal.push("cancel");
    for (const wait of this.engine.waits.splice(0)) {
      wait.reject(new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request"));
    }
  }

  close(): void {
    this.engine.journal.push("close");
  }

  #run(text: string, parameters: readonly SqlValue[], sink: ResultSink): MaybePromise<StatementOutcome> {
    const [verb = "", argument = ""] = text.split(" ");
    const count = Number(argument.startsWith("$") ? parameters[0] : argument);
    switch (verb) {
      case "rows":
        sink.begin(COLUMNS, false);
        return this.#writeRows(sink, count);
      case "retract":
        sink.begin(COLUMNS, true);
        this.#writeRow(sink, -1);
        sink.beginRow();
        sink.writeInteger(-2);
        sink.retract();
        return this.#writeRows(sink, count);
      case "write":
        this.engine.lastOp = count as OpNumber;
        return this.#outcome("INSERT 0 1", count, "affected");
      case "wait": {
        const wait = Promise.withResolvers<void>();
        this.engine.waits.push(wait);
        return wait.promise.then(() => this.#outcome("WAIT", 0, "done"));
      }
      case "fail":
        if (argument === "row") {
          sink.begin(COLUMNS, false);
          this.#writeRow(sink, 1);
          sink.beginRow();
          sink.writeInteger(2);
        }
        throw new DatabaseError(SQLSTATE.divisionByZero, "division by zero", { hint: "Do not." });
      case "bug":
        throw new TypeError("a bug");
      case "begin":
        this.status = "block";
        return this.#outcome("BEGIN", 0, "done");
      case "commit":
        this.status = "idle";
        return this.#outcome("COMMIT", 0, "done");
      case "notice":
        this.#notices.push({ severity: "NOTICE", code: "00000", message: argument });
        this.#notices.push({ severity: "INFO", code: "00000", message: "always" });
        return this.#outcome("NOTICE", 0, "done");
      case "set":
        this.settings.set(argument, text.split(" ")[2] ?? "", { local: false });
        return this.#outcome("SET", 0, "done");
      case "copy":
        if (argument === "out") {
          sink.copyOutBegin({ binary: false, columnCount: 2 });
          sink.copyOutData(new TextEncoder().encode("1\ta\n"), [4]);
          return this.#outcome("COPY 1", 0, "affected");
        }
        return this.#copyIn(sink);
      default:
        throw new DatabaseError(SQLSTATE.syntaxError, `syntax error at or near "${verb}"`, { position: 1 });
    }
  }

  #writeRows(sink: ResultSink, count: number): MaybePromise<StatementOutcome> {
    let n = 0;
    const pump = (): MaybePromise<StatementOutcome> => {
      while (n < count) {
        this.#writeRow(sink, ++n);
        if (sink.full) return sink.drained().then(pump);
      }
      return this.#outcome(`SELECT ${count}`, 0, "rows");
    };
    return pump();
  }

  #writeRow(sink: ResultSink, n: number): void {
    sink.beginRow();
    sink.writeInteger(n);
    if (n === 3) sink.writeNull();
    else sink.writeText(`row ${n}`);
    sink.endRow();
  }

  async #copyIn(sink: ResultSink): Promise<StatementOutcome> {
    let text = "";
    const target: CopyTarget = {
      write: (bytes, start, end) => {
        const piece = new TextDecoder().decode(bytes.subarray(start, end));
        if (piece.includes("bad")) throw new DatabaseError(SQLSTATE.badCopyFileFormat, "bad data");
        text += piece;
        return piece.includes("slow") ? new Promise((resolve) => setTimeout(resolve, 1)) : undefined;
      },
    };
    await sink.copyIn({ binary: false, columnCount: 2 }, target);
    this.engine.journal.push(`copied ${JSON.stringify(text)}`);
    return this.#outcome("COPY 1", 0, "affected");
  }

  #outcome(tag: string, durableOp: number, kind: StatementOutcome["kind"]): StatementOutcome {
    const notices = this.#notices;
    this.#notices = [];
    return { tag, rowCount: null, kind, insertedId: null, durableOp: durableOp as OpNumber, notices };
  }
}
