/**
 * Binding of windows: the WINDOW clause, what a specification takes over from another one, and frames.
 *
 * Calls with equal partitions and orders share one operator; each has a frame of its own.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { isIntegerKind } from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import type {
  Expression as Ast,
  FrameBound as FrameBoundAst,
  SortKey as SortKeyAst,
  WindowDefinition,
  WindowFrame,
  WindowSpecification,
} from "../parser/ast.ts";
import { expressionKey } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { FrameBound, SortKey, WindowCall } from "../plan/plan.ts";
import { columnsOf } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import { bindSortKey, inClause } from "./call_binder.ts";
import { coerceImplicit, isUnknown, settle, tryCoerce } from "./coercion.ts";
import { bindExpression } from "./expression_binder.ts";
import type { PendingWindow, QueryLevel } from "./scope.ts";

interface ResolvedWindow {
  readonly partitionBy: readonly Ast[];
  readonly orderBy: readonly SortKeyAst[];
  readonly frame: WindowFrame | null;
}

function resolveWindow(
  binding: Binding,
  level: QueryLevel,
  specification: WindowSpecification,
  before: WindowDefinition | null = null,
): ResolvedWindow {
  const baseName = specification.name ?? specification.base;
  if (baseName === null) return specification;
  // A definition can build upon those before it.
  const known = before === null ? level.windows : level.windows.slice(0, level.windows.indexOf(before));
  const definition = known.find((each) => each.name === baseName);
  if (definition === undefined) {
    throw binding.error(
      SQLSTATE.undefinedObject,
      `window "${baseName}" does not exist`,
      specification.position,
    );
  }
  const base = resolveWindow(binding, level, definition.specification, definition);
  if (specification.name !== null) return base;
  const refuse = (message: string) => {
    throw binding.error(SQLSTATE.windowingError, message, specification.position);
  };
  if (specification.partitionBy.length > 0) {
    refuse(`cannot override PARTITION BY clause of window "${baseName}"`);
  }
  if (specification.orderBy.length > 0 && base.orderBy.length > 0) {
    refuse(`cannot override ORDER BY clause of window "${baseName}"`);
  }
  if (base.frame !== null) refuse(`cannot copy window "${baseName}" because it has a frame clause`);
  return {
    partitionBy: base.partitionBy,
    orderBy: specification.orderBy.length > 0 ? specification.orderBy : base.orderBy,
    frame: specification.frame,
  };
}

/** Makes the WINDOW clause the level's and binds it, so that what is wrong in one that nothing uses is found too. */
export function bindWindowClause(
  binding: Binding,
  level: QueryLevel,
  windows: readonly WindowDefinition[],
): void {
  level.windows = windows;
  for (const [index, each] of windows.entries()) {
    if (windows.findIndex(({ name }) => name === each.name) !== index) {
      throw binding.error(
        SQLSTATE.windowingError,
        `window "${each.name}" is already defined`,
        each.specification.position,
      );
    }
    const resolved = resolveWindow(binding, level, each.specification, each);
    bindWindowParts(binding, level, resolved);
  }
}

function bindWindowParts(binding: Binding, level: QueryLevel, resolved: ResolvedWindow): {
  readonly partition: readonly Expression[];
  readonly order: readonly SortKey[];
  readonly frame: WindowCall["frame"];
} {
  const isOffset = resolved.frame?.mode === "range" &&
    (resolved.frame.start.offset !== null || resolved.frame.end.offset !== null);
  const inDefinition = <T>(action: () => T): T => inClause(level, "window definitions", action);
  const partition = resolved.partitionBy.map((each) =>
    inDefinition(() => settle(binding, bindExpression(binding, level, each)))
  );
  const order = resolved.orderBy.map((key) => {
    const bound = inDefinition(() => bindSortKey(binding, level, key));
    // The offset has a scale of its own.
    return isOffset && bound.expression.type.kind === "numeric"
      ? { ...bound, expression: coerceImplicit(binding, bound.expression, { kind: "numeric" }) }
      : bound;
  });
  return { partition, order, frame: bindFrame(binding, level, resolved.frame, order) };
}

/** The window of a call, shared with equal ones, and the call's frame. */
export function bindWindow(
  binding: Binding,
  level: QueryLevel,
  specification: WindowSpecification,
): { readonly window: PendingWindow; readonly frame: WindowCall["frame"] } {
  const resolved = resolveWindow(binding, level, specification);
  const { partition, order, frame } = bindWindowParts(binding, level, resolved);
  const signature = windowKey(partition, order);
  let window = level.pendingWindows.find((each) => windowKey(each.partition, each.order) === signature);
  if (window === undefined) {
    window = { partition, order, calls: [] };
    level.pendingWindows.push(window);
  }
  return { window, frame };
}

