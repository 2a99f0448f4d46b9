/**
 * The extended query protocol: prepared statements, portals, and the messages that deal with them.
 *
 * Named statements are the session's, shared with SQL's PREPARE. Portals live until the transaction ends. A portal
 * that is fetched with a row limit is a cursor of the engine when it only reads; any other result is produced whole,
 * as in PostgreSQL, and handed out from memory. A cursor of DECLARE is also a portal of its name, as in PostgreSQL;
 * its rows come as text.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import {
  type MaybePromise,
  type PreparedStatement,
  type StatementOutcome,
  whenDone,
} from "../../engine/statements/outcome.ts";
import { Prepared } from "../../engine/statements/prepared.ts";
import { RowBuffer, writeRow } from "../../engine/statements/row_buffer.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import type { TextOptions } from "../../engine/types/text_io.ts";
import { typeByOid } from "../../engine/types/type_names.ts";
import type { SqlValue } from "../../engine/types/value.ts";
import type { PortalPort, SessionPort } from "../shared/engine_port.ts";
import { PG_LIMITS } from "./limits.ts";
import type { MessageReader } from "./message_reader.ts";
import type { MessageWriter } from "./message_writer.ts";
import { readParameters, readResultFormats, type ResultFormats } from "./parameters.ts";
import { BACKEND } from "./protocol.ts";
import type { PgResultSink } from "./result_sink.ts";

const STATEMENT = 0x53;
const PORTAL = 0x50;
const ALONE = { inPipeline: false } as const;
const IN_PIPELINE = { inPipeline: true } as const;
const NO_TYPES: readonly (SqlType | undefined)[] = [];
/** `unknown`: the client leaves the type to the server. */
const UNKNOWN_OID = 705;

/** A bound statement. */
interface BoundPortal {
  readonly name: string;
  readonly prepared: PreparedStatement;
  readonly parameters: readonly SqlValue[];
  readonly formats: ResultFormats;
  /** It has been run to its end. */
  isDone: boolean;
  /** Set while rows are fetched piece by piece. */
  cursor: PortalPort | null;
  /** A result that was produced whole, and how many of its rows were handed out. */
  buffered: { readonly rows: readonly SqlValue[][]; next: number; readonly outcome: StatementOutcome } | null;
}

/** How an Execute ended. */
export type ExecuteEnd = (outcome: StatementOutcome, suspended: boolean) => void;

/** The extended query protocol: prepared statements, portals, and the messages that deal with them. */
export class ExtendedQuery {
  readonly #session: SessionPort;
  readonly #output: MessageWriter;
  readonly #sink: PgResultSink;
  readonly #textOptions: () => TextOptions;
  #unnamedStatement: PreparedStatement | null = null;
  #unnamedPortal: BoundPortal | null = null;
  readonly #portals = new Map<string, BoundPortal>();
  /** Unnamed statements by text: drivers that do not name theirs send the same texts again and again. */
  readonly #recent = new Map<string, PreparedStatement>();
  #recentStamp = "";

  constructor(session: SessionPort, output: MessageWriter, sink: PgResultSink) {
    this.#session = session;
    this.#output = output;
    this.#sink = sink;
    this.#textOptions = () => session.evaluation.textOptions;
  }

  /** Parse. */
  parse(reader: MessageReader): MaybePromise<void> {
    const name = reader.readText();
    const text = reader.readText();
    const count = reader.readU16();
    let types = NO_TYPES;
    if (count > 0) {
      const declared: (SqlType | undefined)[] = [];
      for (let i = 0; i < count; i++) declared.push(declaredType(reader.readI32() >>> 0));
      types = declared;
    }
    reader.expectEnd();
    return this.#session.whenParsed(text, () => this.#prepare(name, text, types), types);
  }

  #prepare(name: string, text: string, types: readonly (SqlType | undefined)[]): void {
    if (name === "") {
      this.#unnamedStatement = null;
      this.#unnamedStatement = this.#prepareUnnamed(text, types);
    } else {
      const { preparedByName } = this.#session;
      if (preparedByName.has(name)) {
        throw new DatabaseError(
          SQLSTATE.duplicatePreparedStatement,
          `prepared statement "${name}" already exists`,
        );
      }
      if (preparedByName.size >= LIMITS.maximumPreparedStatements) {
        throw new DatabaseError(
          SQLSTATE.configurationLimitExceeded,
          "too many prepared statements in this session",
          {
            hint: `The limit is ${LIMITS.maximumPreparedStatements}; close those that are no longer needed.`,
          },
        );
      }
      preparedByName.set(name, this.#session.prepare(text, types));
    }
    this.#output.writeEmptyMessage(BACKEND.parseComplete);
  }

