/**
 * Damaged Parquet files: the fixtures of `tests/parquet`, with bytes, numbers and pieces of them changed by a seed.
 * Each must be read, or end in a typed error, in little time and memory.
 */
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import { rangesOf, readBatches, TooManyRows, type WantedColumn } from "../../parquet/read_all.ts";

const folder = new URL("../../parquet/fixtures/", import.meta.url);
/** Reading ends here: a few bytes can say any number of rows. */
const MAX_ROWS = 100_000;
/** Pages may be so large, so that a damaged size shows in the process's memory. */
const MAX_PAGE_BYTES = 64 << 20;

/** What became of a number of damaged files. */
export interface Tally {
  files: number;
  read: number;
  /** Errors by SQLSTATE. */
  errors: Map<string, number>;
  longestMilliseconds: number;
  largestBytes: number;
}

interface Source {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly columns: readonly WantedColumn[];
}

async function sources(): Promise<readonly Source[]> {
  const fixtures: readonly {
    readonly files: readonly string[];
    readonly columns: readonly WantedColumn[];
  }[] = JSON
    .parse(await Deno.readTextFile(new URL("expected.json", folder)));
  const all: Source[] = [];
  for (const { files, columns } of fixtures) {
    for (const name of files) {
      // The long one takes most of the time and has nothing that the others have not.
      if (name === "duckdb_row_groups.parquet") continue;
      all.push({ name, bytes: await Deno.readFile(new URL(name, folder)), columns });
    }
  }
  return all;
}

/** A damaged copy. */
function mutated(bytes: Uint8Array, random: SeededRandom): Uint8Array {
  let copy = bytes.slice();
  const footer = copy.length - 8 - new DataView(copy.buffer).getUint32(copy.length - 8, true);
  for (let count = 1 + random.below(2); count > 0; count--) {
    // A quarter of the changes are in the footer on purpose, where most of the numbers are.
    const at = random.below(4) > 0 ? random.below(copy.length) : footer + random.below(copy.length - footer);
    switch (random.below(8)) {
      case 0:
        copy[at] = random.below(256);
        break;
      case 1:
        copy[at] = (copy[at] ?? 0) ^ 1 << random.below(8);
        break;
      case 2:
        copy[at] = random.below(2) === 0 ? 0 : 255;
        break;
      case 3:
        // A long number, where a short one was.
        for (let index = 0; index < 1 + random.below(5); index++) copy[at + index] = 128 + random.below(128);
        break;
      case 4: {
        const from = random.below(copy.length);
        copy.copyWithin(at, from, from + random.below(64));
        break;
      }
      case 5:
        copy[at] = (copy[at] ?? 0) + (random.below(2) === 0 ? 1 : 255);
        break;
      case 6: {
        // A piece is missing; the footer stays at the end.
        const size = random.below(16);
        const shorter = new Uint8Array(copy.length - size);
        const start = Math.min(at, shorter.length);
        shorter.set(copy.subarray(0, start));
        shorter.set(copy.subarray(start + size), start);
        copy = shorter;
        break;
      }
      default:
        copy.fill(random.below(256), at, at + random.below(12));
    }
    if (copy.length < 16) return copy;
  }
  return copy;
}

const EXPECTED: ReadonlySet<string> = new Set([
  SQLSTATE.badCopyFileFormat,
  SQLSTATE.featureNotSupported,
  SQLSTATE.programLimitExceeded,
  SQLSTATE.undefinedColumn,
  SQLSTATE.datatypeMismatch,
]);

/** Errors about values, which are those of any wrong value. */
function isExpected(code: string): boolean {
  return EXPECTED.has(code) || code.startsWith("22");
}

/** Reads damaged files. Raises when one ends in anything but rows or a typed error. */
export async function readMutatedFiles(
  options: { readonly seed: number; readonly files: number; readonly tell?: (tally: Tally) => void },
): Promise<Tally> {
  const random = new SeededRandom(options.seed);
  const list = await sources();
  const tally: Tally = { files: 0, read: 0, errors: new Map(), longestMilliseconds: 0, largestBytes: 0 };
  for (; tally.files < options.files; tally.files++) {
    const source = list[random.below(list.length)] as Source;
    const bytes = mutated(source.bytes, random);
    const start = performance.now();
    try {
      await readBatches(rangesOf(bytes), source.columns, {
        maximumRows: MAX_ROWS,
        maximumPageBytes: MAX_PAGE_BYTES,
      });
      tally.read++;
    } catch (error) {
      if (!(error instanceof TooManyRows)) {
        if (!(error instanceof DatabaseError) || !isExpected(error.code)) {
          throw new Error(`file ${tally.files} of seed ${options.seed}, ${source.name}`, { cause: error });
        }
        tally.errors.set(error.code, (tally.errors.get(error.code) ?? 0) + 1);
      }
    }
    tally.longestMilliseconds = Math.max(tally.longestMilliseconds, performance.now() - start);
    if (tally.files % 100 === 0) {
      // The runtime frees what a failed gunzipSync holds (30 to 130 KB) in the next turn of the event loop.
      await new Promise((resolve) => setTimeout(resolve, 0));
      tally.largestBytes = Math.max(tally.largestBytes, Deno.memoryUsage().rss);
      options.tell?.(tally);
    }
  }
  return tally;
}
