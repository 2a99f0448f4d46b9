/**
 * Opens a database of several shards: the engine with the catalog, the sessions and the log that decides, and beside
 * it each shard in a thread of its own, below its directory. One shard is an engine alone.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { joinPath, readWholeFile, writeWholeFile } from "../host/disk.ts";
import type { Host } from "../host/host.ts";
import { Engine, type EngineOptions } from "../session/engine.ts";
import type { Manifest } from "../storage/manifest.ts";
import { partFolder, requireParts } from "../storage/storage_parts.ts";
import { Router } from "./router.ts";
import { Shard, type ShardOptions } from "./shard.ts";
import { SHARD_COUNTS } from "./shard_map.ts";
import { COUNT_FILE, ShardGroup } from "./shard_group.ts";
import type { FromShard } from "./shard_messages.ts";
import { ShardPort } from "./shard_port.ts";
import { StopFlags } from "./stop_flags.ts";
import { shardThreads } from "./shard_thread.ts";

/** How to open a database of shards. */
export interface ShardedOptions extends Omit<EngineOptions, "parts"> {
  /** 1, 2, 4, 8 or 16; a directory keeps its own. null: that of the directory, one for a new directory. */
  readonly shardCount: number | null;
  /** How a shard is started, when not in a thread of its own. */
  readonly startShard?: StartShard;
}

/** Starts a shard and answers the way to it. */
export type StartShard = (
  options: Omit<ShardOptions, "host" | "send" | "drained">,
  index: number,
) => Promise<ShardPort>;

const MEMORY = ":memory:";

/**
 * Opens or creates a database. Raises 22023 for a number of shards that there is not, or that is not the directory's.
 */
export async function openSharded(options: ShardedOptions): Promise<Engine> {
  const { shardCount: _wanted, startShard, workers, ...engineOptions } = options;
  const count = shardCountOf(options);
  if (count === 1) {
    return await Engine.open(workers === undefined ? engineOptions : { ...engineOptions, workers });
  }
  const { host, directory, member, blockCacheBytes = LIMITS.blockCacheBytes } = options;
  requireOneLog(host, directory);
  // The engine itself has blocks of temporary tables only.
  const share = Math.ceil(blockCacheBytes / (count + 1));
  noteCount(host, directory, count);
  // Threads have the machine's disk, and a member fetches what it lacks from the others.
  if (startShard === undefined && member === undefined) requireFolders(host, directory, count);
  const stops = new StopFlags();
  const start = startShard ?? shardThreads(count);
  const open = (index: number, manifest: Manifest | null): Promise<ShardPort> =>
    start({
      directory: directory === MEMORY ? MEMORY : joinPath(directory, partFolder(index)),
      blockCacheBytes: share,
      manifest,
      isMember: member !== undefined,
      stopFlags: stops.memory,
    }, index);
  const parts = () =>
    new ShardGroup({
      count,
      mayLoseEntries: member !== undefined,
      open,
      fits: (manifest) => requireParts(manifest, directory, count),
      route: (routed, group) => new Router(routed, group, { ...options.host, stops }),
      onDamage: (file) => member?.onDamage?.(file),
    });
  return await Engine.open({ ...engineOptions, blockCacheBytes: share, parts });
}

/** Raises 0A000 for a directory of a version whose shards had logs of their own. */
function requireOneLog({ disk }: Host, directory: string): void {
  if (directory === MEMORY || !disk.exists(joinPath(joinPath(directory, partFolder(0)), "log"))) return;
  throw new DatabaseError(
    SQLSTATE.featureNotSupported,
    `the shards of data directory "${directory}" have logs of their own: an older build has made it`,
    { hint: "Dump it with the build that made it, and load the dump." },
  );
}

/** Starts a shard in this thread, over a host of its own: for tests. */
export function shardInThisThread(host: Host): StartShard {
  return async (options) => {
    const send = (replies: readonly FromShard[]): void => port.receive(replies);
    const shard = await Shard.open({ ...options, host, send });
    const port = new ShardPort((requests) => shard.receive(requests));
    return port;
  };
}

/**
 * How many shards the database of a directory has, or is to have. Raises 22023 for a number that there is not, or that
 * is not the directory's.
 */
export function shardCountOf(
  { host, directory, shardCount }: Pick<ShardedOptions, "host" | "directory" | "shardCount">,
): number {
  if (shardCount !== null && !SHARD_COUNTS.includes(shardCount)) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `a database has ${SHARD_COUNTS.slice(0, -1).join(", ")} or ${
        SHARD_COUNTS.at(-1)
      } shards, not ${shardCount}`,
    );
  }
  const known = directory === MEMORY ? null : knownCount(host, directory);
  if (known === null) return shardCount ?? 1;
  if (shardCount !== null && shardCount !== known) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `data directory "${directory}" has ${known === 1 ? "one shard" : `${known} shards`}, not ${shardCount}`,
      { hint: "The number is the directory's for good: leave it out, or load a dump into a new directory." },
    );
  }
  return known;
}

/** How many shards the directory has; null: it is new. */
function knownCount({ disk }: Host, directory: string): number | null {
  const path = joinPath(directory, COUNT_FILE);
  if (disk.exists(path)) {
    const text = new TextDecoder().decode(readWholeFile(disk, path)).trim();
    const count = Number(text);
    if (!SHARD_COUNTS.includes(count)) {
      throw new DatabaseError(SQLSTATE.dataCorrupted, `file "${path}" does not hold a number of shards`, {
        hint: 'It is one line with the number of the folders "shard-0" and so on beside it.',
      });
    }
    return count;
  }
  // The count is noted before the first shard is made.
  return disk.list(directory).some((name) => name === "log" || name.startsWith("MANIFEST-")) ? 1 : null;
}

function noteCount({ disk }: Host, directory: string, count: number): void {
  if (directory === MEMORY) return;
  const path = joinPath(directory, COUNT_FILE);
  if (disk.exists(path)) return;
  disk.createDirectory(directory);
  // The number comes last: whoever finds it finds all folders.
  for (let index = 0; index < count; index++) disk.createDirectory(joinPath(directory, partFolder(index)));
  writeWholeFile(disk, path, new TextEncoder().encode(`${count}\n`));
}

/**
 * Raises XX001 when the folders of shards are not those of so many, for what is missing would be made anew, and empty.
 * None at all is a directory whose number was noted by a build that made them later.
 */
export function requireFolders({ disk }: Host, directory: string, count: number): void {
  if (directory === MEMORY || count === 1) return;
  const isThere = (index: number): boolean => disk.exists(joinPath(directory, partFolder(index)));
  const wanted = Array.from({ length: count }, (_, index) => index);
  const missing = wanted.find((index) => !isThere(index));
  const says = `file "${joinPath(directory, COUNT_FILE)}" says that there are ${count} shards`;
  const hint = "Put it right, or restore the data directory from a snapshot.";
  if (missing !== undefined && wanted.some(isThere)) {
    const message = `${says}, and folder "${partFolder(missing)}" is missing`;
    throw new DatabaseError(SQLSTATE.dataCorrupted, message, { hint });
  }
  if (!isThere(count)) return;
  const message = `${says}, and there is a folder "${partFolder(count)}"`;
  throw new DatabaseError(SQLSTATE.dataCorrupted, message, { hint });
}
