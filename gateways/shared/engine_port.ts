/**
 * What gateways need of the engine and its sessions, as interfaces: the real classes satisfy them, and tests of a
 * protocol can stand in a scripted session for a database.
 */
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import type { SliceTurns } from "../../engine/host/slice_turns.ts";
import type { OpNumber } from "../../engine/operations/effect.ts";
import type {
  MaybePromise,
  Notice,
  PreparedStatement,
  ResultSink,
  StatementOutcome,
  TransactionStatus,
} from "../../engine/statements/outcome.ts";
import type { TerminationListener } from "../../engine/session/interruption.ts";
import type { NotificationReceiver } from "../../engine/session/notifications.ts";
import type { ResultColumn } from "../../engine/sql/plan/plan.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import type { TextOptions } from "../../engine/types/text_io.ts";
import type { SqlValue } from "../../engine/types/value.ts";

/** A query being fetched piece by piece. */
export interface PortalPort {
  readonly columns: readonly ResultColumn[];
  fetch(maximum: number, sink: ResultSink): MaybePromise<{ suspended: boolean; outcome: StatementOutcome }>;
  close(): void;
}

/** The settings of a session, as far as protocols deal with them. */
export interface SettingsPort {
  readonly generation: number;
  get(name: string): string;
  reported(): [string, string][];
  onReported(listener: (name: string, value: string) => void): void;
}

/** One client's session. */
export interface SessionPort {
  readonly processId: number;
  readonly secretKey: number;
  readonly status: TransactionStatus;
  readonly settings: SettingsPort;
  readonly evaluation: { readonly textOptions: TextOptions };
  readonly catalog: { readonly serial: number };
  readonly currentTransaction: { readonly hasDdl: boolean } | null;
  readonly preparedByName: Map<string, PreparedStatement>;
  /** Cursors of DECLARE. */
  readonly cursors: {
    get(name: string): { readonly portal: PortalPort } | undefined;
    close(name: string): void;
  };
  /**
   * Runs what needs the statements of the text, when a long one has been parsed and planned and others had turns;
   * `declared`: the types of parameters that are known.
   */
  whenParsed<T>(
    text: string,
    run: () => MaybePromise<T>,
    declared?: readonly (SqlType | undefined)[],
  ): MaybePromise<T>;
  simple(text: string, sink: ResultSink, onOutcome: (outcome: StatementOutcome) => void): MaybePromise<void>;
  prepare(text: string, parameterTypes: readonly (SqlType | undefined)[]): PreparedStatement;
  execute(
    prepared: PreparedStatement,
    parameters: readonly SqlValue[],
    sink: ResultSink,
    options?: { readonly inPipeline?: boolean },
  ): MaybePromise<StatementOutcome>;
  /** What is to be waited for before {@link openPortal}; null: nothing. */
  whenStateIsHere(): Promise<void> | null;
  openPortal(
    prepared: PreparedStatement,
    parameters: readonly SqlValue[],
    options?: { readonly inPipeline?: boolean },
  ): PortalPort;
  sync(): MaybePromise<StatementOutcome | null>;
  fail(): void;
  /** Notices of a statement that failed. */
  takeNotices(): readonly Notice[];
  cancel(): void;
  /** Called when the session is ended from outside; the listener is to close it. */
  onTerminated(listener: TerminationListener): void;
  close(): void;
}

/** The engine. */
export interface EnginePort {
  readonly durableOp: OpNumber;
  readonly lastOp: OpNumber;
  openSession(
    options: {
      readonly user?: string;
      readonly database?: string;
      readonly settings?: Readonly<Record<string, string>>;
      readonly encryption?: SessionEncryption | null;
      readonly readFrom?: "follower";
    },
  ): SessionPort;
  sessionById(
    processId: number,
  ): { readonly secretKey: number; cancel(): void } | undefined;
  /** LISTEN and NOTIFY. */
  readonly notifications: { attach(processId: number, receiver: NotificationReceiver): void };
  onDurable(listener: (durableOp: OpNumber) => void): () => void;
  /** Resolves in a later turn of the event loop. */
  yieldToLoop(): Promise<void>;
  /** Turns of what sends a mass of data or requests; see `SliceTurns.next`. */
  readonly slices: Pick<SliceTurns, "next">;
  randomBytes(count: number): Uint8Array;
}
