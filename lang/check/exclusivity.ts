/**
 * While a function holds a place `inout`, nobody else touches that place.
 *
 * Two places overlap unless their roots, or fields on the way, or whole numbers that index the same list, differ. A
 * value that is read from within a borrowed place before the call is a copy, and allowed.
 */
import type { Span } from "../source/source_file.ts";
import type { Expression, Local, Place } from "../typed/tree.ts";
import type { Body } from "./body.ts";
import { visitExpressions } from "./typed_walk.ts";

/** One argument: its place when it is `inout`, and what evaluating it writes. */
export interface Borrow {
  readonly place: Place | null;
  readonly span: Span;
  readonly writes: readonly { readonly place: Place; readonly span: Span }[];
}

type Step = { readonly kind: "field"; readonly index: number } | {
  readonly kind: "element";
  readonly index: Expression;
};

interface Path {
  readonly root: Local;
  readonly steps: readonly Step[];
}

function pathOf(place: Place): Path {
  switch (place.kind) {
    case "local":
      return { root: place.local, steps: [] };
    case "field": {
      const path = pathOf(place.target);
      return { root: path.root, steps: [...path.steps, { kind: "field", index: place.index }] };
    }
    case "element": {
      const path = pathOf(place.target);
      return { root: path.root, steps: [...path.steps, { kind: "element", index: place.index }] };
    }
  }
}

function readPath(expression: Expression): Path | null {
  switch (expression.kind) {
    case "local":
      return { root: expression.local, steps: [] };
    case "field": {
      const path = readPath(expression.target);
      return path === null
        ? null
        : { ...path, steps: [...path.steps, { kind: "field", index: expression.index }] };
    }
    case "element": {
      const path = readPath(expression.target);
      return path === null
        ? null
        : { ...path, steps: [...path.steps, { kind: "element", index: expression.index }] };
    }
    default:
      return null;
  }
}

function pathsOverlap(left: Path, right: Path): boolean {
  if (left.root !== right.root) return false;
  for (const [index, step] of left.steps.entries()) {
    const other = right.steps[index];
    if (other === undefined) return true;
    if (step.kind === "field" && other.kind === "field") {
      if (step.index !== other.index) return false;
    } else if (step.kind === "element" && other.kind === "element") {
      const [a, b] = [step.index, other.index];
      if (a.kind === "integer" && b.kind === "integer" && a.value !== b.value) return false;
    }
  }
  return true;
}

/** Whether writing one may change the other. */
function placesOverlap(left: Place, right: Place): boolean {
  return pathsOverlap(pathOf(left), pathOf(right));
}

/** Reports arguments of one call that hold, or change, the same place. */
export function checkExclusive(body: Body, borrows: readonly Borrow[]): void {
  const { reporter } = body;
  for (const [index, mine] of borrows.entries()) {
    const { place } = mine;
    if (place === null) continue;
    for (const [otherIndex, other] of borrows.entries()) {
      if (otherIndex === index) continue;
      if (other.place !== null && otherIndex < index && placesOverlap(place, other.place)) {
        const isElement = place.kind === "element" && other.place.kind === "element";
        reporter.report(
          "MV0009",
          mine.span,
          `\`${reporter.text(mine.span)}\` is passed to the same call twice, once as \`inout\`.`,
          {
            labels: [reporter.label(other.span, "first passed as `inout` here")],
            hint: isElement
              ? "Two indexes may refer to the same element. Use `list.swap(i, j)` to swap two elements."
              : "Copy the value into another variable first.",
          },
        );
      }
      const write = other.writes.find((each) => placesOverlap(place, each.place));
      if (write !== undefined) {
        reporter.report(
          "MV0013",
          write.span,
          `\`${
            reporter.text(mine.span)
          }\` is passed as \`inout\` to this call, and this argument also changes it.`,
          {
            labels: [reporter.label(mine.span, "passed as `inout` here")],
            hint: "Evaluate the argument in a statement before the call.",
          },
        );
      }
    }
  }
}

/** Reports uses of a place inside of the loop that holds it. */
export function checkHeld(body: Body, held: Place, holder: Span, loop: Expression): void {
  const { reporter } = body;
  const path = pathOf(held);
  const report = (span: Span) =>
    reporter.report(
      "MV0014",
      span,
      `The loop holds \`${
        reporter.text(held.span)
      }\` while it changes the elements, so the loop body cannot use it.`,
      {
        labels: [reporter.label(holder, "the loop has exclusive access from here")],
        hint: "Loop over the indexes, `for i in 0..list.len()`, to use the list inside of the loop.",
      },
    );
  visitExpressions(loop, (expression) => {
    const read = readPath(expression);
    if (read !== null && pathsOverlap(path, read)) {
      report(expression.span);
      return false;
    }
    return read === null;
  }, (place) => {
    if (pathsOverlap(path, pathOf(place))) report(place.span);
  });
}
