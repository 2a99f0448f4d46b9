/**
 * `deno task soak:states [name]`: every file of the logic tests in every storage state, or in those whose name begins
 * so. Exit codes: 0 all answers as in the files, 1 a difference.
 */
import { STORAGE_STATES, type StorageState } from "../support/storage_states.ts";
import { caseFiles } from "./compare_postgresql.ts";
import { parseLogicTests } from "./logic_test_file.ts";
import { runLogicTests } from "./run_logic_tests.ts";

/** What a file came to in a state. */
interface StateOutcome {
  readonly records: number;
  readonly failures: readonly string[];
}

/** A file of the logic tests. */
class LogicFile {
  readonly name: string;
  readonly #text: string;

  constructor(url: URL) {
    this.name = url.pathname.split("/").at(-1) ?? "";
    this.#text = Deno.readTextFileSync(url);
  }

  /** Whether its statements mean the same in the state. */
  fits(state: StorageState): boolean {
    return state.fits(this.#text);
  }

  /** Whether there are rows that a state could change; without, each record says something of itself only. */
  get hasTables(): boolean {
    return /\bCREATE\b/i.test(this.#text);
  }

  /** Runs the records, or every so many of those that say something of themselves only. */
  async runIn(state: StorageState, every = 1): Promise<StateOutcome> {
    const all = parseLogicTests(this.#text, "db");
    const records = this.hasTables
      ? all
      : all.filter((each, index) => index % every === 0 || each.kind === "statement" && each.error === null);
    await using database = await state.open();
    const failures = await runLogicTests(database, records);
    return {
      records: records.length,
      failures: failures.map(({ line, sql, message }) =>
        `${state.name}, ${this.name}:${line}: ${sql}\n ${message}`
      ),
    };
  }
}

/** The files with states that fit them, `count` for each and others for the next; the plain state is left out. */
export function* logicFilesIn(
  count: number,
): Generator<{ readonly file: LogicFile; readonly state: StorageState }> {
  const states = STORAGE_STATES.slice(1);
  let next = 0;
  for (const url of caseFiles()) {
    const file = new LogicFile(url);
    const fitting = states.map((_, index) => states[(next + index) % states.length]).filter((state) =>
      state !== undefined && file.fits(state) && (file.hasTables || state.asksOtherwise)
    );
    for (const state of fitting.slice(0, count)) if (state !== undefined) yield { file, state };
    next += count;
  }
}

if (import.meta.main) {
  const wanted = Deno.args[0] ?? "";
  let differs = false;
  for (const state of STORAGE_STATES.filter(({ name }) => name.startsWith(wanted))) {
    const start = performance.now();
    let records = 0, failed = 0, left = 0;
    for (const url of caseFiles()) {
      const file = new LogicFile(url);
      if (!file.fits(state)) {
        left++;
        continue;
      }
      const outcome = await file.runIn(state);
      records += outcome.records;
      failed += outcome.failures.length;
      for (const failure of outcome.failures) console.log(`${failure}\n`);
    }
    differs ||= failed > 0;
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${state.name}: ${records} records, ${failed} differ; ${left} files left out; ${seconds} s`);
  }
  Deno.exit(differs ? 1 : 0);
}
