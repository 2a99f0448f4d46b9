/**
 * What expressions may ask of their session: time, chance, settings, sequences, and the catalog's own functions.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { closest } from "../base/suggest.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { SequenceDefinition } from "../catalog/definitions.ts";
import type { StateMachine } from "../state_machine/state_machine.ts";
import type { SessionServices } from "../sql/functions/definition.ts";
import { type DateStyle, ISO_MDY, parseDateStyle } from "../types/date_time_format.ts";
import type { IntervalStyle } from "../types/interval_text.ts";
import type { TextOptions } from "../types/text_io.ts";
import { type TimeZone, timeZone, UTC } from "../types/time_zone.ts";
import type { SqlValue } from "../types/value.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { LargeCalls } from "../statements/large_calls.ts";
import type { TransactionBlock } from "../statements/transaction_block.ts";
import type { CatalogContext, VisibleSession } from "../system_catalog/catalog_context.ts";
import { lookupObject, objectName, runCatalogFunction } from "../system_catalog/catalog_functions.ts";
import { splitName } from "../system_catalog/split_name.ts";
import type { SessionEngine } from "./session_engine.ts";
import { parseSearchPath } from "../settings/settings.ts";
import { isTransactionMode, setTransactionMode } from "../statements/utility/transaction_settings.ts";

/** The session whose expressions are evaluated. */
export interface EvaluatingSession extends VisibleSession {
  readonly engine: SessionEngine;
  /** As the running transaction sees it. */
  readonly catalog: Catalog;
  readonly block: TransactionBlock | null;
  /** The schema of its temporary tables, whether it exists or not. */
  readonly temporarySchema: string;
}

/** One per session; the timestamps are set anew for each transaction and statement. See the file's head. */
export class SessionEvaluation implements CatalogContext, SessionServices {
  readonly user: string;
  readonly database: string;
  readonly services: SessionServices = this;
  /** The transaction whose commit is under way, which may still compute values of its rows. */
  committing: Transaction | null = null;
  readonly largeCalls = new LargeCalls();
  readonly #session: EvaluatingSession;
  readonly #currentValues = new Map<number, number | bigint>();
  #lastSequence = 0;
  #statementTimestamp = NaN;
  #derivedAt = -1;
  #timeZone = "UTC";
  #dateStyle = "ISO, MDY";
  #intervalStyle = "postgres";
  #byteaOutput = "hex";
  #searchPath: readonly string[] = [];
  #derivedFrom: unknown = null;
  #zone: TimeZone = UTC;
  #style: DateStyle = ISO_MDY;

  constructor(session: EvaluatingSession, options: { readonly user: string; readonly database: string }) {
    this.#session = session;
    this.user = options.user;
    this.database = options.database;
  }

  /** Chosen when first asked for, unless a block fixed it at its beginning. */
  get transactionTimestamp(): number {
    return this.#session.currentTransaction?.timestamp ?? this.#session.engine.now();
  }

  get statementTimestamp(): number {
    if (this.#statementTimestamp !== this.#statementTimestamp) {
      this.#statementTimestamp = this.#session.engine.now();
    }
    return this.#statementTimestamp;
  }

  /** A statement begins: its timestamp is chosen on demand. */
  beginStatement(): void {
    this.#statementTimestamp = NaN;
  }

  /** The statement has ended. */
  endStatement(): void {
    this.committing = null;
    this.largeCalls.clear();
  }

  get session(): EvaluatingSession {
    return this.#session;
  }

  get server(): SessionEngine {
    return this.#session.engine;
  }

  get machine(): StateMachine {
    return this.#session.engine.machine;
  }

  get catalog(): Catalog {
    return this.#session.catalog;
  }

  get timeZone(): string {
    this.#derive();
    return this.#timeZone;
  }

  get dateStyle(): string {
    this.#derive();
    return this.#dateStyle;
  }

  get intervalStyle(): string {
    this.#derive();
    return this.#intervalStyle;
  }

  get byteaOutput(): string {
    this.#derive();
    return this.#byteaOutput;
  }

  /** Schemas of unqualified names, in order; those that exist, pg_catalog first unless named. */
  get searchPath(): readonly string[] {
    this.#derive();
    return this.#searchPath;
  }

  /** How values are read from and written as text in this session. */
  get textOptions(): TextOptions {
    this.#derive();
    return {
      now: this.transactionTimestamp,
      timeZone: this.#zone,
      dateStyle: this.#style,
      intervalStyle: this.#intervalStyle as IntervalStyle,
      byteaOutput: this.#byteaOutput === "escape" ? "escape" : "hex",
      lookupObject: (kind, name) => lookupObject(this, kind, name),
      objectName: (kind, oid) => objectName(this, kind, oid),
    };
  }

  random(): number {
    return this.#again("random", 1, () => this.#session.engine.randomFraction());
  }

  randomBytes(n: number): Uint8Array {
    return this.#again("random bytes", n, () => this.#session.engine.randomBytes(n));
  }

  clockTimestamp(): number {
    // The statement's timestamp is taken when it is first asked for, and must not be later than this one.
    void this.statementTimestamp;
    return this.#again("clock", 1, () => this.#session.engine.now());
  }

