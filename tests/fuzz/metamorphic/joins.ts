/** Joins and subqueries in each other's stead, and set operations as either. */
import type { Check, CheckMaker, Relation } from "./check.ts";
import { comparisons } from "./expressions.ts";
import { scopeOf, type WorldTable } from "./world.ts";

interface Pair {
  readonly first: WorldTable;
  readonly second: WorldTable;
  readonly a: ReturnType<typeof scopeOf>;
  readonly b: ReturnType<typeof scopeOf>;
}

function pairOf(maker: CheckMaker): Pair | null {
  const pair = maker.smallPair();
  if (pair === null) return null;
  const [first, second] = pair;
  return { first, second, a: scopeOf(first, "a"), b: scopeOf(second, "b") };
}

const listOf = (
  maker: CheckMaker,
  { a, b }: Pair,
) => [maker.choices.pick(a).sql, maker.choices.pick(b).sql, maker.choices.pick([...a, ...b]).sql];

function innerAsCross(maker: CheckMaker): Check | null {
  const pair = pairOf(maker);
  if (pair === null) return null;
  const on = maker.joinCondition(pair.a, pair.b);
  const list = listOf(maker, pair).join(", ");
  const { first, second } = pair;
  return {
    left: [`SELECT ${list} FROM ${first.name} a JOIN ${second.name} b ON ${on}`],
    right: [
      maker.choices.pick([
        `SELECT ${list} FROM ${first.name} a CROSS JOIN ${second.name} b WHERE ${on}`,
        `SELECT ${list} FROM ${second.name} b JOIN ${first.name} a ON ${on}`,
        `SELECT ${list} FROM ${first.name} a, LATERAL (SELECT * FROM ${second.name} b WHERE ${on}) AS b`,
        `SELECT ${list} FROM (SELECT * FROM ${first.name} OFFSET 0) a JOIN (SELECT * FROM ${second.name} OFFSET 0) b ON ((${on}) IS TRUE) = true`,
        `SELECT ${list} FROM ${first.name} a LEFT JOIN ${second.name} b ON ${on} WHERE b.id IS NOT NULL`,
      ]),
    ],
  };
}

function partitionsOfOn(maker: CheckMaker): Check | null {
  const pair = pairOf(maker);
  if (pair === null) return null;
  const on = maker.joinCondition(pair.a, pair.b);
  const list = listOf(maker, pair).join(", ");
  const { first, second } = pair;
  return {
    left: [`SELECT ${list} FROM ${first.name} a, ${second.name} b`],
    right: [`(${on})`, `NOT (${on})`, `(${on}) IS NULL`].map((part) =>
      `SELECT ${list} FROM ${first.name} a JOIN ${second.name} b ON ${part}`
    ),
  };
}

function outerAsInner(maker: CheckMaker): Check | null {
  const pair = pairOf(maker);
  if (pair === null) return null;
  const { first, second, a, b } = pair;
  const kind = maker.choices.pick(["LEFT", "FULL", "RIGHT"]);
  const on = kind === "FULL" ? maker.equality(a, b) : maker.joinCondition(a, b);
  const items = listOf(maker, pair);
  const withNulls = (alias: string, table: WorldTable) =>
    items.map((item) => {
      const [of, name] = item.split(".");
      const declared = table.columns.find((column) => column.name === name)?.declared;
      return of === alias ? `NULL::${declared}` : item;
    }).join(", ");
  const list = items.join(", ");
  const inner = `SELECT ${list} FROM ${first.name} a JOIN ${second.name} b ON ${on}`;
  const onlyLeft = `SELECT ${
    withNulls("b", second)
  } FROM ${first.name} a WHERE NOT EXISTS (SELECT FROM ${second.name} b WHERE ${on})`;
  const onlyRight = `SELECT ${
    withNulls("a", first)
  } FROM ${second.name} b WHERE NOT EXISTS (SELECT FROM ${first.name} a WHERE ${on})`;
  const parts = [inner, ...(kind === "RIGHT" ? [] : [onlyLeft]), ...(kind === "LEFT" ? [] : [onlyRight])];
  return {
    left: [`SELECT ${list} FROM ${first.name} a ${kind} JOIN ${second.name} b ON ${on}`],
    right: maker.choices.chance(50) ? [parts.join(" UNION ALL ")] : parts,
  };
}

