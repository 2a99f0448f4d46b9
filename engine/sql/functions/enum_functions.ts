/** enum_first, enum_last and enum_range: answered from the type of the argument, whatever its value. */
import type { SqlType } from "../../types/sql_type.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";

function end(name: string, at: number, summary: string): Overload {
  return {
    name,
    takes: "anyenum",
    returns: "anyelement",
    category: "system",
    summary,
    strict: false,
    specialize: ([type]) => {
      if (type?.kind !== "enum") return undefined;
      return { returnType: type, run: () => type.numbers.at(at) ?? null };
    },
  };
}

function range(type: SqlType | undefined, low: number | null, high: number | null): SqlArray | null {
  if (type?.kind !== "enum") return null;
  return SqlArray.of(
    type.numbers.filter((each) => (low === null || each >= low) && (high === null || each <= high)),
  );
}

const overloads: readonly Overload[] = [
  end("enum_first", 0, "The first label of an enumerated type."),
  end("enum_last", -1, "The last label of an enumerated type."),
  {
    name: "enum_range",
    takes: "anyenum",
    returns: "anyarray",
    category: "system",
    summary: "All labels of an enumerated type.",
    strict: false,
    specialize: ([type]) =>
      type === undefined ? undefined : {
        returnType: { kind: "array", element: type },
        run: () => range(type, null, null),
      },
  },
  {
    name: "enum_range",
    takes: "anyenum, anyenum",
    returns: "anyarray",
    category: "system",
    summary: "The labels between two of an enumerated type.",
    strict: false,
    specialize: ([type]) =>
      type === undefined ? undefined : {
        returnType: { kind: "array", element: type },
        run: (low: number | null, high: number | null) => range(type, low, high),
      },
  },
];

/** enum_first, enum_last and enum_range: answered from the type of the argument, whatever its value. */
export const enumFunctions: readonly FunctionDefinition[] = overloads.map(defineFunction);
