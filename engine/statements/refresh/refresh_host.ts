/** What REFRESH asks of the session that runs it, and of its engine; see `statement_host.ts`. */
import type { Timers } from "../../host/host.ts";
import type { StatementEngine, StatementHost } from "../statement_host.ts";
import type { ExternalSources } from "./external_port.ts";
import type { RefreshProgress } from "./row_target.ts";

/** A REFRESH that is under way. */
export interface RunningRefresh {
  /** The session that runs it. */
  readonly processId: number;
  readonly progress: Readonly<RefreshProgress>;
}

/** The engine, as REFRESH needs it. */
export interface RefreshEngine extends StatementEngine {
  /** null: this program has no external sources. */
  readonly external: ExternalSources | null;
  /** By table id: external sources that are being read. */
  readonly refreshes: Map<number, RunningRefresh>;
  readonly host: { readonly timers: Timers };
  /** Microseconds since 2000-01-01 UTC. */
  now(): number;
}

/** The session. */
export interface RefreshHost extends StatementHost {
  readonly engine: RefreshEngine;
  /** Names the session in pg_stat_activity. */
  readonly processId: number;
  readonly environment: {
    /** Aborted, with the error as its reason, when the running statement is canceled. */
    readonly abort: AbortSignal;
  };
}
