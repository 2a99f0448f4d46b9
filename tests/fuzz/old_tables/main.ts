/**
 * `deno task soak:lives [lives] [seed] [statements]`: long lives of tables, compared with PostgreSQL: 200 of 1 500
 * statements unless told otherwise. A difference is printed as a short script, with the seed that it came from.
 */
import { PrivatePostgresql } from "../../slt/private_postgresql.ts";
import { PipelinedPostgresql } from "../edge_peer.ts";
import { live, scriptOf, shorten } from "./lives.ts";

const [lives = 200, firstSeed = Date.now() % 1_000_000, statements = 1500] = Deno.args.map(Number);
const server = await PrivatePostgresql.start();
let failures = 0, parted = 0;
try {
  for (let seed = firstSeed; seed < firstSeed + lives; seed++) {
    using peer = await PipelinedPostgresql.connect(server);
    const { difference, partedAfter } = await live(seed, statements, peer);
    if (partedAfter !== null) {
      parted++;
      console.log(`seed ${seed}: not followed after ${partedAfter.slice(0, 500)}`);
    }
    if (difference === null) continue;
    failures++;
    console.log(
      `seed ${seed}, statement ${difference.steps.length}:\n${scriptOf(await shorten(difference, peer))}\n`,
    );
  }
} finally {
  await server.stop();
}
console.log(
  `${lives} lives of ${statements} statements from seed ${firstSeed}: ${failures} differ, ${parted} were not followed to the end`,
);
if (failures > 0) Deno.exit(1);
