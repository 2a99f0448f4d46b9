/** What of an engine's state is elsewhere, and how sessions reach it. */
import type { CommitHorizon } from "../storage/commit_horizon.ts";
import type { Manifest } from "../storage/manifest.ts";
import type { StorageParts } from "../storage/storage_parts.ts";
import type { DatabaseError } from "../base/errors.ts";
import type { StateMachine } from "../state_machine/state_machine.ts";
import type { TransactionManager } from "../transactions/transaction_manager.ts";
import type { Shards } from "./commit_turns.ts";

/** What the parts need of the engine. */
export interface RoutedEngine {
  readonly machine: StateMachine;
  readonly manager: TransactionManager;
  /** Alone, or what a member of a replication group is. */
  readonly role: "single" | "primary" | "backup";
  /** Resolves when the entry may be answered. */
  whenDurable(op: number): Promise<void>;
  /** The node can no longer go on, and must stop. */
  fail(error: DatabaseError): void;
}

/** The parts of an engine's storage, from one opening of its state to the end of it. */
export interface EngineParts extends StorageParts {
  /**
   * Opens them as of the manifest, before the log is replayed; entries up to the horizon are handed to them. Raises
   * what a part raises.
   */
  open(manifest: Manifest | null, horizon: CommitHorizon): Promise<void>;
  /** The way of the engine's sessions to them. */
  route(engine: RoutedEngine): Shards;
  /** Ends them. */
  close(): Promise<void>;
}
