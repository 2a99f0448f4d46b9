/** Conditions and values written in another way that means the same, computed for each row and used to choose rows. */
import type { Check, CheckMaker, Relation } from "./check.ts";
import { comparisons, type ExpressionGenerator } from "./expressions.ts";

const negated: Readonly<Record<string, string>> = {
  "=": "<>",
  "<>": "=",
  "<": ">=",
  ">=": "<",
  ">": "<=",
  "<=": ">",
};
const swapped: Readonly<Record<string, string>> = {
  "=": "=",
  "<>": "<>",
  "<": ">",
  ">=": "<=",
  ">": "<",
  "<=": ">=",
};

type Pair = readonly [string, string];

/** Two conditions that mean the same. */
function conditions(maker: CheckMaker, generator: ExpressionGenerator): Pair {
  const { choices } = maker;
  const kind = generator.kind();
  const subject = choices.chance(70) ? generator.leaf(kind) : generator.safe(kind, 2);
  const other = () => choices.chance(60) ? generator.literal(kind) : generator.safe(kind, 1);
  const condition = () => generator.predicate(2);
  switch (choices.below(22)) {
    case 0: {
      const [p, q] = [condition(), condition()];
      return [`NOT (${p} AND ${q})`, `(NOT ${p} OR NOT ${q})`];
    }
    case 1: {
      const [p, q] = [condition(), condition()];
      return [`NOT (${p} OR ${q})`, `(NOT ${p} AND NOT ${q})`];
    }
    case 2: {
      const p = condition();
      return [
        p,
        choices.pick([
          `NOT (NOT ${p})`,
          `(${p} OR ${p})`,
          `(${p} AND ${p})`,
          `(${p} = true)`,
          `(${p} <> false)`,
        ]),
      ];
    }
    case 3: {
      const [low, high] = [other(), other()];
      return [`${subject} BETWEEN ${low} AND ${high}`, `(${subject} >= ${low} AND ${subject} <= ${high})`];
    }
    case 4: {
      const [low, high] = [other(), other()];
      return [
        `${subject} NOT BETWEEN SYMMETRIC ${low} AND ${high}`,
        `NOT (${subject} BETWEEN ${low} AND ${high} OR ${subject} BETWEEN ${high} AND ${low})`,
      ];
    }
    case 5: {
      const list = Array.from({ length: 1 + choices.below(12) }, other);
      const [all, each] = choices.chance(50)
        ? [
          `${subject} IN (${list.join(", ")})`,
          `(${list.map((item) => `${subject} = ${item}`).join(" OR ")})`,
        ]
        : [
          `${subject} NOT IN (${list.join(", ")})`,
          `(${list.map((item) => `${subject} <> ${item}`).join(" AND ")})`,
        ];
      return [all, each];
    }
    case 6: {
      if (kind === "integers" || kind === "texts" || kind === "numerics") {
        return [`${subject} IS NULL`, `num_nulls(${subject}) = 1`];
      }
      const list = Array.from({ length: 1 + choices.below(4) }, other);
      const operator = choices.pick(comparisons);
      return choices.chance(50)
        ? [
          `${subject} ${operator} ANY (ARRAY[${list.join(", ")}])`,
          `(${list.map((item) => `${subject} ${operator} ${item}`).join(" OR ")})`,
        ]
        : [
          `${subject} ${operator} ALL (ARRAY[${list.join(", ")}])`,
          `(${list.map((item) => `${subject} ${operator} ${item}`).join(" AND ")})`,
        ];
    }
    case 7: {
      const operator = choices.pick(comparisons);
      const value = other();
      return [`(${subject} ${operator} ${value})`, `NOT (${subject} ${negated[operator]} ${value})`];
    }
    case 8: {
      const operator = choices.pick(comparisons);
      const value = other();
      return [`(${subject} ${operator} ${value})`, `(${value} ${swapped[operator]} ${subject})`];
    }
    case 9: {
      const value = other();
      return [
        `${subject} IS DISTINCT FROM ${value}`,
        `CASE WHEN ${subject} IS NULL OR ${value} IS NULL THEN (${subject} IS NULL) <> (${value} IS NULL) ELSE ${subject} <> ${value} END`,
      ];
    }
    case 10: {
      const p = condition();
      return choices.pick([
        [`(${p}) IS TRUE`, `COALESCE(${p}, false)`],
        [`(${p}) IS NOT FALSE`, `COALESCE(${p}, true)`],
        [`(${p}) IS NOT TRUE`, `NOT COALESCE(${p}, false)`],
        [`(${p}) IS UNKNOWN`, `(${p}) IS NULL`],
      ]);
    }
    case 11: {
      const second = generator.kind();
      const [a, c] = [
        generator.leaf(second),
        choices.chance(50) ? generator.literal(second) : generator.leaf(second),
      ];
      const [b, d] = [subject, other()];
      return choices.pick([
        [`(${a}, ${b}) < (${c}, ${d})`, `(${a} < ${c} OR ${a} = ${c} AND ${b} < ${d})`],
        [`(${a}, ${b}) >= (${c}, ${d})`, `(${a} > ${c} OR ${a} = ${c} AND ${b} >= ${d})`],
        [`(${a}, ${b}) = (${c}, ${d})`, `(${a} = ${c} AND ${b} = ${d})`],
        [
          `(${a}, ${b}) IN ((${c}, ${d}), (${a}, ${d}))`,
          `(${a} = ${c} AND ${b} = ${d} OR ${a} = ${a} AND ${b} = ${d})`,
        ],
      ]);
    }
    case 12: {
      const text = generator.leaf("text");
      return choices.pick([
        [`${text} LIKE 'a%'`, `starts_with(${text}, 'a')`],
        [`${text} LIKE 'a%'`, `(${text} >= 'a' AND ${text} < 'b')`],
        [`${text} LIKE '%b%'`, `strpos(${text}, 'b') > 0`],
        [`${text} NOT LIKE '_b%'`, `substr(${text}, 2, 1) <> 'b'`],
        [`${text} LIKE '%b'`, `right(${text}, 1) = 'b'`],
        [`${text} LIKE '__'`, `length(${text}) = 2`],
        [`${text} ^@ 'ab'`, `left(${text}, 2) = 'ab'`],
      ]);
    }
    case 13: {
      const [p, q, r] = [condition(), condition(), condition()];
      return [`(${p} AND (${q} OR ${r}))`, `(${p} AND ${q} OR ${p} AND ${r})`];
    }
    case 14: {
      const [p, q, r] = [condition(), condition(), condition()];
      return [`(${p} OR ${q} AND ${r})`, `((${p} OR ${q}) AND (${p} OR ${r}))`];
    }
    case 15: {
      const [p, q] = [condition(), condition()];
      return [
        `CASE WHEN ${p} THEN ${q} ELSE NOT ${q} END`,
        `CASE WHEN (${p}) IS NOT TRUE THEN NOT ${q} ELSE ${q} END`,
      ];
    }
    case 16: {
      // What the value lies between: bounds from several conditions of one column.
      const values = Array.from({ length: 3 }, other);
      const operators = values.map(() => choices.pick(comparisons));
      const parts = values.map((value, index) => `${subject} ${operators[index]} ${value}`);
      return [`(${parts.join(" AND ")})`, `NOT (${parts.map((part) => `NOT (${part})`).join(" OR ")})`];
    }
    case 17: {
      const value = other();
      return [`(${subject} = ${value})`, `(${subject} <= ${value} AND ${subject} >= ${value})`];
    }
    case 18: {
      const value = other();
      const operator = choices.pick(comparisons);
      return [`(${subject} ${operator} ${value})`, `(COALESCE(${subject}, NULL) ${operator} ${value})`];
    }
    case 19: {
      const value = other();
      return [
        `(${subject} ${choices.pick(["=", "<>"])} ${value}) IS NULL`,
        `(${subject} IS NULL OR ${value} IS NULL)`,
      ];
    }
    case 20: {
      const value = other();
      const operator = choices.pick(comparisons);
      return [`(${subject} ${operator} ${value})`, `(SELECT ${subject} ${operator} ${value})`];
    }
    default: {
      const value = other();
      const operator = choices.pick(comparisons);
      return [
        `(${subject} ${operator} ${value})`,
        `CASE WHEN ${subject} IS NOT NULL AND ${value} IS NOT NULL THEN (${subject} ${operator} ${value}) END`,
      ];
    }
  }
}

