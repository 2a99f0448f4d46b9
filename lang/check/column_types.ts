/** Which types a database has, and which functions of a package it can call. */
import type { TypedFunction, TypedModule } from "../typed/tree.ts";
import { resolve } from "../types/primitives.ts";
import type { PrimitiveName, Type } from "../types/type.ts";

/** A type of a parameter or result that a database has. */
export interface ColumnType {
  /** Without the option. */
  readonly type: Type;
  /** As it is written. */
  readonly optionType: Type;
  /** Whether it is an option, whose `None` is NULL. */
  readonly isOption: boolean;
  readonly name: PrimitiveName;
  /** Whether it is a list of such values. */
  readonly isList: boolean;
}

const SCALARS: ReadonlySet<string> = new Set(["Bool", "Int", "Int64", "Float", "F32"]);

/** What a type is for a database; null: it has none such. */
export function columnTypeOf(written: Type): ColumnType | null {
  const at = resolve(written);
  const option =
    at.kind === "named" && at.definition.module === "std.option" && at.definition.name === "Option"
      ? at.arguments[0]
      : undefined;
  const type = option === undefined ? at : resolve(option);
  const common = { type, optionType: at, isOption: option !== undefined };
  if (type.kind === "primitive") {
    const fits = SCALARS.has(type.name) || type.name === "String" || type.name === "Bytes";
    return fits ? { ...common, name: type.name, isList: false } : null;
  }
  if (type.kind !== "named" || type.definition.name !== "List") return null;
  const element = type.arguments[0] === undefined ? null : resolve(type.arguments[0]);
  if (element?.kind !== "primitive" || !SCALARS.has(element.name)) return null;
  return { ...common, name: element.name, isList: true };
}

/** Whether a function can be seen from outside of its module: a public one of no type, or of a public type. */
export function isExported(module: TypedModule, { isPublic, owner }: TypedFunction): boolean {
  return isPublic && (owner === null || module.types.some((type) => type.isPublic && type.name === owner));
}
