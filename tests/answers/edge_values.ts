/**
 * Values at the edges of each type, as PostgreSQL reads them: `edge_values.txt`.
 *
 * A pool is a list of values of one type, which one argument of a call takes. Most types have one pool, named as the
 * type; where an argument is a pattern, a format or a position, the pool of that meaning is taken instead
 * (`text/pattern`). `text/of date` are the texts that are, or are nearly, dates. NULL ends every pool. A pool has at
 * most 20 values, so that two of them make at most 400 calls; only those of texts that are cast have more.
 */

/** One list of values. */
export interface Pool {
  readonly name: string;
  /** The type as SQL writes it. */
  readonly type: string;
  readonly values: readonly (string | null)[];
}

/** Types that casts go between, by their pools. */
export const CAST_TYPES: readonly string[] = [
  ...[
    "bool",
    "i16",
    "i32",
    "i64",
    "numeric",
    "numeric(10,2)",
    "numeric(36,6)",
    "f32",
    "f64",
    "text",
    "varchar(10)",
    "char(5)",
  ],
  ...[
    "name",
    "internal_char",
    "bytea",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "interval",
    "uuid",
    "json",
    "jsonb",
    "jsonpath",
  ],
  ...["oid", "enum", "text[]", "i32[]", "numeric[]", "f64[]"],
];

/** Types with modifiers that casts go to, as SQL writes them. */
export const MODIFIED_TYPES: readonly string[] = [
  ...[
    "numeric(3,0)",
    "numeric(5,2)",
    "numeric(38,0)",
    "numeric(38,20)",
    "varchar(3)",
    "char(2)",
    "timestamp(0)",
    "timestamptz(3)",
  ],
  ...[
    "time(0)",
    "time(3)",
    "interval(0)",
    "interval year",
    "interval day to minute",
    "interval second(2)",
    "varchar(3)[]",
  ],
  ...["numeric(5,1)[]"],
];

const pools = read(Deno.readTextFileSync(new URL("edge_values.txt", import.meta.url)));

/** The pool of a name. */
export function poolOf(name: string): Pool {
  const pool = pools.get(name);
  if (pool === undefined) throw new Error(`there are no edge values for ${name}`);
  return pool;
}

/** Whether there is a pool of this name. */
export function hasPool(name: string): boolean {
  return pools.has(name);
}

/** A value as SQL writes it, with its type. */
export function literalOf(pool: Pool, index: number): string {
  const value = pool.values[index];
  if (value === undefined) throw new Error(`${pool.name} has no value ${index}`);
  return `${value === null ? "NULL" : `'${value.replaceAll("'", "''")}'`}::${pool.type}`;
}

function read(text: string): Map<string, Pool> {
  const found = new Map<string, Pool>();
  for (const block of text.split("\n\n## ").slice(1)) {
    const [heading = "", ...lines] = block.trimEnd().split("\n");
    const [name = "", type = ""] = heading.split(": ");
    const values = lines.map((line) => line.startsWith('"') ? String(JSON.parse(line)) : line);
    const own = name.startsWith("text/of ") ? found.get(name.slice(8))?.values ?? [] : [];
    const inherited = own.filter((value) => value !== null && !values.includes(value));
    found.set(name, { name, type, values: [...inherited, ...values, null] });
  }
  return found;
}
