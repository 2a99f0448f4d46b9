/**
 * Types whose values would never end: a record that holds itself, without a list, map or other variant between.
 *
 * A type has a value when all of its parts have one (of a union: those of one variant); the least fixed point tells.
 */
import type { TypeDefinition } from "../types/type.ts";
import { resolve } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import type { ModuleScope } from "./symbols.ts";

/** Reports the types of a module that have no finite values. */
export function checkTypeSizes(scope: ModuleScope): void {
  const own = [...scope.types.values()].flatMap((entry) =>
    entry.kind === "definition" ? [entry.definition] : []
  );
  const ended = new Set<TypeDefinition>();
  const hasEnd = (type: Type): boolean => {
    const at = resolve(type);
    if (at.kind === "tuple") return at.elements.every(hasEnd);
    if (at.kind !== "named") return true;
    const { definition } = at;
    // A type of the library is a list or the like, which may be empty; types of other modules have been looked at.
    return definition.module !== scope.name || ended.has(definition);
  };
  const settle = (): void => {
    for (let changed = true; changed;) {
      changed = false;
      for (const definition of own) {
        if (ended.has(definition)) continue;
        const { body } = definition;
        const ends = body.kind === "builtin" ||
          (body.kind === "record"
            ? body.fields.every((field) => hasEnd(field.type))
            : body.variants.some((variant) => variant.fields.every((field) => hasEnd(field.type))));
        if (!ends) continue;
        ended.add(definition);
        changed = true;
      }
    }
  };
  settle();
  for (const definition of own) {
    if (ended.has(definition)) continue;
    scope.reporter.report(
      "TY0024",
      definition.nameSpan,
      `The recursive type \`${definition.name}\` has infinite size.`,
      { hint: "Put an `Option`, a `List`, or a union with a variant that does not contain it in between." },
    );
    // Types that hold one another are one error.
    ended.add(definition);
    settle();
  }
}
