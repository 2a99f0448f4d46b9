/**
 * The limits of the language, its compiler and its servers: what a program, its author or a client can run into.
 * Sizes in bytes unless the name says otherwise. Constants that only tune an algorithm are next to it.
 */
import { assert } from "../engine/base/assert.ts";

const MEBIBYTE = 1024 * 1024;

/** The limits. */
export const LANG_LIMITS = {
  /** Nesting in a source; whatever walks its tree calls itself as deep. */
  maximumNestingDepth: 500,
  /** Parts that the type of an expression may have. */
  maximumTypeParts: 2_000,
  /** Depth of a type that is laid out in memory; deeper ones grow without end. */
  maximumTypeDepth: 64,
  /** Parts of such a type: more than the checker accepts, so that only what the compiler makes can have them. */
  maximumLaidOutTypeParts: 4_000,
  /** Steps of checking whether the cases of a `match` are exhaustive; beyond them they are taken to be. */
  exhaustivenessSteps: 20_000,
  /** UTF-16 units of a path within a package. */
  maximumPathLength: 1_024,

  /**
   * Nesting of calls when a program runs. Calls that the compiler inlines do not count, so only recursion without end
   * is sure to trap.
   */
  maximumCallDepth: 2_000,
  /** Pages of 64 KiB that a module's memory may grow to: 256 MiB. */
  memoryPages: 4_096,
  /** UTF-16 units that one test may print; one that prints more is stopped. */
  maximumTestOutputLength: MEBIBYTE,
  /** Numbers that make one generated value of a property. */
  maximumChoices: 1_000,
  /** Attempts to make a failing value of a property smaller. */
  maximumShrinks: 2_000,
  /** Snapshots that one test may have to be renewed at once. */
  maximumSnapshotRounds: 200,

  /** UTF-16 units of a source that editors get more than diagnostics for. */
  maximumEditedLength: 400_000,
  /** Diagnostics that `lang serve` sends to a page. */
  servedDiagnostics: 100,
  /** Parts of a Range header; a request for more is answered with the whole file. */
  maximumRangeParts: 16,
  /** How many times over a path may be percent-encoded; it is refused beyond. */
  maximumPathEncodings: 8,

  /** A request of `lang agent`: a line, or the body of an HTTP request. */
  maximumRequestBytes: 8 * MEBIBYTE,
  /** What a program that `lang agent` runs may write; it is stopped at the first byte more. */
  maximumProgramOutputBytes: MEBIBYTE,
  /** Seconds that a request may give a program. */
  maximumRequestSeconds: 600,
  /** Unknown fields of a request that its answer names. */
  namedUnknownFields: 20,
  /** Lines of source that a diagnostic is answered with. */
  answeredSourceLines: 20,

  /** A message of the Model Context Protocol: a line of standard input, or the body of a request. */
  maximumMcpMessageBytes: 8 * MEBIBYTE,
  /** Requests of one MCP connection that wait for answers; more are refused at once, so that cancellations are read. */
  mcpRequestsInFlight: 64,
  /** MCP sessions over HTTP; the one that was quiet for the longest time makes room. */
  mcpSessions: 64,
  /** Bodies of MCP requests that are read at the same time. */
  mcpBodies: 16,
  /** How long such a body may take to arrive. */
  mcpBodyMilliseconds: 30_000,
  /** Values in the arguments of one MCP call, at every depth. */
  mcpArgumentValues: 10_000,
  /** UTF-16 units of an MCP tool's text; structured answers have budgets of their own. */
  mcpTextLength: 60_000,
  /** Files of a package that are listed as MCP resources. */
  mcpListedFiles: 1_000,
} as const;

assert(
  LANG_LIMITS.maximumTypeParts <= LANG_LIMITS.maximumLaidOutTypeParts,
  "a type that the checker accepts can be laid out",
);