/** Two values that are the same. */
function values(maker: CheckMaker, generator: ExpressionGenerator): Pair {
  const { choices } = maker;
  const kind = generator.kind();
  const a = generator.safe(kind, 2);
  const b = generator.safe(kind, 1);
  const p = generator.predicate(2);
  return choices.pick<() => Pair>([
    () => [`COALESCE(${a}, ${b})`, `CASE WHEN ${a} IS NOT NULL THEN ${a} ELSE ${b} END`],
    () => [`NULLIF(${a}, ${b})`, `CASE WHEN ${a} = ${b} THEN NULL ELSE ${a} END`],
    () => [`CASE WHEN ${p} THEN ${a} ELSE ${b} END`, `CASE WHEN (${p}) IS NOT TRUE THEN ${b} ELSE ${a} END`],
    () => [
      `GREATEST(${a}, ${b})`,
      `CASE WHEN ${a} IS NULL THEN ${b} WHEN ${b} IS NULL THEN ${a} WHEN ${a} >= ${b} THEN ${a} ELSE ${b} END`,
    ],
    () => [
      `LEAST(${a}, ${b})`,
      `CASE WHEN ${a} IS NULL THEN ${b} WHEN ${b} IS NULL THEN ${a} WHEN ${a} <= ${b} THEN ${a} ELSE ${b} END`,
    ],
    () => [
      `CASE ${a} WHEN ${b} THEN 1 WHEN ${a} THEN 2 ELSE 3 END`,
      `CASE WHEN ${a} = ${b} THEN 1 WHEN ${a} = ${a} THEN 2 ELSE 3 END`,
    ],
    () => [`(CASE WHEN ${p} THEN ${a} END)`, `(SELECT ${a} WHERE ${p})`],
    () => {
      const [m, n] = [generator.leaf("integer"), generator.leaf("integer")];
      return [`${m}::bigint * ${n} + ${m}`, `${m} + ${n}::bigint * ${m}`];
    },
    () => {
      const [m, n] = [generator.leaf("bigint"), generator.leaf("bigint")];
      return [`${m}::numeric * ${n} - ${m}`, `${m}::numeric * (${n}::numeric - 1)`];
    },
    () => {
      const [m, n] = [generator.leaf("integer"), generator.leaf("integer")];
      return [`(${m} / 7) * 7 + ${m} % 7 + (${n} & ~ ${n})`, `${m} + (${n} # ${n})`];
    },
    () => {
      const text = generator.safe("text", 1);
      return [`left(${text}, 2) || substr(${text}, 3)`, text];
    },
    () => {
      const text = generator.safe("text", 1);
      return [`reverse(reverse(${text}))`, text];
    },
  ])();
}

