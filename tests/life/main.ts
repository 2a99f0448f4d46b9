/**
 * `deno task soak:life [--seconds 3600] [--clients 8] [--seed 1] [--report PAGE]`: a day of a server's life in an hour.
 * Prints what the server held and how quick it was in each tenth, and the longest turns of its event loop; with
 * `--report docs/benchmarks.md` it draws the picture beside that page. Exit codes: 0, 1 when something leaks or a
 * client was answered wrongly.
 */
import { parseArgs } from "node:util";
import { median } from "../bench/benchmark.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import { timePlot } from "../bench/plot.ts";
import { HELD, type HeldName, leaks, type Life, live, percentile, within } from "./life.ts";
import { WORKS } from "./work.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "3600" },
    clients: { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
    report: { type: "string" },
  },
});
const TENTHS = 10;
const SHARES = [0.5, 0.99, 0.999] as const;
const NAMES = Object.keys(HELD) as HeldName[];

const server = await startDbd();
try {
  const life = await live(server, {
    seconds: Number(values.seconds),
    clients: Number(values.clients),
    seed: Number(values.seed),
  });
  print(life);
  if (values.report !== undefined) {
    await Deno.writeTextFile(`${values.report.replace(/\.md$/, "")}/life.svg`, picture(life));
  }
  const found = leaks(life);
  for (const each of found) console.error(`soak:life: ${each}`);
  if (found.length > 0) Deno.exitCode = 1;
} finally {
  await server.stop();
}

function print(life: Life): void {
  const { seconds, done, longestTurnMilliseconds, longTurns, turnsByWork, before, after } = life;
  console.log(`${done.length} pieces of work in ${seconds.toFixed(0)} s, none answered wrongly`);
  console.log(
    `longest turn of the event loop ${
      longestTurnMilliseconds.toFixed(0)
    } ms, ${longTurns} of more than 50 ms; longest by work: ${turnsByWork.join(", ")}`,
  );
  console.log(`\nheld           before ${"tenths of the time".padStart(10 * TENTHS / 2 + 10)}`);
  for (const name of NAMES) {
    const cells = tenths((from, to) =>
      median(within(life, life.looks, from, to).map(({ held }) => held[name]))
    );
    console.log(line(name, [before[name], ...cells, after[name]]));
  }
  console.log("\nmilliseconds, 50 %, 99 % and 99.9 %, in the first tenth and in the last one");
  for (const { name } of WORKS) {
    const [first, last] = [[0, 0.1], [0.9, 1]].map(([from = 0, to = 1]) => {
      const part = within(life, done, from, to).filter((each) => each.name === name);
      return SHARES.map((share) => percentile(part, share));
    });
    console.log(line(name, [...first ?? [], ...last ?? []]));
  }
}

/** Everything as a multiple of what it was in the second tenth, when the server is warm. */
function picture(life: Life): string {
  const lines = [
    ...(["memory, MB", "heap, MB", "descriptors", "plans", "disk, MB"] as const).map((name) => ({
      name,
      values: tenths((from, to) => median(within(life, life.looks, from, to).map(({ held }) => held[name]))),
    })),
    ...SHARES.map((share) => ({
      name: `point read, ${share * 100} %`,
      values: tenths((from, to) =>
        percentile(
          within(life, life.done, from, to).filter(({ name }) => name === "prepared point read"),
          share,
        )
      ),
    })),
  ].map(({ name, values }) => ({
    name,
    points: values.map((value, index) => ({
      time: (index + 0.5) / TENTHS * life.seconds,
      value: value / (values[1] ?? NaN),
    })),
  }));
  return timePlot(
    `life: ${Math.round(life.seconds)} s of mixed load, as a multiple of the second tenth`,
    lines,
  );
}

function tenths(valueOf: (from: number, to: number) => number): number[] {
  return Array.from({ length: TENTHS }, (_, index) => valueOf(index / TENTHS, (index + 1) / TENTHS));
}

function line(name: string, cells: readonly number[]): string {
  const shown = cells.map((cell) =>
    (cell >= 100 ? String(Math.round(cell)) : cell.toPrecision(3)).padStart(8)
  );
  return `${name.padEnd(25)}${shown.join(" ")}`;
}
