/**
 * Values of enumerated types: a number for each label, in the order of the labels, with room between neighbors for
 * labels that come later. Stored values keep their numbers when labels are added or renamed.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { EnumType } from "./sql_type.ts";

/** The distance between the numbers of neighbors when a type is made. */
const GAP = 1 << 20;

interface Lookup {
  readonly byLabel: ReadonlyMap<string, number>;
  readonly byNumber: ReadonlyMap<number, string>;
}

const lookups = new WeakMap<EnumType, Lookup>();

function lookupOf(type: EnumType): Lookup {
  let lookup = lookups.get(type);
  if (lookup === undefined) {
    lookup = {
      byLabel: new Map(type.labels.map((label, index) => [label, type.numbers[index] ?? 0])),
      byNumber: new Map(type.labels.map((label, index) => [type.numbers[index] ?? 0, label])),
    };
    lookups.set(type, lookup);
  }
  return lookup;
}

/** The value of a label; 22P02 when the type has no such label. */
export function enumValue(type: EnumType, label: string): number {
  const value = lookupOf(type).byLabel.get(label);
  if (value !== undefined) return value;
  throw new DatabaseError(
    SQLSTATE.invalidTextRepresentation,
    `invalid input value for enum ${enumName(type)}: "${label}"`,
  );
}

/** The name of the type as messages show it: in double quotes where SQL needs them. */
export function enumName({ name }: { readonly name: string }): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The label of a value. */
export function enumLabel(type: EnumType, value: number): string {
  return lookupOf(type).byNumber.get(value) ?? String(value);
}

/** Numbers for the labels of a new type. */
export function initialNumbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => (index + 1) * GAP);
}

/** A number for a label that is to be at a position among the others; undefined when there is no room left. */
export function numberAt(numbers: readonly number[], position: number): number | undefined {
  const before = numbers[position - 1], after = numbers[position];
  if (after === undefined) return (before ?? 0) + GAP;
  const value = before === undefined ? after - GAP : Math.floor((before + after) / 2);
  return value === before ? undefined : value;
}
