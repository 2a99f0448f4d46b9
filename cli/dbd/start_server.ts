/**
 * Opens the data directory and starts what listens, for the program `dbd` and for `serve()` of the library. What was
 * opened is closed again when a later part cannot start.
 */
import { setChecksInput } from "../../engine/base/assert.ts";
import { DatabaseError } from "../../engine/base/errors.ts";
import type { VersionRange } from "../../engine/catalog/cluster_version.ts";
import { denoHost } from "../../engine/host/deno_host.ts";
import type { Disk } from "../../engine/host/disk.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import type { MemberSeat } from "../../engine/replication/member_seat.ts";
import { Superblock } from "../../engine/replication/superblock.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { Workers } from "../../engine/parallel/workers.ts";
import { openSharded, shardCountOf } from "../../engine/sharding/open_sharded.ts";
import type { Features } from "../features/feature_table.ts";
import { type ServerEncryption, startEncryption } from "./encryption.ts";
import { openExternalSources } from "./external.ts";
import { type Listeners, requireAddresses, startListeners } from "./listeners.ts";
import type { ServerSettings } from "./settings.ts";
import { StartError } from "./start_error.ts";
import { type StartedMember, startMember } from "./start_member.ts";

/** What a server needs besides its settings. */
export interface StartRequest {
  readonly features: Features;
  readonly version: string;
  /** Of the cluster's protocol: those of this release unless given. */
  readonly versions?: VersionRange;
  /** Writes one line for people who watch the server. */
  log(line: string): void;
}

/** A server that runs. */
export interface StartedServer {
  readonly engine: Engine;
  readonly listeners: Listeners;
  /** null: everything is in clear text. */
  readonly encryption: ServerEncryption | null;
  /** Resolves with the reason when the server cannot go on; a `StartError`: a member does not fit to its cluster. */
  readonly failed: Promise<Error>;
  /** Reads certificates now. */
  reload(): void;
  /** Stops accepting, lets running statements finish within the time, and makes everything durable. */
  close(drainMilliseconds: number): Promise<void>;
}

/** Starts a server. Raises {@link StartError} or a usage error. */
export async function startServer(settings: ServerSettings, request: StartRequest): Promise<StartedServer> {
  const { features, version } = request;
  if (settings.checksInput) setChecksInput(true);
  // First what writes nothing, so that a start that fails leaves nothing behind.
  const encryption = await startEncryption(settings, features, (line) => request.log(line));
  let opened: OpenedEngine | null = null;
  try {
    const started = opened = await openEngine(settings, request);
    const { engine } = started;
    const listeners = await startListeners({
      engine,
      door: started.member?.door ?? null,
      ...(started.member === null ? {} : { relay: started.member.relay }),
      settings,
      features,
      encryption,
      version,
      log: request.log,
      onInternalError: (error) => request.log(`internal error: ${describe(error)}`),
    });
    const misfit = started.member?.misfit.then((line) => new StartError(line));
    return {
      engine,
      listeners,
      encryption,
      failed: misfit === undefined ? engine.failed : Promise.race([engine.failed, misfit]),
      reload: () => {
        encryption?.reload();
        started.member?.reload();
      },
      close: async (drainMilliseconds) => {
        encryption?.close();
        const closed = listeners.close(drainMilliseconds);
        // The whole cluster would wait for this member's longest statement.
        await Promise.race([closed, pause(started.member === null ? 0 : HAND_OVER_PAUSE_MILLISECONDS)]);
        await started.member?.member.handOver();
        await closed;
        await started.close();
      },
    };
  } catch (error) {
    encryption?.close();
    await opened?.close();
    throw error;
  }
}

/** What statements get at a primary that stops, before another one goes on. */
const HAND_OVER_PAUSE_MILLISECONDS = 50;

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The engine, alone or as the state of a member of a cluster. */
interface OpenedEngine {
  readonly engine: Engine;
  readonly member: StartedMember | null;
  close(): Promise<void>;
}

async function openEngine(
  settings: ServerSettings,
  { features, log, versions }: Pick<StartRequest, "features" | "log" | "versions">,
): Promise<OpenedEngine> {
  const { dataDirectory, cluster } = settings;
  const host = dataDirectory === ":memory:" ? memoryHost() : denoHost();
  const external = await openExternalSources(settings, features, host.clock);
  const options = {
    host,
    directory: dataDirectory,
    blockCacheBytes: settings.blockCacheBytes,
    checkpointLogBytes: settings.checkpointLogBytes,
    queryMemoryBytes: settings.queryMemoryBytes,
    temporaryFileBytes: settings.temporaryFileBytes,
    defaultIsolation: settings.defaultIsolation,
    ...(external === undefined ? {} : { external }),
  };
  try {
    if (host.disk.list(dataDirectory).length === 0) await requireAddresses(settings);
    if (cluster === null) requireSingle(host.disk, dataDirectory);
    const { maximumParallelWorkers: count, blockCacheBytes } = settings;
    // They open files, which a database in memory has none of.
    const workers = dataDirectory === ":memory:" || count === 0 ? {} : {
      workers: new Workers({ count, blockCacheBytes }),
    };
    const shardCount = shardCountOf({ host, directory: dataDirectory, shardCount: settings.shardCount });
    if (cluster === null) {
      const engine = await openSharded({ ...options, ...workers, shardCount });
      return { engine, member: null, close: () => engine.close() };
    }
    const open = (member: MemberSeat) => openSharded({ ...options, ...workers, shardCount, member });
    const request = {
      ...{ host, features, openEngine: open, log },
      ...(versions === undefined ? {} : { versions }),
    };
    const member = await startMember({ ...settings, shardCount }, cluster, request);
    return { engine: member.member.engine, member, close: () => member.close() };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const message = error.message.includes(dataDirectory)
      ? error.message
      : `Cannot open data directory "${dataDirectory}": ${error.message}`;
    throw new StartError(oneLine(error.hint === undefined ? message : `${message}. ${error.hint}`), {
      cause: error,
    });
  }
}

/** A single server would take what a member has for committed, and write what the others do not know. */
function requireSingle(disk: Disk, directory: string): void {
  if (!Superblock.exists(disk, directory)) return;
  throw new StartError(
    `Cannot open data directory "${directory}": it is that of a member of a cluster. Start it with its --replica and ` +
      "--peers, or load a dump of the cluster into an empty directory",
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

/** A text without line breaks. */
export function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}