  /** Bind. */
  bind(reader: MessageReader): void {
    const name = reader.readText();
    const statementName = reader.readText();
    const prepared = this.#statement(statementName);
    const parameters = readParameters(reader, prepared.parameterTypes, {
      statementName,
      textOptions: this.#textOptions,
    });
    const formats = readResultFormats(reader, prepared.columns?.length ?? 0);
    reader.expectEnd();
    const portal: BoundPortal = {
      name,
      prepared,
      parameters,
      formats,
      isDone: false,
      cursor: null,
      buffered: null,
    };
    if (name === "") {
      this.#unnamedPortal?.cursor?.close();
      this.#unnamedPortal = portal;
    } else {
      if (this.#portals.has(name) || this.#session.cursors.get(name) !== undefined) {
        throw new DatabaseError(SQLSTATE.duplicateCursor, `cursor "${name}" already exists`);
      }
      if (this.#portals.size >= LIMITS.maximumCursors) {
        throw new DatabaseError(SQLSTATE.configurationLimitExceeded, "too many portals in this session", {
          hint: `The limit is ${LIMITS.maximumCursors}; close those that are no longer needed.`,
        });
      }
      this.#portals.set(name, portal);
    }
    this.#output.writeEmptyMessage(BACKEND.bindComplete);
  }

  /** Describe. */
  describe(reader: MessageReader): void {
    const kind = reader.readU8();
    const name = reader.readText();
    reader.expectEnd();
    if (kind === STATEMENT) {
      const prepared = this.#statement(name);
      this.#output.writeParameterDescription(prepared.parameterTypes);
      this.#describeColumns(prepared, "text");
    } else if (kind === PORTAL) {
      const declared = this.#declaredCursor(name);
      if (declared !== null) {
        this.#output.writeRowDescription(declared.columns, "text");
        return;
      }
      const portal = this.#portal(name);
      this.#describeColumns(portal.prepared, portal.formats);
    } else throw invalidSubtype("DESCRIBE", kind);
  }

  /** Execute. `end` is called with the outcome; it writes the message that ends the answer. */
  execute(reader: MessageReader, end: ExecuteEnd): MaybePromise<void> {
    const name = reader.readText();
    const limit = Math.max(0, reader.readI32());
    reader.expectEnd();
    const declared = this.#declaredCursor(name);
    if (declared !== null) {
      this.#sink.expectExtended("text", declared.columns);
      return whenDone(
        declared.fetch(limit, this.#sink),
        ({ suspended, outcome }) => end(outcome, suspended),
      );
    }
    const portal = this.#portal(name);
    const { prepared, parameters } = portal;
    this.#sink.expectExtended(portal.formats, prepared.columns);
    if (portal.cursor !== null) return this.#fetch(portal, portal.cursor, limit, end);
    if (portal.buffered !== null) {
      this.#handOut(portal, limit, end);
      return;
    }
    if (portal.isDone) {
      this.#repeat(portal, end);
      return;
    }
    const options = reader.isSyncNext() ? ALONE : IN_PIPELINE;
    if (limit === 0 || prepared.columns === null) {
      portal.isDone = true;
      const running = this.#session.execute(prepared, parameters, this.#sink, options);
      if (running instanceof Promise) return running.then((outcome) => this.#ended(portal, outcome, end));
      this.#ended(portal, running, end);
      return;
    }
    if (isReadOnlyPlan(prepared)) {
      const open = (): MaybePromise<void> => {
        portal.cursor = this.#session.openPortal(prepared, parameters, options);
        return this.#fetch(portal, portal.cursor, limit, end);
      };
      const wait = this.#session.whenStateIsHere();
      return wait === null ? open() : wait.then(open);
    }
    const buffer = new RowBuffer();
    portal.isDone = true;
    return whenDone(this.#session.execute(prepared, parameters, buffer, options), (outcome) => {
      portal.buffered = { rows: buffer.rows, next: 0, outcome };
      this.#handOut(portal, limit, end);
    });
  }

  /** Close. */
  close(reader: MessageReader): void {
    const kind = reader.readU8();
    const name = reader.readText();
    reader.expectEnd();
    if (kind === STATEMENT) {
      if (name === "") this.#unnamedStatement = null;
      else this.#session.preparedByName.delete(name);
    } else if (kind === PORTAL) {
      if (name === "") {
        this.#unnamedPortal?.cursor?.close();
        this.#unnamedPortal = null;
      } else {
        this.#session.cursors.close(name);
        this.#portals.get(name)?.cursor?.close();
        this.#portals.delete(name);
      }
    } else throw invalidSubtype("CLOSE", kind);
    this.#output.writeEmptyMessage(BACKEND.closeComplete);
  }

  /** A simple query replaces the unnamed statement and portal. */
  dropUnnamed(): void {
    this.#unnamedStatement = null;
    this.#unnamedPortal?.cursor?.close();
    this.#unnamedPortal = null;
  }

  /** The transaction is over, and its portals with it. */
  closePortals(): void {
    this.#unnamedPortal?.cursor?.close();
    this.#unnamedPortal = null;
    if (this.#portals.size === 0) return;
    for (const portal of this.#portals.values()) portal.cursor?.close();
    this.#portals.clear();
  }

  #statement(name: string): PreparedStatement {
    if (name === "") {
      if (this.#unnamedStatement !== null) return this.#unnamedStatement;
      throw new DatabaseError(
        SQLSTATE.invalidSqlStatementName,
        "unnamed prepared statement does not exist",
      );
    }
    const prepared = this.#session.preparedByName.get(name);
    if (prepared !== undefined) return prepared;
    throw new DatabaseError(
      SQLSTATE.invalidSqlStatementName,
      `prepared statement "${name}" does not exist`,
    );
  }

  #declaredCursor(name: string): PortalPort | null {
    return this.#session.cursors.get(name)?.portal ?? null;
  }

  #portal(name: string): BoundPortal {
    const portal = name === "" ? this.#unnamedPortal : this.#portals.get(name) ?? null;
    if (portal !== null) return portal;
    throw new DatabaseError(SQLSTATE.invalidCursorName, `portal "${name}" does not exist`);
  }

  /** Statements without plans, and those of a transaction that may have changed the catalog, are always made anew. */
  #prepareUnnamed(text: string, types: readonly (SqlType | undefined)[]): PreparedStatement {
    const session = this.#session;
    if (types.length > 0 || session.status === "failed" || text.length > PG_LIMITS.maximumUnnamedLength) {
      return session.prepare(text, types);
    }
    if (session.currentTransaction?.hasDdl === true) {
      this.#recent.clear();
      return session.prepare(text, types);
    }
    const stamp = `${session.catalog.serial} ${session.settings.generation}`;
    if (stamp !== this.#recentStamp) {
      this.#recent.clear();
      this.#recentStamp = stamp;
    }
    const known = this.#recent.get(text);
    if (known !== undefined) return known;
    const prepared = session.prepare(text, types);
    if (prepared instanceof Prepared && prepared.plan !== null) {
      if (this.#recent.size >= PG_LIMITS.unnamedStatements) {
        const oldest = this.#recent.keys().next();
        if (!oldest.done) this.#recent.delete(oldest.value);
      }
      this.#recent.set(text, prepared);
    }
    return prepared;
  }

