/** How far estimates are from the truth: for every join of every query the rows that were expected and that came. */
import type { Database } from "../../../mod.ts";
import { QUERIES } from "./queries.ts";

/** What is known of one query. */
export interface QueryFigures {
  readonly name: string;
  /** The answer of the query. */
  readonly count: number;
  readonly joins: readonly JoinFigures[];
  readonly planMilliseconds: number;
  readonly runMilliseconds: number;
}

/** A join of its plan. */
export interface JoinFigures {
  readonly title: string;
  readonly expected: number;
  readonly actual: number;
}

interface Node {
  readonly "Node Type": string;
  readonly "Plan Rows"?: number;
  readonly "Actual Rows"?: number;
  readonly Plans?: readonly Node[];
}

/** The factor between two counts of rows: 1 is exact. */
export function errorFactor({ expected, actual }: JoinFigures): number {
  const [low, high] = [Math.min(expected, actual), Math.max(expected, actual)].map((rows) =>
    Math.max(1, rows)
  );
  return (high as number) / (low as number);
}

function joinsOf(node: Node, found: JoinFigures[]): JoinFigures[] {
  const title = node["Node Type"];
  if (/Join$|^Nested Loop/.test(title)) {
    found.push({ title, expected: node["Plan Rows"] ?? NaN, actual: node["Actual Rows"] ?? NaN });
  }
  for (const each of node.Plans ?? []) joinsOf(each, found);
  return found;
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const result = await work();
  return [result, performance.now() - start];
}

/** Plans and runs the queries, or those that are named. */
export async function* queryFigures(
  database: Database,
  names: readonly string[] = Object.keys(QUERIES),
): AsyncGenerator<QueryFigures> {
  for (const name of names) {
    const text = QUERIES[name] ?? "";
    await database.query(`EXPLAIN ${text}`);
    const [, planMilliseconds] = await timed(() => database.query(`EXPLAIN ${text}`));
    const [[explained]] = await timed(() =>
      database.query<{ "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, TIMING off, FORMAT json) ${text}`)
    );
    const [rows, runMilliseconds] = await timed(() => database.query<{ count: number }>(text));
    const given: unknown = explained?.["QUERY PLAN"];
    const [{ Plan }] = (typeof given === "string" ? JSON.parse(given) : given) as [{ Plan: Node }];
    yield {
      name,
      count: Number(rows[0]?.count),
      joins: joinsOf(Plan, []),
      planMilliseconds,
      runMilliseconds,
    };
  }
}

/** What all queries come to. */
export function summary(figures: readonly QueryFigures[]): {
  readonly joins: number;
  /** The share of joins whose estimate is off by at most ten. */
  readonly withinTen: number;
  readonly withinTwo: number;
  readonly median: number;
  readonly worst: number;
} {
  const factors = figures.flatMap(({ joins }) => joins.map(errorFactor)).sort((a, b) => a - b);
  const within = (bound: number) => factors.filter((each) => each <= bound).length / factors.length;
  return {
    joins: factors.length,
    withinTen: within(10),
    withinTwo: within(2),
    median: factors[factors.length >> 1] ?? NaN,
    worst: factors.at(-1) ?? NaN,
  };
}
