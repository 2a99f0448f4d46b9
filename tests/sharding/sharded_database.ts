/** Databases of shards for tests: in memory, all shards in the thread of the test. */
import { SeededRandom } from "../../engine/base/random.ts";
import type { Host, TimerId, Timers } from "../../engine/host/host.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Database } from "../../engine/session/database.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { openSharded, shardInThisThread, type StartShard } from "../../engine/sharding/open_sharded.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import type { FromShard, ShardRequest } from "../../engine/sharding/shard_messages.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";

/** Opens a database of so many shards. */
export async function openShards(shardCount: number): Promise<Database> {
  const engine = await openShardedEngine(
    shardCount,
    (options, index) => shardInThisThread(memoryHost())(options, index),
  );
  return Database.over(engine, () => engine.close());
}

/** The same with a way to shards of the test's own, as an engine. */
export function openShardedEngine(
  shardCount: number,
  startShard: StartShard,
  host: Host = memoryHost(),
): Promise<Engine> {
  return openSharded({ host, directory: ":memory:", shardCount, startShard });
}

/** A shard that hears has answered within so many turns of the event loop, however long they take. */
const TURNS = 20;

/** A host whose timers are late: on a busy machine a statement's time may be over before any shard got to work. */
export function patientHost(): Host {
  const host = memoryHost();
  const real = host.timers;
  const late = new Set<TimerId>();
  const timers: Timers = {
    setTimer: (microseconds, callback) => {
      const timer = real.setTimer(microseconds, async () => {
        late.add(timer);
        for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
        if (late.delete(timer)) callback();
      });
      return timer;
    },
    clearTimer: (timer) => {
      late.delete(timer);
      real.clearTimer(timer);
    },
    repeat: (microseconds, callback) => real.repeat(microseconds, callback),
    yieldToLoop: () => real.yieldToLoop(),
    endOfTurn: () => real.endOfTurn(),
    close: () => real.close(),
  };
  return { ...host, timers };
}

/** What a test does with the messages of one shard: it passes on what is to come through, and when. */
export interface ShardMessages {
  /** Sees what the router asks. */
  readonly asked?: (
    requests: readonly ShardRequest[],
    pass: (requests: readonly ShardRequest[]) => void,
  ) => void;
  /** Sees what the shard answers. */
  readonly answered?: (replies: readonly FromShard[], pass: (replies: readonly FromShard[]) => void) => void;
  /** Changes the shard before anything is asked. */
  readonly change?: (shard: Shard) => void;
}

/** Shards in the thread of the test, whose messages go through it. */
export function watchedShards(messagesOf: (index: number) => ShardMessages): StartShard {
  return async (options, index) => {
    const { asked, answered, change } = messagesOf(index);
    const reply = (replies: readonly FromShard[]): void => port.receive(replies);
    const shard = await Shard.open({
      ...options,
      host: memoryHost(),
      send: (replies) => answered === undefined ? reply(replies) : answered(replies, reply),
    });
    change?.(shard);
    const ask = (requests: readonly ShardRequest[]): void => shard.receive(requests);
    const port = new ShardPort((requests) => asked === undefined ? ask(requests) : asked(requests, ask));
    return port;
  };
}

/** Shards whose messages keep their order, and take a time that differs from shard to shard and from turn to turn. */
export function lateShards(seed: number, change: (shard: Shard) => void = () => {}): StartShard {
  return watchedShards((index) => {
    const random = new SeededRandom(seed * 31 + index);
    return { asked: inOrder(random), answered: inOrder(random), change };
  });
}

function inOrder(random: SeededRandom) {
  let last: Promise<void> = Promise.resolve();
  return <Message>(message: Message, deliver: (message: Message) => void): void => {
    last = last.then(async () => {
      const turns = random.below(4);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      deliver(message);
    });
  };
}
