/**
 * What generated code may name at a place: variables, and the functions before it.
 */
import { type GeneratedType, sameType } from "./program_types.ts";

/** A variable or parameter. */
export interface Variable {
  readonly name: string;
  readonly type: GeneratedType;
  /** Whether it may be written: a `var` or `inout` of this very function. */
  readonly isMutable: boolean;
  /** Whether closures may not see it, because it stands for somebody else's place. */
  readonly isInout: boolean;
}

/** A function that may be called. */
export interface GeneratedFunction {
  readonly name: string;
  readonly parameters: readonly { readonly type: GeneratedType; readonly isInout: boolean }[];
  readonly result: GeneratedType | null;
  /** Whether running it takes loops of loops. */
  readonly isHeavy: boolean;
}

/** A name with the fields behind it. */
export interface Path {
  readonly text: string;
  readonly type: GeneratedType;
  readonly root: Variable;
}

/** Variables in scope, innermost last. */
export class Scope {
  readonly variables: readonly Variable[];

  constructor(variables: readonly Variable[] = []) {
    this.variables = variables;
  }

  /** The scope with one more variable. */
  with(...variables: readonly Variable[]): Scope {
    return new Scope([...this.variables, ...variables]);
  }

  /** The scope without a variable, for what runs while it is held. */
  without(name: string): Scope {
    return new Scope(this.variables.filter((variable) => variable.name !== name));
  }

  /** What a closure sees: copies that cannot be written. */
  captured(): Scope {
    return new Scope(
      this.variables.filter((variable) => !variable.isInout).map((variable) => ({
        ...variable,
        isMutable: false,
      })),
    );
  }

  /** Names and fields of that type. */
  paths(type: GeneratedType): Path[] {
    return this.allPaths().filter((path) => sameType(path.type, type));
  }

  /** Places that may be written, of any type or of one. */
  places(type: GeneratedType | null): Path[] {
    return this.allPaths().filter((path) =>
      path.root.isMutable && (type === null || sameType(path.type, type))
    );
  }

  /** Every name with up to two fields behind it. */
  allPaths(): Path[] {
    const paths: Path[] = [];
    const add = (path: Path, depth: number): void => {
      paths.push(path);
      if (depth === 0) return;
      if (path.type.kind === "record") {
        for (const field of path.type.record.fields) {
          add({ ...path, text: `${path.text}.${field.name}`, type: field.type }, depth - 1);
        }
      } else if (path.type.kind === "tuple") {
        path.type.elements.forEach((element, index) =>
          add({ ...path, text: `${path.text}.${index}`, type: element }, depth - 1)
        );
      }
    };
    // A later variable of a name hides the earlier one; names are never used twice.
    for (const root of this.variables) add({ text: root.name, type: root.type, root }, 2);
    return paths;
  }
}
