/**
 * The server is killed with SIGKILL in the middle of REFRESH, and started again: the table has all rows of one fetch,
 * the last that was acknowledged or the one that was cut off, never a mixture.
 *
 * Every row that the source serves carries the number of the fetch. Kills fall on all of its phases: while the pages
 * come, while rows are compared and written, in the commit and its fsync, in a checkpoint.
 */
import { ok, strictEqual } from "node:assert/strict";
import { startDbd } from "../bench/peers/dbd.ts";
import { connectPg } from "../support/clients.ts";
import { seededRandom } from "../support/random.ts";

/** What was seen. */
export interface RefreshKills {
  kills: number;
  /** Fetches that were acknowledged before a kill. */
  acknowledged: number;
  /** Kills after which the fetch that was cut off is there as a whole. */
  whole: number;
  /** Kills after which nothing of it is there. */
  nothing: number;
}

/** Kills the server so many times. */
export async function killDuringRefresh(options: {
  readonly dbd?: string;
  readonly kills: number;
  readonly rows: number;
  readonly seed: number;
}): Promise<RefreshKills> {
  const { rows } = options;
  const random = seededRandom(options.seed);
  let fetch = 0;
  const source = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => undefined }, (request) => {
    const page = Number(new URL(request.url).searchParams.get("page") ?? 1);
    if (page === 1) fetch++;
    const half = rows / 2;
    const list = Array.from(
      { length: half },
      (_, index) =>
        `{"id":${(page - 1) * half + index},"turn":${fetch},"body":"row ${index} of fetch ${fetch}"}`,
    );
    return new Response(`{"rows":[${list.join(",")}],"next":${page === 1 ? '"?page=2"' : "null"}}`);
  });
  const address = `127.0.0.1:${source.addr.port}`;
  const flags = ["--external-allow", address, "--checkpoint-log", "1MiB"];
  const directory = await Deno.makeTempDir({ prefix: "refresh-kills-" });
  const figures: RefreshKills = { kills: 0, acknowledged: 0, whole: 0, nothing: 0 };
  let acknowledged = 0;
  let typical = 300;
  try {
    for (let round = 0; round <= options.kills; round++) {
      const server = await startDbd({
        directory,
        flags,
        ...(options.dbd === undefined ? {} : { binary: options.dbd }),
      });
      const client = await connectPg(server);
      if (round === 0) {
        await client.query(
          `CREATE EXTERNAL SOURCE p (id BIGINT, turn INT, body TEXT) FROM 'http://${address}/' FORMAT JSON KEY id ROWS 'rows' PAGE NEXT JSON 'next'`,
        );
      } else {
        const [state] = await client.query(
          "SELECT count(*)::int AS n, min(turn) AS low, max(turn) AS high FROM p",
        );
        const found = state as {
          readonly n: number;
          readonly low: number | null;
          readonly high: number | null;
        };
        ok(found.n === 0 || found.n === rows, `${found.n} rows of ${rows}`);
        strictEqual(found.low, found.high, "rows of two fetches");
        const now = found.high ?? 0;
        ok(now >= acknowledged, `fetch ${acknowledged} was acknowledged, and ${now} is there`);
        ok(now <= fetch, `fetch ${now} has never been`);
        if (now > acknowledged) figures.whole++;
        else figures.nothing++;
        acknowledged = now;
      }
      if (round === options.kills) {
        await client.close();
        await server.stop();
        break;
      }
      // Now and then one that comes to its end, to know how long it takes.
      if (round % 4 === 0) {
        const began = performance.now();
        await client.query("REFRESH p");
        typical = performance.now() - began;
        acknowledged = fetch;
        figures.acknowledged++;
      }
      const refreshing = client.query("REFRESH p").then(() => true, () => false);
      const pause = new Promise((resolve) => setTimeout(resolve, random.below(Math.ceil(typical * 1.2))));
      await pause;
      await server.kill();
      figures.kills++;
      if (await refreshing) {
        acknowledged = fetch;
        figures.acknowledged++;
      }
      await client.close();
    }
    return figures;
  } finally {
    await source.shutdown();
    await Deno.remove(directory, { recursive: true });
  }
}