function outerSwapped(maker: CheckMaker): Check | null {
  const pair = pairOf(maker);
  if (pair === null) return null;
  const { first, second, a, b } = pair;
  const full = maker.choices.chance(30);
  const on = full ? maker.equality(a, b) : maker.joinCondition(a, b);
  const where = maker.choices.chance(60) ? ` WHERE ${maker.predicate([...a, ...b], 2)}` : "";
  const list = listOf(maker, pair).join(", ");
  return {
    left: [
      `SELECT ${list} FROM ${first.name} a ${full ? "FULL" : "LEFT"} JOIN ${second.name} b ON ${on}${where}`,
    ],
    right: [
      `SELECT ${list} FROM ${second.name} b ${full ? "FULL" : "RIGHT"} JOIN ${first.name} a ON ${on}${where}`,
    ],
  };
}

/** Conditions above an outer join, against the same on its finished rows. */
function whereAboveJoin(maker: CheckMaker): Check | null {
  const pair = pairOf(maker);
  if (pair === null) return null;
  const { first, second, a, b } = pair;
  const kind = maker.choices.pick(["LEFT", "FULL", "RIGHT", "INNER"]);
  const on = kind === "FULL" ? maker.equality(a, b) : maker.joinCondition(a, b);
  const list = listOf(maker, pair);
  const where = maker.predicate([...a, ...b], 2);
  const join = `${first.name} a ${kind} JOIN ${second.name} b ON ${on}`;
  const named = list.map((item, index) => `${item} AS e${index}`).join(", ");
  return {
    left: [`SELECT ${list.join(", ")} FROM ${join} WHERE ${where}`],
    right: [`SELECT e0, e1, e2 FROM (SELECT ${named}, ${where} AS kept FROM ${join} OFFSET 0) s WHERE kept`],
  };
}

function membership(maker: CheckMaker): Check | null {
  const pair = pairOf(maker);
  if (pair === null) return null;
  const { first, second, a, b } = pair;
  const { choices } = maker;
  const left = maker.expressions(a);
  const right = maker.expressions(b);
  const kind = choices.pick(a).kind;
  const subject = choices.chance(75) ? left.leaf(kind) : left.safe(kind, 1);
  const found = choices.chance(75) ? right.leaf(kind) : right.safe(kind, 1);
  const condition = maker.predicate(choices.chance(40) ? [...b, ...a] : b, 1);
  const list = maker.list(a).join(", ");
  const from = `${second.name} b WHERE ${condition}`;
  const select = (where: string) => `SELECT ${list} FROM ${first.name} a WHERE ${where}`;
  const values = (value: string) => `SELECT a.id, ${value} FROM ${first.name} a`;
  const operator = choices.pick(comparisons);
  const any = `EXISTS (SELECT 1 FROM ${from} AND ${subject} ${operator} ${found})`;
  const unknown = `EXISTS (SELECT 1 FROM ${from} AND (${subject} ${operator} ${found}) IS NULL)`;
  const none = `EXISTS (SELECT 1 FROM ${from} AND NOT (${subject} ${operator} ${found}))`;
  return choices.pick<() => Check>([
    () => ({
      left: [select(`${subject} IN (SELECT ${found} FROM ${from})`)],
      right: [select(`EXISTS (SELECT 1 FROM ${from} AND ${subject} = ${found})`)],
    }),
    () => ({
      left: [select(`${subject} NOT IN (SELECT ${found} FROM ${from})`)],
      right: [select(`NOT EXISTS (SELECT 1 FROM ${from} AND (${subject} = ${found}) IS NOT FALSE)`)],
    }),
    () => ({
      left: [values(`${subject} ${operator} ANY (SELECT ${found} FROM ${from})`)],
      right: [values(`CASE WHEN ${any} THEN true WHEN ${unknown} THEN NULL ELSE false END`)],
    }),
    () => ({
      left: [values(`${subject} ${operator} ALL (SELECT ${found} FROM ${from})`)],
      right: [values(`CASE WHEN ${none} THEN false WHEN ${unknown} THEN NULL ELSE true END`)],
    }),
    () => ({
      left: [select(`EXISTS (SELECT 1 FROM ${from} AND ${subject} ${operator} ${found})`)],
      right: [
        select(
          `a.id IN (SELECT a.id FROM ${first.name} a JOIN ${second.name} b ON ${condition} AND ${subject} ${operator} ${found})`,
        ),
      ],
    }),
    () => ({
      left: [values(`(SELECT count(*) FROM ${from} AND ${subject} ${operator} ${found})`)],
      right: [
        `SELECT a.id, count(b.id) FROM ${first.name} a LEFT JOIN ${second.name} b ON ${condition} AND ${subject} ${operator} ${found} GROUP BY a.id`,
      ],
    }),
    () => ({
      left: [values(`(SELECT ${found} FROM ${from} ORDER BY b.id LIMIT 1)`)],
      right: [
        `SELECT a.id, s.v FROM ${first.name} a LEFT JOIN LATERAL (SELECT ${found} AS v FROM ${from} ORDER BY b.id FETCH FIRST ROW ONLY) s ON true`,
      ],
    }),
  ])();
}