function windowKey(partition: readonly Expression[], order: readonly SortKey[]): string {
  return `${partition.map(expressionKey).join()}|${
    order.map((key) => `${expressionKey(key.expression)}${key.descending}${key.nullsFirst}`).join()
  }`;
}

function bindFrame(
  binding: Binding,
  level: QueryLevel,
  frame: WindowFrame | null,
  order: readonly SortKey[],
): WindowCall["frame"] {
  if (frame === null) {
    return {
      mode: "range",
      start: { kind: "unbounded_preceding" },
      end: { kind: "current_row" },
      exclude: "no others",
    };
  }
  const hasOffset = frame.start.offset !== null || frame.end.offset !== null;
  if (frame.mode === "range" && hasOffset && order.length !== 1) {
    throw binding.error(
      SQLSTATE.windowingError,
      "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
      frame.position,
    );
  }
  if (frame.mode === "groups" && order.length === 0) {
    throw binding.error(SQLSTATE.windowingError, "GROUPS mode requires an ORDER BY clause", frame.position);
  }
  const excludes = {
    no_others: "no others",
    current_row: "current row",
    group: "group",
    ties: "ties",
  } as const;
  return {
    mode: frame.mode,
    start: bindFrameBound(binding, level, frame.start, frame, order),
    end: bindFrameBound(binding, level, frame.end, frame, order),
    exclude: excludes[frame.exclude],
  };
}

function bindFrameBound(
  binding: Binding,
  level: QueryLevel,
  bound: FrameBoundAst,
  frame: WindowFrame,
  order: readonly SortKey[],
): FrameBound {
  if (bound.kind !== "preceding" && bound.kind !== "following") return { kind: bound.kind };
  const ast = bound.offset;
  if (ast === null) return { kind: "current_row" };
  const mode = frame.mode === "rows" ? "ROWS" : frame.mode === "range" ? "RANGE" : "GROUPS";
  const expression = inClause(level, `window ${mode}`, () => bindExpression(binding, level, ast));
  const offset = frame.mode === "range"
    ? rangeOffset(binding, order[0]?.expression.type ?? { kind: "unknown" }, expression, frame.position)
    : tryCoerce(binding, expression, { kind: "i64" }, "assignment");
  if (offset === undefined || (mode !== "RANGE" && expression.type.kind === "text")) {
    throw binding.error(
      SQLSTATE.datatypeMismatch,
      `argument of ${mode} must be type bigint, not type ${formatTypeFamily(expression.type)}`,
      ast.position,
    );
  }
  if (columnsOf(offset).size > 0) {
    throw binding.error(
      SQLSTATE.invalidColumnReference,
      `argument of ${mode} must not contain variables`,
      ast.position,
    );
  }
  return { kind: bound.kind, offset };
}

/** The offset of RANGE as a value that is added to the key; 0A000 when nothing adds the two types. */
function rangeOffset(binding: Binding, key: SqlType, offset: Expression, position: number): Expression {
  const type = rangeOffsetType(key);
  const refuse = (types: string, hint?: string): never => {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      `RANGE with offset PRECEDING/FOLLOWING is not supported for column type ${types}`,
      position,
      hint === undefined ? {} : { hint },
    );
  };
  if (type === undefined) return refuse(formatTypeFamily(key));
  // An untyped literal is read as the key's type, as far as that is one of numbers.
  const typed = type.kind === "i64" && isUnknown(offset) ? coerceImplicit(binding, offset, key) : offset;
  return tryCoerce(binding, typed, type, "implicit") ?? refuse(
    `${formatTypeFamily(key)} and offset type ${formatTypeFamily(offset.type)}`,
    "Cast the offset value to an appropriate type.",
  );
}

/** The type of what is added to keys of a type: one for all whole numbers, and one for both kinds of floats. */
function rangeOffsetType(type: SqlType): SqlType | undefined {
  if (isIntegerKind(type.kind) && type.kind !== "oid") return { kind: "i64" };
  switch (type.kind) {
    case "date":
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval":
      return { kind: "interval" };
    case "f32":
    case "f64":
      return { kind: "f64" };
    case "numeric":
      return { kind: "numeric" };
    default:
      return undefined;
  }
}