function chosenRows(maker: CheckMaker): Check {
  const source = maker.source();
  const generator = maker.expressions(source.columns);
  const [first, second] = conditions(maker, generator);
  const list = maker.list(source.columns).join(", ");
  return {
    left: [`SELECT ${list} FROM ${source.sql} WHERE ${first}`],
    right: [`SELECT ${list} FROM ${source.sql} WHERE ${second}`],
  };
}

function computedConditions(maker: CheckMaker): Check {
  const source = maker.source();
  const generator = maker.expressions(source.columns);
  const pair = conditions(maker, generator);
  const [first, second] = maker.choices.chance(50) ? pair : [pair[1], pair[0]];
  const key = maker.choices.pick(source.columns).sql;
  return maker.choices.chance(50)
    ? {
      left: [`SELECT ${key}, ${first} FROM ${source.sql}`],
      right: [`SELECT ${key}, ${second} FROM ${source.sql}`],
    }
    : {
      left: [`SELECT count(*) FROM ${source.sql} WHERE NOT (${first})`],
      right: [`SELECT count(*) FROM ${source.sql} WHERE NOT (${second})`],
    };
}

function computedValues(maker: CheckMaker): Check {
  const source = maker.source();
  const [first, second] = values(maker, maker.expressions(source.columns));
  const key = maker.choices.pick(source.columns).sql;
  return {
    left: [`SELECT ${key}, ${first} FROM ${source.sql}`],
    right: [`SELECT ${key}, ${second} FROM ${source.sql}`],
    loose: true,
  };
}

/** The relations of this file. */
export const rewriteRelations: readonly Relation[] = [
  { name: "rows chosen by a rewritten condition", make: chosenRows },
  { name: "rewritten conditions", make: computedConditions },
  { name: "rewritten values", make: computedValues },
];