function setOperations(maker: CheckMaker): Check | null {
  const pair = pairOf(maker);
  if (pair === null) return null;
  const { first, second, a, b } = pair;
  const { choices } = maker;
  const kinds = [choices.pick(a).kind, ...choices.chance(40) ? [choices.pick(a).kind] : []];
  const item = (generator: ReturnType<CheckMaker["expressions"]>) =>
    kinds.map((kind, index) => `${generator.leaf(kind)} AS v${index}`).join(", ");
  const x = `SELECT ${item(maker.expressions(a))} FROM ${first.name} a WHERE ${maker.predicate(a, 1)}`;
  const y = `SELECT ${item(maker.expressions(b))} FROM ${second.name} b WHERE ${maker.predicate(b, 1)}`;
  const names = kinds.map((_, index) => `v${index}`).join(", ");
  const same = kinds.map((_, index) => `p.v${index} IS NOT DISTINCT FROM q.v${index}`).join(" AND ");
  const numbered = (query: string) =>
    `SELECT ${names}, row_number() OVER (PARTITION BY ${names}) AS n FROM (${query}) AS s`;
  return choices.pick<() => Check>([
    () => ({
      left: [`${x} INTERSECT ${y}`],
      right: [
        `SELECT DISTINCT ${names} FROM (${x}) AS p WHERE EXISTS (SELECT 1 FROM (${y}) AS q WHERE ${same})`,
      ],
      loose: true,
    }),
    () => ({
      left: [`${x} EXCEPT ${y}`],
      right: [
        `SELECT DISTINCT ${names} FROM (${x}) AS p WHERE NOT EXISTS (SELECT 1 FROM (${y}) AS q WHERE ${same})`,
      ],
      loose: true,
    }),
    () => ({
      left: [`${x} UNION ${y}`],
      right: [`SELECT DISTINCT ${names} FROM (${x} UNION ALL ${y}) AS s`],
      loose: true,
    }),
    () => ({ left: [`${x} UNION ALL ${y}`], right: [x, y] }),
    () => ({
      left: [`${x} EXCEPT ALL ${y}`],
      right: [
        `SELECT ${names} FROM (${numbered(x)}) AS p WHERE NOT EXISTS (SELECT 1 FROM (${
          numbered(y)
        }) AS q WHERE ${same} AND p.n = q.n)`,
      ],
      loose: true,
    }),
    () => ({
      left: [`${x} INTERSECT ALL ${y}`],
      right: [
        `SELECT ${names} FROM (${numbered(x)}) AS p WHERE EXISTS (SELECT 1 FROM (${
          numbered(y)
        }) AS q WHERE ${same} AND p.n = q.n)`,
      ],
      loose: true,
    }),
  ])();
}

/** The relations of this file. */
export const joinRelations: readonly Relation[] = [
  { name: "inner join as a filtered product", make: innerAsCross },
  { name: "partitions of ON", make: partitionsOfOn },
  { name: "outer join as inner and anti join", make: outerAsInner },
  { name: "outer join with its sides swapped", make: outerSwapped },
  { name: "WHERE above a join", make: whereAboveJoin },
  { name: "subqueries as joins", make: membership },
  { name: "set operations as subqueries", make: setOperations },
];
