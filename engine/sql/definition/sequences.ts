/** CREATE SEQUENCE and ALTER SEQUENCE. */
import { SQLSTATE } from "../../base/errors.ts";
import type { SequenceDefinition } from "../../catalog/definitions.ts";
import type { AlterSequence, CreateSequence, SequenceOptions } from "../parser/ast.ts";
import { commented } from "./comments.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

const TYPE_NAMES = { i16: "smallint", i32: "integer", i64: "bigint" } as const;

const RANGES = {
  i16: [-32768n, 32767n],
  i32: [-2147483648n, 2147483647n],
  i64: [-9223372036854775808n, 9223372036854775807n],
} as const;

/** CREATE SEQUENCE. */
export function createSequence(binder: DefinitionBinder, ast: CreateSequence): string {
  const tag = "CREATE SEQUENCE";
  if (ast.persistence === "unlogged") {
    throw binder.unsupported(`a ${ast.persistence} sequence`, ast.position);
  }
  const schema = binder.schemaFor(ast.name, ast.persistence);
  if (binder.isTaken(schema, ast.name.name)) {
    if (ast.ifNotExists) {
      binder.notice(SQLSTATE.duplicateTable, `relation "${ast.name.name}" already exists, skipping`);
      return tag;
    }
    throw binder.error(
      SQLSTATE.duplicateTable,
      `relation "${ast.name.name}" already exists`,
      ast.name.position,
    );
  }
  const sequence = sequenceDefinition(
    binder,
    { id: binder.newId(), schema, name: ast.name.name, type: sequenceType(binder, ast.options) },
    ast.options,
  );
  binder.change({ kind: "put_sequence", sequence: { ...sequence, ownedBy: ownerOf(binder, ast.options) } });
  return tag;
}

/** ALTER SEQUENCE. */
export function alterSequence(binder: DefinitionBinder, ast: AlterSequence): string {
  const tag = "ALTER SEQUENCE";
  const found = binder.find(ast.name);
  if (found === undefined) {
    if (!ast.ifExists) throw binder.missing(ast.name);
    binder.notice(SQLSTATE.successfulCompletion, `relation "${ast.name.name}" does not exist, skipping`);
    return tag;
  }
  if (found.kind !== "sequence") {
    throw binder.error(SQLSTATE.wrongObjectType, `"${ast.name.name}" is not a sequence`, ast.name.position);
  }
  refuseName(binder, ast.options);
  changeSequence(binder, found.sequence, ast.options);
  return tag;
}

/** Changes what the options say of a sequence, and restarts it when they do. */
export function changeSequence(
  binder: DefinitionBinder,
  old: SequenceDefinition,
  options: SequenceOptions,
): void {
  const type = options.type === null ? old.type : sequenceType(binder, options);
  // A bound that was the old type's becomes the new one's.
  const bound = (value: number | bigint, ofType: bigint): string | null =>
    type !== old.type && BigInt(value) === ofType ? null : String(value);
  const changed = sequenceDefinition(binder, { ...old, type }, {
    ...options,
    increment: options.increment ?? String(old.increment),
    minimum: options.minimum ?? bound(old.minimum, RANGES[old.type][0]),
    maximum: options.maximum ?? bound(old.maximum, RANGES[old.type][1]),
    start: options.start ?? String(old.start),
    cache: options.cache ?? String(old.cache),
    cycle: options.cycle ?? old.cycle,
  });
  const ownedBy = options.ownedBy === null ? old.ownedBy : ownerOf(binder, options);
  binder.change({ kind: "put_sequence", sequence: commented({ ...changed, ownedBy }, old.comment ?? null) });
  if (options.restart === null) return;
  const value = options.restart === "start" ? changed.start : normalize(bigint(binder, options.restart));
  const [low, high] = [changed.minimum, changed.maximum];
  if (value < low || value > high) {
    const relation = value < low ? `less than MINVALUE (${low})` : `greater than MAXVALUE (${high})`;
    throw binder.error(SQLSTATE.invalidParameterValue, `RESTART value (${value}) cannot be ${relation}`);
  }
  binder.steps.push({ kind: "restart_sequence", sequenceId: old.id, value });
}

