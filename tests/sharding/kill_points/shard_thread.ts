/** The thread of a shard of `server.ts`. */
import { denoHost } from "../../../engine/host/deno_host.ts";
import { RingChannel } from "../../../engine/sharding/ring_channel.ts";
import { Shard } from "../../../engine/sharding/shard.ts";
// It takes nothing before this module has run.
import "../../../engine/sharding/shard_worker.ts";
import { around, aroundFiles, at, obeyOrders } from "./kill_point.ts";

obeyOrders((globalThis as { readonly name?: string }).name ?? "", Deno.env.get("KILLED_DIRECTORY") ?? "");

const receive = Shard.prototype.receive;
Shard.prototype.receive = function (requests): void {
  for (const request of requests) {
    at(request.kind);
    receive.call(this, [request]);
    at(`after ${request.kind}`);
  }
};
around(RingChannel.prototype, "send", ["answers", "has answered"]);
aroundFiles(denoHost().disk, /./, { writes: ["writes a file", "has written a file"], syncs: null });