  #describeColumns(prepared: PreparedStatement, formats: ResultFormats): void {
    if (prepared.columns === null) this.#output.writeEmptyMessage(BACKEND.noData);
    else this.#output.writeRowDescription(prepared.columns, formats);
  }

  #ended(portal: BoundPortal, outcome: StatementOutcome, end: ExecuteEnd): void {
    end(outcome, false);
    const { tag } = outcome;
    if (outcome.kind === "done" && (tag === "COMMIT" || tag === "ROLLBACK")) {
      // The transaction's other portals have ended with it.
      this.closePortals();
      if (portal.name === "") this.#unnamedPortal = portal;
    }
  }

  #fetch(portal: BoundPortal, cursor: PortalPort, limit: number, end: ExecuteEnd): MaybePromise<void> {
    return whenDone(cursor.fetch(limit, this.#sink), ({ suspended, outcome }) => {
      if (!suspended) {
        cursor.close();
        portal.cursor = null;
        portal.isDone = true;
      }
      end(outcome, suspended);
    });
  }

  #handOut(portal: BoundPortal, limit: number, end: ExecuteEnd): void {
    const { buffered } = portal;
    const columns = portal.prepared.columns;
    if (buffered === null || columns === null) return;
    const first = buffered.next;
    const last = limit === 0 ? buffered.rows.length : Math.min(buffered.rows.length, first + limit);
    this.#sink.begin(columns, false);
    for (let i = first; i < last; i++) writeRow(this.#sink, columns, buffered.rows[i] as SqlValue[]);
    buffered.next = last;
    const suspended = limit > 0 && last - first === limit;
    if (!suspended) portal.buffered = null;
    end(first === 0 ? buffered.outcome : { ...buffered.outcome, notices: [] }, suspended);
  }

  /** Execute of a portal that has ended: no more rows; what returns none cannot run twice. */
  #repeat(portal: BoundPortal, end: ExecuteEnd): void {
    if (portal.prepared.columns === null) {
      throw new DatabaseError(
        SQLSTATE.objectNotInPrerequisiteState,
        `portal "${portal.name}" cannot be run`,
      );
    }
    this.#sink.begin(portal.prepared.columns, false);
    end({ ...NO_ROWS }, false);
  }
}

const NO_ROWS: StatementOutcome = {
  tag: "SELECT 0",
  rowCount: 0,
  kind: "rows",
  insertedId: null,
  durableOp: 0 as StatementOutcome["durableOp"],
  notices: [],
};

function isReadOnlyPlan(prepared: PreparedStatement): boolean {
  return prepared instanceof Prepared && prepared.plan !== null && prepared.plan.planned.readOnly;
}

function declaredType(oid: number): SqlType | undefined {
  if (oid === 0 || oid === UNKNOWN_OID) return undefined;
  const type = typeByOid(oid);
  if (type === undefined) {
    throw new DatabaseError(SQLSTATE.undefinedObject, `type with OID ${oid} does not exist`);
  }
  return type;
}

function invalidSubtype(message: string, kind: number): DatabaseError {
  return new DatabaseError(SQLSTATE.protocolViolation, `invalid ${message} message subtype ${kind}`);
}
