/** The server, which can be killed at each step of a commit (`kill_point.ts`): its last parameter is the directory. */
import { Socket } from "node:net";
import { main } from "../../../cli/dbd.ts";
import { denoHost } from "../../../engine/host/deno_host.ts";
import { RingChannel } from "../../../engine/sharding/ring_channel.ts";
import { ShardGroup } from "../../../engine/sharding/shard_group.ts";
import type { FromShard, ShardRequest } from "../../../engine/sharding/shard_messages.ts";
import { ShardPort } from "../../../engine/sharding/shard_port.ts";
import { Log } from "../../../engine/storage/log.ts";
import { around, aroundFiles, obeyOrders } from "./kill_point.ts";

const directory = Deno.args.at(-1) ?? "";
Deno.env.set("KILLED_DIRECTORY", directory);
obeyOrders("router", directory);

const sends = (...kinds: readonly string[]) => ([message]: readonly unknown[]): boolean =>
  Array.isArray(message) && (message as ShardRequest[]).some(({ kind }) => kinds.includes(kind));
around(RingChannel.prototype, "send", ["asks", "has asked"], sends("agree", "keep"));
around(RingChannel.prototype, "send", ["tells", "has told"], sends("apply"));
around(
  ShardPort.prototype,
  "receive",
  ["hears a vote", "has heard a vote"],
  ([replies]) => (replies as FromShard[]).some((reply) => "value" in reply && reply.value === true),
);
around(ShardGroup.prototype, "expect", ["has all votes", null]);
around(Log.prototype, "append", ["appends", "has appended"]);
around(ShardGroup.prototype, "apply", ["hands over", "has handed over"]);
around(Socket.prototype, "write", ["answers", "has answered"]);
const { disk } = denoHost();
aroundFiles(disk, /\/log\/|^log\//, {
  writes: ["writes its log", "has written its log"],
  syncs: ["syncs its log", "has synced its log"],
});
around(
  Object.getPrototypeOf(disk) as typeof disk,
  "rename",
  ["names a checkpoint", "has named a checkpoint"],
  ([, to]) => String(to).includes("MANIFEST-"),
);

Deno.exit(await main(Deno.args));
