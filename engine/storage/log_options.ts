/** What a log may be given: sizes, and whether it is a member's. */
import { LIMITS } from "../base/limits.ts";
import { type LogFormat, memberFormatOf } from "./log_file.ts";

/** Sizes that tests and operators change. */
export interface LogOptions {
  readonly fileBytes: number;
  readonly reserveBytes: number;
  readonly bufferBytes: number;
  readonly directWriteBytes: number;
  /** How a server that is alone writes entries from a size on. */
  readonly parts?: LogPartSizes;
  /** The log is that of a member of a replication group. */
  readonly member?: MemberLogOptions;
}

/** When an entry is written in parts, and of how many bytes. */
export interface LogPartSizes {
  readonly leastBytes: number;
  /** At most `LIMITS.logPartBytes`. */
  readonly partBytes: number;
}

/** The sizes of a server that is alone. */
export const DEFAULT_PART_SIZES: LogPartSizes = {
  leastBytes: LIMITS.partedEntryBytes,
  partBytes: LIMITS.logPartBytes,
};

/** What a member's log has besides. */
export interface MemberLogOptions {
  /** So many bytes of files before the checkpoint are kept for members that lag. */
  readonly keepBytes: number;
  /** Of the first file, unless {@link Log.memberFormat} says another one. The newest unless given. */
  readonly format?: LogFormat;
}

/** The sizes of a server. */
export const DEFAULT_LOG_OPTIONS: LogOptions = {
  fileBytes: LIMITS.logFileBytes,
  reserveBytes: LIMITS.logReserveBytes,
  bufferBytes: LIMITS.groupCommitBufferBytes,
  directWriteBytes: LIMITS.directWriteBytes,
};

/** The sizes of a member. */
export const MEMBER_LOG_OPTIONS: LogOptions = {
  ...DEFAULT_LOG_OPTIONS,
  member: { keepBytes: LIMITS.keptLogBytes },
};

/** A server that makes checkpoints sooner writes parts sooner. */
export function aloneLogOptions(log: LogOptions, checkpointLogBytes: number): LogOptions {
  const { leastBytes, partBytes } = DEFAULT_PART_SIZES;
  return { parts: { leastBytes: Math.min(leastBytes, 4 * checkpointLogBytes), partBytes }, ...log };
}

/** A member keeps the log of two checkpoints for others, in files that can be removed as soon as that allows. */
export function memberLogOptions(
  log: LogOptions,
  checkpointLogBytes: number,
  clusterVersion: number,
): LogOptions {
  const { keepBytes } = log.member ?? { keepBytes: Math.min(LIMITS.keptLogBytes, 2 * checkpointLogBytes) };
  return {
    ...log,
    fileBytes: Math.min(log.fileBytes, checkpointLogBytes),
    member: { keepBytes, format: memberFormatOf(clusterVersion) },
  };
}
