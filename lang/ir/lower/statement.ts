/**
 * Lowers statements.
 */
import { unreachable } from "../../../engine/base/assert.ts";
import type { Expression, Local, Statement } from "../../typed/tree.ts";
import { LENGTH_OFFSET } from "../layout.ts";
import { get, i32, type IrExpression, load, op } from "../node.ts";
import { fold } from "../fold.ts";
import { arithmetic, intervalOf } from "./arithmetic.ts";
import { branchUnless, joinBlocks } from "./expression.ts";
import { addressOf, primitiveOf, single } from "./memory.ts";
import type { Frame } from "./frame.ts";
import { bindPattern, testPattern } from "./pattern.ts";
import {
  ownPointer,
  preparePlace,
  putLocation,
  readLocation,
  resolvePlace,
  takeLocation,
  writeLocation,
} from "./place.ts";
import { assignsWhole } from "./scan.ts";

/** Writes a statement. */
export function lowerStatement(frame: Frame, statement: Statement): void {
  frame.emit({ kind: "at", place: frame.place(statement.span) });
  switch (statement.kind) {
    case "let": {
      const value = frame.lower(statement.value);
      noteLength(frame, statement);
      bindPattern(frame, statement.pattern, {
        kind: "value",
        value,
        layout: frame.layout(statement.value.type),
      });
      return;
    }
    case "let-else":
      lowerLetElse(frame, statement);
      return;
    case "var": {
      const layout = frame.layout(statement.local.type);
      const value = frame.lower(statement.value);
      const locals = frame.locals(statement.local.name, layout, true);
      frame.setAll(locals, value);
      frame.bind(statement.local, { kind: "locals", locals, layout });
      return;
    }
    case "assign":
      lowerAssign(frame, statement);
      return;
    case "while":
      lowerWhile(frame, statement);
      return;
    case "for-range":
      lowerForRange(frame, statement);
      return;
    case "for-list":
      lowerForList(frame, statement);
      return;
    case "for-inout":
      lowerForInout(frame, statement);
      return;
    case "expression":
      frame.lower(statement.expression);
      return;
    default:
      return unreachable(statement);
  }
}

function lowerLetElse(frame: Frame, statement: Statement & { readonly kind: "let-else" }): void {
  const layout = frame.layout(statement.value.type);
  const value = frame.stableValue(frame.lower(statement.value), layout);
  // Names of the pattern are bound inside of the block, but hold behind it: nothing is emitted between that could
  // leave them unset.
  frame.block("matched", (matched) => {
    frame.block("otherwise", (otherwise) => {
      testPattern(frame, statement.pattern, { kind: "value", value, layout }, otherwise);
      bindPattern(frame, statement.pattern, { kind: "value", value, layout });
      frame.emit({ kind: "branch", label: matched });
    });
    frame.lower(statement.otherwise);
  });
}

function lowerAssign(frame: Frame, statement: Statement & { readonly kind: "assign" }): void {
  const prepared = preparePlace(frame, statement.place);
  const layout = frame.layout(statement.place.type);
  let value = frame.lower(statement.value);
  if (!frame.isReachable) return;
  const isDirect = statement.place.kind === "local";
  if (!isDirect) value = frame.stableValue(value, layout);
  const location = resolvePlace(frame, prepared);
  if (statement.operator === null) {
    writeLocation(frame, location, value);
    return;
  }
  const type = primitiveOf(frame.type(statement.place.type));
  if (type === null || type === "String" || type === "Bytes") {
    const [old] = takeLocation(frame, location);
    putLocation(frame, location, [joinBlocks(frame, layout, old ?? i32(0), value[0] ?? i32(0))]);
    return;
  }
  const [old] = readLocation(frame, location);
  const result = arithmetic(
    frame,
    statement.operator,
    type,
    old ?? i32(0),
    value[0] ?? i32(0),
    statement.span,
  );
  putLocation(frame, location, [result]);
}

function lowerWhile(frame: Frame, statement: Statement & { readonly kind: "while" }): void {
  frame.block("exit", (exit) => {
    frame.loop("while", (again) => {
      branchUnless(frame, statement.condition, exit);
      frame.loops.push({ exit, again });
      frame.lower(statement.body);
      frame.loops.pop();
      frame.emit({ kind: "branch", label: again });
    });
  });
}

/** Remembers that a name holds the length of a list that does not change. */
function noteLength(frame: Frame, statement: Statement & { readonly kind: "let" }): void {
  if (statement.pattern.kind !== "binding") return;
  const list = lengthOf(statement.value);
  if (list !== null && (list.kind === "let" || list.kind === "parameter")) {
    frame.lengths.set(statement.pattern.local, list);
  }
}

/** The variable whose length an expression is. */
function lengthOf(expression: Expression): Local | null {
  if (expression.kind !== "call" || expression.callee.kind !== "function") return null;
  const { id } = expression.callee.function;
  if (id !== "std.list.List.len" && id !== "std.bytes.Bytes.len") return null;
  const [argument] = expression.arguments;
  return argument?.kind === "value" && argument.value.kind === "local" ? argument.value.local : null;
}

