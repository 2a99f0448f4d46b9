/**
 * The variables of a running PL/pgSQL block.
 *
 * A statement of the block sees all variables in sight as parameters, numbered from the innermost scope outwards: a
 * scalar is one parameter, a record one for each field. Which number a name means is what {@link Scope.meaning}
 * answers.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { VariableMeaning } from "../../sql/binder/environment.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";

/** A column of a record. */
export interface Field {
  readonly name: string;
  readonly type: SqlType;
}

/** A variable with one value. */
export interface ScalarVariable {
  readonly kind: "scalar";
  readonly name: string;
  readonly type: SqlType;
  readonly constant: boolean;
  readonly notNull: boolean;
  value: SqlValue;
}

/** A row; what columns it has shows when the first is assigned. */
export interface RecordVariable {
  readonly kind: "record";
  readonly name: string;
  fields: readonly Field[];
  values: SqlValue[];
  /** A row type that stays, as of `table%ROWTYPE`. */
  readonly fixed: boolean;
  isAssigned: boolean;
}

/** Either kind. */
export type Variable = ScalarVariable | RecordVariable;

/** The names of one block, loop or handler. */
export class Scope {
  readonly parent: Scope | null;
  readonly label: string | null;
  readonly #variables = new Map<string, Variable>();

  constructor(parent: Scope | null, label: string | null) {
    this.parent = parent;
    this.label = label;
  }

  /** Adds a variable. Raises 42601 when the block has declared the name already. */
  declare(variable: Variable): void {
    if (this.#variables.has(variable.name)) {
      throw new DatabaseError(SQLSTATE.syntaxError, `duplicate declaration of "${variable.name}"`);
    }
    this.#variables.set(variable.name, variable);
  }

  /** Adds a variable that holds a value of the type. */
  define(name: string, type: SqlType, value: SqlValue): ScalarVariable {
    const variable: ScalarVariable = { kind: "scalar", name, type, value, constant: false, notNull: false };
    this.declare(variable);
    return variable;
  }

  /** The variable of `name` or `label.name`, with the parts behind it. */
  find(
    parts: readonly string[],
  ): { readonly variable: Variable; readonly rest: readonly string[] } | undefined {
    for (const scope of this.#outwards()) {
      const [first = "", second] = parts;
      const variable = scope.#variables.get(first);
      if (variable !== undefined) return { variable, rest: parts.slice(1) };
      if (second === undefined || scope.label !== first) continue;
      const labeled = scope.#variables.get(second);
      if (labeled !== undefined) return { variable: labeled, rest: parts.slice(2) };
    }
    return undefined;
  }

  /** The types of all parameters. */
  types(): SqlType[] {
    return this.#all().flatMap((each) =>
      each.kind === "scalar" ? [each.type] : each.fields.map(({ type }) => type)
    );
  }

  /** The values of all parameters. */
  values(): SqlValue[] {
    return this.#all().flatMap((each) => each.kind === "scalar" ? [each.value] : each.values);
  }

  /** What a name means to the binder. Raises 55000 for a record that has no columns yet, 42703 for a missing field. */
  meaning(parts: readonly string[]): VariableMeaning | undefined {
    const found = this.find(parts);
    if (found === undefined || found.rest.length > 1) return undefined;
    const { variable, rest: [fieldName] } = found;
    const first = this.#numberOf(variable);
    if (variable.kind === "scalar") {
      return fieldName === undefined ? { kind: "scalar", number: first } : undefined;
    }
    if (!variable.isAssigned && variable.fields.length === 0) throw notAssigned(variable);
    if (fieldName === undefined) {
      const fields = variable.fields.map(({ name }, index) => ({ name, number: first + index }));
      return { kind: "record", fields };
    }
    return { kind: "scalar", number: first + fieldIndex(variable, fieldName) };
  }

  #numberOf(wanted: Variable): number {
    let number = 1;
    for (const each of this.#all()) {
      if (each === wanted) return number;
      number += each.kind === "scalar" ? 1 : each.fields.length;
    }
    return number;
  }

  #all(): Variable[] {
    return [...this.#outwards()].flatMap((scope) => [...scope.#variables.values()]);
  }

  *#outwards(): Generator<Scope> {
    yield this;
    if (this.parent !== null) yield* this.parent.#outwards();
  }
}

/** The place of a field. Raises 42703. */
export function fieldIndex(record: RecordVariable, name: string): number {
  const index = record.fields.findIndex((field) => field.name === name);
  if (index >= 0) return index;
  if (record.fields.length === 0) throw notAssigned(record);
  throw new DatabaseError(SQLSTATE.undefinedColumn, `record "${record.name}" has no field "${name}"`);
}

function notAssigned(record: RecordVariable): DatabaseError {
  return new DatabaseError(
    SQLSTATE.objectNotInPrerequisiteState,
    `record "${record.name}" is not assigned yet`,
    { detail: "The tuple structure of a not-yet-assigned record is indeterminate." },
  );
}
