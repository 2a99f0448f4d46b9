/**
 * Random BEFORE triggers over the tables of {@link ForeignKeyStatements}, each as this database writes it and as a
 * PL/pgSQL function for PostgreSQL.
 */
import type { Choices } from "./choices.ts";

/** A trigger for either side. */
export interface GeneratedTrigger {
  readonly ours: string;
  /** Statements that make the same trigger in PostgreSQL. */
  readonly peers: readonly string[];
}

const columnsByTable: Readonly<Record<string, readonly string[]>> = {
  p: ["id", "u"],
  q: ["a", "b"],
  c: ["id", "v", "w", "x"],
  d: ["a", "b", "c"],
  e: ["id", "v"],
};
const eventSets = [
  ["UPDATE"],
  ["INSERT"],
  ["DELETE"],
  ["INSERT", "UPDATE"],
  ["UPDATE"],
  ["UPDATE", "DELETE"],
  ["UPDATE"],
];
/** Keys go from 0 to one less than this. */
const KEYS = 9;

/** Triggers of one seed. */
export function generatedTriggers(choices: Choices): GeneratedTrigger[] {
  // Few tables, so that triggers see what others have set.
  const tables = [choices.pick(Object.keys(columnsByTable)), choices.pick(Object.keys(columnsByTable))];
  return Array.from(
    { length: 2 + choices.below(4) },
    (_, index) => trigger(choices, choices.pick(tables), index),
  );
}

function trigger(choices: Choices, table: string, index: number): GeneratedTrigger {
  const columns = columnsByTable[table] ?? [];
  const events = choices.pick(eventSets);
  // Names are not in the order in which the triggers are made.
  const name = `${"zmbka"[index] ?? "y"}${index}`;
  const rows = [
    ...(events.includes("DELETE") ? [] : ["NEW"]),
    ...(events.includes("INSERT") ? [] : ["OLD"]),
  ];
  const value = (): string =>
    rows.length === 0 || choices.chance(20)
      ? String(choices.below(KEYS))
      : `${choices.pick(rows)}.${choices.pick(columns)}`;
  const when = rows.length === 0 || choices.chance(40) ? "" : `WHEN (${condition(choices, value)}) `;
  const of = events.includes("UPDATE") && choices.chance(35) ? ` OF ${choices.pick(columns)}` : "";
  const head = `CREATE TRIGGER ${name} BEFORE ${
    events.map((event) => event === "UPDATE" ? `UPDATE${of}` : event).join(" OR ")
  } ON ${table} FOR EACH ROW ${when}`;
  const define = (body: string): GeneratedTrigger["peers"] => [
    `CREATE FUNCTION f_${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`,
    `${head}EXECUTE FUNCTION f_${name}()`,
  ];
  if (events.includes("DELETE") || choices.chance(15)) {
    return { ours: `${head}REJECT 'no'`, peers: define("RAISE EXCEPTION 'no';") };
  }
  const first = choices.pick(columns), second = choices.pick(columns);
  const targets = first === second ? [first] : [first, second];
  const values = targets.map(() => assigned(choices, value));
  return {
    ours: `${head}SET ${targets.map((target, at) => `${target} = ${values[at]}`).join(", ")}`,
    peers: define(
      `SELECT ${values.join(", ")} INTO ${targets.map((target) => `NEW.${target}`).join(", ")}; RETURN NEW;`,
    ),
  };
}

function condition(choices: Choices, value: () => string): string {
  switch (choices.below(5)) {
    case 0:
      return `${value()} IS NOT NULL`;
    case 1:
      return `${value()} IS DISTINCT FROM ${value()}`;
    case 2:
      return `${value()} < ${value()} OR ${value()} IS NULL`;
    case 3:
      return `${value()} IN (${choices.below(KEYS)}, ${choices.below(KEYS)})`;
    default:
      return `${value()} >= ${value()}`;
  }
}

function assigned(choices: Choices, value: () => string): string {
  switch (choices.below(6)) {
    case 0:
      return `(${value()} + ${1 + choices.below(3)}) % ${KEYS}`;
    case 1:
      return `coalesce(${value()}, ${choices.below(KEYS)})`;
    case 2:
      return `nullif(${value()}, ${choices.below(KEYS)})`;
    case 3:
      return `CASE WHEN ${condition(choices, value)} THEN ${value()} ELSE ${value()} END`;
    case 4:
      return `greatest(${value()}, ${value()})`;
    default:
      return value();
  }
}
