/** The tests of a package, in the order of files and places, and which of them are asked for. */
import type { TypedModule, TypedProgram, TypedTest } from "../typed/tree.ts";
import type { TestPosition } from "./test_result.ts";

/** A test to run. */
export interface PlannedTest {
  readonly module: TypedModule;
  readonly test: TypedTest;
  readonly place: TestPosition;
}

/** Which tests are asked for. */
export interface TestSelection {
  /** Part of the name, of the module or of both: `physics`, `bounces`, `physics bounces`. */
  readonly filter?: string | undefined;
  /** Evals instead of the others. */
  readonly evals?: boolean;
}

/** The tests of the package's own modules. */
export function planTests(program: TypedProgram, selection: TestSelection = {}): PlannedTest[] {
  const planned: PlannedTest[] = [];
  for (const module of program.modules) {
    if (module.isLibrary) continue;
    for (const test of module.tests) {
      const { line, column } = module.file.positionOf(test.span);
      if ((test.kind === "eval") !== (selection.evals ?? false)) continue;
      if (selection.filter !== undefined && !`${module.name} ${test.name}`.includes(selection.filter)) {
        continue;
      }
      planned.push({ module, test, place: { file: module.file.path, line, column } });
    }
  }
  return planned.toSorted((left, right) =>
    left.place.file === right.place.file
      ? left.test.span.start - right.test.span.start
      : left.place.file < right.place.file
      ? -1
      : 1
  );
}
