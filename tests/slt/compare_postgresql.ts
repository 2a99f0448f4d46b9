/**
 * Runs the logic tests of `cases/` (or the files named) against PostgreSQL and prints where it answers otherwise:
 * `deno run -A tests/slt/compare_postgresql.ts [files]`. Exit codes: 0 the same, 1 a difference, 2 no PostgreSQL to
 * ask. When all files are asked and none differs, `asked_postgresql.json` gets their digests: the test run asks again
 * about those only that have changed since.
 *
 * Records that are `onlyif db` are of this product's own forms and are left out.
 */
import { parseLogicTests } from "./logic_test_file.ts";
import { PostgresqlMissing, PrivatePostgresql } from "./private_postgresql.ts";
import { runLogicTests } from "./run_logic_tests.ts";

/** What one file came to. */
export interface Comparison {
  readonly file: string;
  readonly records: number;
  /** One text for each record that PostgreSQL answers otherwise. */
  readonly differences: readonly string[];
}

/** The files of `cases/`. */
export function caseFiles(): URL[] {
  const folder = new URL("cases/", import.meta.url);
  return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".slt")).sort()
    .map((name) => new URL(name, folder));
}

const ASKED = new URL("asked_postgresql.json", import.meta.url);
/** What decides whether PostgreSQL's answer is the expected one. */
const READERS = ["logic_test_file.ts", "run_logic_tests.ts"].map((name) => new URL(name, import.meta.url));

const nameOf = (file: URL): string => file.pathname.split("/").at(-1) ?? "";

/** A digest of each file with what reads it, by name. */
async function digests(): Promise<Record<string, string>> {
  const readers = (await Promise.all(READERS.map((url) => Deno.readTextFile(url)))).join("");
  const entries = caseFiles().map(async (file) => {
    const bytes = new TextEncoder().encode(readers + await Deno.readTextFile(file));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return [nameOf(file), digest.toHex().slice(0, 16)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The files that have changed since PostgreSQL answered all of them as they expect. */
export async function changedFiles(): Promise<URL[]> {
  const [now, asked] = [await digests(), JSON.parse(await Deno.readTextFile(ASKED))];
  return caseFiles().filter((file) => now[nameOf(file)] !== asked[nameOf(file)]);
}

/** Runs files against a server of its own. Raises {@link PostgresqlMissing}. */
export async function compareWithPostgresql(files: readonly (string | URL)[]): Promise<Comparison[]> {
  const server = await PrivatePostgresql.start();
  try {
    const comparisons: Comparison[] = [];
    for (const file of files) {
      const records = parseLogicTests(await Deno.readTextFile(file), "postgresql");
      const database = await server.database();
      try {
        const failures = await runLogicTests(database, records);
        const differences = failures.map(({ line, sql, message }) => `line ${line}: ${sql}\n ${message}`);
        comparisons.push({ file: String(file), records: records.length, differences });
      } finally {
        await database.close();
      }
    }
    return comparisons;
  } finally {
    await server.stop();
  }
}

if (import.meta.main) {
  const files = Deno.args.length > 0 ? Deno.args : caseFiles();
  try {
    let differs = false;
    for (const { file, records, differences } of await compareWithPostgresql(files)) {
      differs ||= differences.length > 0;
      const report = differences.map((difference) => `\n${difference}\n`).join("");
      await Deno.stdout.write(
        new TextEncoder().encode(`${file}: ${records} records, ${differences.length} differ\n${report}`),
      );
    }
    if (!differs && Deno.args.length === 0) {
      await Deno.writeTextFile(ASKED, `${JSON.stringify(await digests(), null, 2)}\n`);
    }
    Deno.exitCode = differs ? 1 : 0;
  } catch (error) {
    if (!(error instanceof PostgresqlMissing)) throw error;
    await Deno.stderr.write(new TextEncoder().encode(`${error.message}\n`));
    Deno.exitCode = 2;
  }
}