  /** What an attempt of the statement before this one has got, if it has. */
  #again<Value>(source: number | string, count: number, take: () => Value): Value {
    const numbers = (this.#session.currentTransaction ?? this.committing)?.numbers ?? null;
    return numbers === null ? take() : numbers.get(source, count, take);
  }

  nextSequenceValue(name: string): number | bigint {
    const sequence = this.#sequence(name);
    const transaction = this.#transaction();
    const value = this.#again(sequence.id, 1, () => this.#session.engine.machine.sequences.next(sequence));
    transaction.noteSequence(sequence.id, value, true);
    this.#currentValues.set(sequence.id, value);
    this.#lastSequence = sequence.id;
    return value;
  }

  currentSequenceValue(name: string): number | bigint {
    const sequence = this.#sequence(name);
    const value = this.#currentValues.get(sequence.id);
    if (value === undefined) {
      throw new DatabaseError(
        SQLSTATE.objectNotInPrerequisiteState,
        `currval of sequence "${sequence.name}" is not yet defined in this session`,
      );
    }
    return value;
  }

  lastSequenceValue(): number | bigint {
    const value = this.#currentValues.get(this.#lastSequence);
    // It may have been dropped, or rolled back, since.
    if (value === undefined || this.#session.catalog.sequence(this.#lastSequence) === undefined) {
      throw new DatabaseError(
        SQLSTATE.objectNotInPrerequisiteState,
        "lastval is not yet defined in this session",
      );
    }
    return value;
  }

  setSequenceValue(name: string, value: number | bigint, called: boolean): void {
    const sequence = this.#sequence(name);
    const transaction = this.#transaction();
    transaction.requireTrue();
    this.#session.engine.machine.sequences.set(sequence, value, called);
    transaction.noteSequence(sequence.id, value, called);
    if (called) this.#currentValues.set(sequence.id, value);
  }

  getSetting(name: string): string | undefined {
    return this.#session.settings.find(name);
  }

  setSetting(name: string, value: string | null, local: boolean): string {
    if (value !== null && isTransactionMode(name)) {
      return setTransactionMode(this.#session, name, value, { inQuery: true });
    }
    const { settings, block } = this.#session;
    if (block === null) settings.beginStatementScope();
    if (value === null) settings.reset(name, { local });
    else settings.set(name, value, { local });
    return settings.get(name);
  }

  catalogFunction(name: string, args: readonly SqlValue[]): SqlValue {
    return runCatalogFunction(this, name, args);
  }

  /** Forgets the values that currval and lastval answer (DISCARD SEQUENCES). */
  discardSequences(): void {
    this.#currentValues.clear();
    this.#lastSequence = 0;
  }

  #transaction(): Transaction {
    return assertDefined(
      this.#session.currentTransaction ?? this.committing,
      "transaction of a sequence function",
    );
  }

  /** A sequence by the text that nextval takes: a name as in SQL, or an object id. */
  #sequence(text: string): SequenceDefinition {
    const { currentTransaction } = this.#session;
    const catalog = (currentTransaction ?? this.committing ?? this.#session).catalog;
    if (/^\d+$/.test(text)) {
      const byId = catalog.sequence(Number(text));
      if (byId !== undefined) return byId;
    }
    const parts = splitName(text);
    const name = parts.at(-1) ?? "";
    const relation = parts.length > 1
      ? catalog.relation(parts.at(-2) ?? "", name)
      : catalog.findRelation(name, [...this.searchPath, "public"]);
    if (relation === undefined) {
      const near = closest(name, catalog.sequences.map((each) => each.name));
      throw new DatabaseError(
        SQLSTATE.undefinedTable,
        `relation "${text}" does not exist`,
        near === undefined ? {} : { hint: `Did you mean "${near}"?` },
      );
    }
    if (relation.kind !== "sequence") {
      throw new DatabaseError(SQLSTATE.wrongObjectType, `"${name}" is not a sequence`);
    }
    return relation.sequence;
  }

  #derive(): void {
    const { settings } = this.#session;
    const { schemas } = this.#session.catalog;
    if (this.#derivedAt === settings.generation && this.#derivedFrom === schemas) return;
    this.#derivedAt = settings.generation;
    this.#derivedFrom = schemas;
    this.#timeZone = settings.get("timezone");
    this.#dateStyle = settings.get("datestyle");
    this.#intervalStyle = settings.get("intervalstyle");
    this.#byteaOutput = settings.get("bytea_output");
    this.#zone = timeZone(this.#timeZone);
    this.#style = parseDateStyle(this.#dateStyle) ?? ISO_MDY;
    const catalog = this.#session.catalog;
    const listed = parseSearchPath(settings.get("search_path"), this.user)
      .filter((schema) => catalog.schema(schema) !== undefined);
    const path = listed.includes("pg_catalog") ? listed : ["pg_catalog", ...listed];
    const { temporarySchema } = this.#session;
    const hasTemporary = catalog.schema(temporarySchema) !== undefined;
    this.#searchPath = hasTemporary ? [temporarySchema, ...path] : path;
  }
}