/** A sequence with its options checked; 22023 for contradictions. */
export function sequenceDefinition(
  binder: DefinitionBinder,
  base: Pick<SequenceDefinition, "id" | "schema" | "name" | "type">,
  options: SequenceOptions,
): SequenceDefinition {
  const invalid = (message: string) => binder.error(SQLSTATE.invalidParameterValue, message);
  const [lowest, highest] = RANGES[base.type];
  const integer = (text: string): bigint => bigint(binder, text);
  const increment = options.increment === null ? 1n : integer(options.increment);
  if (increment === 0n) throw invalid("INCREMENT must not be zero");
  const bound = (text: string | "none" | null, fallback: bigint): bigint =>
    text === null || text === "none" ? fallback : integer(text);
  const maximum = bound(options.maximum, increment > 0n ? highest : -1n);
  const minimum = bound(options.minimum, increment > 0n ? 1n : lowest);
  const type = TYPE_NAMES[base.type];
  const isOutside = (value: bigint): boolean => value < lowest || value > highest;
  if (isOutside(maximum)) {
    throw invalid(`MAXVALUE (${maximum}) is out of range for sequence data type ${type}`);
  }
  if (isOutside(minimum)) {
    throw invalid(`MINVALUE (${minimum}) is out of range for sequence data type ${type}`);
  }
  if (minimum >= maximum) throw invalid(`MINVALUE (${minimum}) must be less than MAXVALUE (${maximum})`);
  const start = options.start === null ? (increment > 0n ? minimum : maximum) : integer(options.start);
  if (start < minimum) throw invalid(`START value (${start}) cannot be less than MINVALUE (${minimum})`);
  if (start > maximum) throw invalid(`START value (${start}) cannot be greater than MAXVALUE (${maximum})`);
  const cache = options.cache === null ? 1 : Number(integer(options.cache));
  if (cache < 1) throw invalid(`CACHE (${cache}) must be greater than zero`);
  return {
    ...base,
    start: normalize(start),
    increment: normalize(increment),
    minimum: normalize(minimum),
    maximum: normalize(maximum),
    cycle: options.cycle ?? false,
    cache,
    ownedBy: null,
  };
}

function sequenceType(binder: DefinitionBinder, options: SequenceOptions): SequenceDefinition["type"] {
  refuseName(binder, options);
  if (options.type === null) return "i64";
  const type = binder.type(options.type);
  if (type.kind === "i16" || type.kind === "i32" || type.kind === "i64") return type.kind;
  throw binder.error(
    SQLSTATE.invalidParameterValue,
    "sequence type must be smallint, integer, or bigint",
    options.type.position,
  );
}

function ownerOf(binder: DefinitionBinder, options: SequenceOptions): SequenceDefinition["ownedBy"] {
  if (options.ownedBy === null || options.ownedBy === "none") return null;
  const table = binder.table(options.ownedBy.table);
  return { tableId: table.id, columnId: binder.column(table, options.ownedBy.column).id };
}

/** An option's number. Raises 22003 beyond bigint. */
function bigint(binder: DefinitionBinder, text: string): bigint {
  const value = BigInt(text);
  const [lowest, highest] = RANGES.i64;
  if (value >= lowest && value <= highest) return value;
  throw binder.error(SQLSTATE.numericValueOutOfRange, `value "${text}" is out of range for type bigint`);
}

function normalize(value: bigint): number | bigint {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

/** SEQUENCE NAME is for identity columns only. */
function refuseName(binder: DefinitionBinder, options: SequenceOptions): void {
  if (options.name === null) return;
  throw binder.error(
    SQLSTATE.syntaxError,
    "invalid sequence option SEQUENCE NAME",
    options.name.position,
  );
}
