/** Limits of the programs: what the servers of `lang` grant their clients, and what files may do to a script. */
import { LANG_LIMITS } from "../../lang/limits.ts";

const MEBIBYTE = 1024 * 1024;

/** The limits, with their units in their names. */
export const CLI_LIMITS = {
  /** How deep files of dbcli may include one another. */
  maximumIncludeDepth: 16,

  /** Seconds that `--timeout` may say: a day. */
  maximumTimeoutSeconds: 86_400,
  /** Threads that `lang test` runs unless its arguments say how many. */
  testThreads: 8,

  /** Files that `lang serve` keeps in memory; larger ones are read as they are sent. */
  maximumKeptFileBytes: 32 * MEBIBYTE,
  /** All that it keeps. */
  keptFileBytes: 128 * MEBIBYTE,
  /** WebSockets of pages that are open at a time. */
  pageSockets: 512,

  /** Connections of `lang agent`; one more is refused and closed. */
  agentConnections: 1_024,
  /** What is held of the requests of all of them. */
  agentRequestBytes: 8 * LANG_LIMITS.maximumRequestBytes,
  /** The head of a request over HTTP. */
  maximumAgentHeadBytes: 16 * 1024,
  /** How long such a head may take to arrive. */
  agentHeadMilliseconds: 15_000,
  /** How long a whole request may take to arrive. */
  agentRequestMilliseconds: 30_000,
  /** How long a connection without a request is kept. */
  agentKeepAliveMilliseconds: 75_000,
  /** Requests of one connection that wait for their answers; no more of it is read meanwhile. */
  agentWaitingRequests: 64,
  /** Programs and test suites that run at a time. */
  agentRuns: 4,
  /** Those that may wait for it. */
  agentWaitingRuns: 256,
  /** Packages that are kept; the one that was not asked for longest goes. */
  agentPackages: 16,
} as const;