function lowerForRange(frame: Frame, statement: Statement & { readonly kind: "for-range" }): void {
  const [start, end] = frame.values([statement.start, statement.end]);
  const first = start?.[0] ?? i32(0);
  const last = end?.[0] ?? i32(0);
  const bounds = { low: intervalOf(frame, first).low, high: intervalOf(frame, last).high };
  const limit = frame.stable(last);
  const counter = frame.local(`${statement.local.name}.next`, { type: "i32", pointer: null }, {
    isMutable: true,
  });
  frame.set(counter, first);
  const list = statement.end.kind === "local"
    ? frame.lengths.get(statement.end.local) ?? null
    : lengthOf(statement.end);
  const isInside = list !== null && !statement.isInclusive && bounds.low >= 0 &&
    !assignsWhole(statement.body, list);
  const layout = frame.layout(statement.local.type);
  frame.block("exit", (exit) => {
    const body = (again: (at: IrExpression) => void): void => {
      const at = frame.local(statement.local.name, { type: "i32", pointer: null });
      frame.set(at, get(counter));
      const high = bounds.high - (statement.isInclusive ? 0 : 1);
      frame.intervals.set(at, { low: bounds.low, high: Math.max(high, bounds.low) });
      if (bounds.low >= 0 && !statement.isInclusive && limit.kind === "get") at.below = limit.local;
      frame.bind(statement.local, { kind: "value", value: [get(at)], layout });
      if (isInside) {
        const inside = frame.insides.get(list) ?? new Set<Local>();
        frame.insides.set(list, inside.add(statement.local));
      }
      frame.block("continue", (next) => {
        frame.loops.push({ exit, again: next });
        frame.lower(statement.body);
        frame.loops.pop();
      });
      if (isInside) frame.insides.get(list)?.delete(statement.local);
      again(get(at));
    };
    const past = statement.isInclusive ? "i32.gt_s" : "i32.ge_s";
    frame.branchIf(fold(op(past, get(counter), limit)), exit);
    frame.loop("for", (top) => {
      body((at) => {
        if (statement.isInclusive) {
          // The last number may be the largest there is, so it is compared before it is counted up.
          frame.branchIf(op("i32.ge_s", at, limit), exit);
          frame.set(counter, op("i32.add", at, i32(1)));
          frame.emit({ kind: "branch", label: top });
        } else {
          frame.set(counter, op("i32.add", at, i32(1)));
          frame.branchIf(op("i32.lt_s", get(counter), limit), top);
        }
      });
    });
  });
}

/** Runs over addresses of elements. */
function overElements(
  frame: Frame,
  options: {
    readonly pointer: IrExpression;
    readonly base: ReturnType<typeof ownPointer>["base"];
    readonly size: number;
    readonly write: (address: IrExpression) => void;
  },
): void {
  const { pointer, base, size } = options;
  const index = frame.local("index", { type: "i32", pointer: null }, { isMutable: true });
  const at = frame.local("at.next", { type: "i32", pointer: null }, { isMutable: true, base });
  frame.set(index, load("i32.load", pointer, LENGTH_OFFSET));
  frame.set(at, pointer);
  frame.block("exit", (exit) => {
    frame.branchIf(op("i32.eqz", get(index)), exit);
    frame.loop("for", (top) => {
      const address = frame.local("at", { type: "i32", pointer: null }, { base });
      frame.set(address, get(at));
      frame.block("continue", (next) => {
        frame.loops.push({ exit, again: next });
        options.write(get(address));
        frame.loops.pop();
      });
      frame.set(at, op("i32.add", get(address), i32(size)));
      frame.set(index, op("i32.sub", get(index), i32(1)));
      frame.branchIf(get(index), top);
    });
  });
}

function lowerForList(frame: Frame, statement: Statement & { readonly kind: "for-list" }): void {
  const layout = frame.layout(statement.list.type);
  const { shape } = layout;
  if (shape.kind !== "block") throw new Error("Cannot lower a loop: it goes over no list");
  // A variable of its own: the loop goes over what the list was at its start.
  const list = frame.local("list", { type: "i32", pointer: shape.cell });
  frame.set(list, single(frame, statement.list));
  const { element } = shape;
  overElements(frame, {
    pointer: get(list),
    base: list,
    size: element.size,
    write: (address) => {
      const { offset } = addressOf(frame, get(list), element, i32(0));
      bindPattern(frame, statement.pattern, { kind: "memory", address, offset, base: list, layout: element });
      frame.lower(statement.body);
    },
  });
}

function lowerForInout(frame: Frame, statement: Statement & { readonly kind: "for-inout" }): void {
  const location = resolvePlace(frame, preparePlace(frame, statement.list));
  const { shape } = location.layout;
  if (shape.kind !== "block") throw new Error("Cannot lower a loop: it goes over no list");
  const { pointer, base } = ownPointer(frame, location, shape.cell);
  const { element } = shape;
  overElements(frame, {
    pointer,
    base,
    size: element.size,
    write: (address) => {
      const { offset } = addressOf(frame, pointer, element, i32(0));
      frame.bind(statement.local, { kind: "memory", address, offset, base, layout: element });
      frame.lower(statement.body);
    },
  });
}
