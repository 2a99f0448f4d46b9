/** `deno task soak:parquet [FILES] [SEED]`: reads 100 000 damaged Parquet files. */
import { readMutatedFiles, type Tally } from "./mutated_files.ts";

const files = Number(Deno.args[0] ?? 100_000);
const seed = Number(Deno.args[1] ?? 1);
const shown = ({ files, read, errors, longestMilliseconds, largestBytes }: Tally): string =>
  `${files} files, ${read} read, ${
    [...errors].sort(([left], [right]) => left < right ? -1 : 1).map(([code, count]) => `${code}: ${count}`)
      .join(", ")
  }; longest ${longestMilliseconds.toFixed(0)} ms, largest ${Math.round(largestBytes / 1048576)} MiB`;
const tally = await readMutatedFiles({
  seed,
  files,
  tell: (tally) => {
    if (tally.files % 5000 === 0) console.log(shown(tally));
  },
});
console.log(shown(tally));
if (tally.longestMilliseconds > 5000 || tally.largestBytes > 600 * 2 ** 20) {
  console.error("a damaged file took too much time or memory");
  Deno.exit(1);
}
