/**
 * Finds the `expect` or `expect_snapshot` in the typed tree by the place of its trap, for what only the source knows.
 */
import { visitExpressions } from "../check/typed_walk.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Expression, TypedProgram } from "../typed/tree.ts";

/** An expectation in the source. */
export interface Expectation {
  readonly file: SourceFile;
  readonly node: Extract<Expression, { kind: "expect" | "snapshot" }>;
}

/** Where something stands. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The expectation at a place, or null. */
export function expectationAt(program: TypedProgram, place: Place): Expectation | null {
  for (const module of program.modules) {
    if (module.file.path !== place.file) continue;
    const bodies = [
      ...module.tests.flatMap((test) => test.body === null ? [] : [test.body]),
      ...module.functions.flatMap((each) => each.body === null ? [] : [each.body]),
    ];
    for (const body of bodies) {
      const found = findIn(body, module.file, place);
      if (found !== null) return found;
    }
  }
  return null;
}

function findIn(body: Expression, file: SourceFile, place: Place): Expectation | null {
  let found: Expectation | null = null;
  visitExpressions(body, (node) => {
    if ((node.kind === "expect" || node.kind === "snapshot") && isAt(file, node.span, place)) {
      found = { file, node };
    }
    return found === null;
  });
  return found;
}

function isAt(file: SourceFile, span: Span, { line, column }: Place): boolean {
  const position = file.positionOf(span);
  return position.line === line && position.column === column;
}
