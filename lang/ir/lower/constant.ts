/**
 * Constants. What is known when the program is compiled, numbers, texts and lists of them, is written where it is
 * used. Any other value is worked out once, when it is first used, and stays in a static cell: it is never freed and
 * does not count among the bytes in use.
 *
 * Whether it has been worked out is told by a global that is not exported, so that a page that puts a snapshot of
 * memory into a new build works it out anew.
 */
import type { TypedConstant } from "../../typed/tree.ts";
import type { Type } from "../../types/type.ts";
import {
  i32,
  type IrExpression,
  type IrFunction,
  type IrGlobal,
  newFunction,
  op,
  type Statement,
} from "../node.ts";
import { expressionsOf, visitExpression } from "../visit.ts";
import { type Located, storeMemory } from "./memory.ts";
import { Frame, type MemoryLocation, ownedAll, type Value } from "./frame.ts";
import type { KeptConstant, ProgramLowering } from "./program.ts";

const UNIT: Type = { kind: "tuple", elements: [] };

/** The value of a constant, or the memory where it lies. */
export function locateConstant(frame: Frame, constant: TypedConstant): Located {
  const { program } = frame;
  let kept = program.keptConstants.get(constant);
  if (kept === undefined) {
    kept = keepConstant(program, constant);
    program.keptConstants.set(constant, kept);
  }
  if (kept === null) {
    const file = frame.file;
    frame.file = constant.file;
    const value = frame.lower(constant.value);
    frame.file = file;
    return { kind: "value", value, layout: frame.layout(constant.type) };
  }
  frame.if(
    op("i32.eqz", { kind: "global", global: kept.isMade }),
    () => frame.emit({ kind: "call", call: { kind: "call", function: kept.make, args: [] } }),
  );
  return kept.location;
}

/** Makes what works a constant out; null when its value is known as it is. */
function keepConstant(program: ProgramLowering, constant: TypedConstant): KeptConstant | null {
  const made = newFunction(constant.id, { place: { file: constant.file, offset: constant.nameSpan.start } });
  const frame = frameOf(program, constant, made, constant.type);
  let value: Value = [];
  const { body, isReachable } = frame.collect(() => {
    value = frame.lower(constant.value);
  });
  if (isReachable && body.every(isKnown)) return null;
  for (const statement of body) frame.emit(statement);
  if (isReachable) frame.return(value);
  program.addFunction(made);
  const layout = program.layouts.of(constant.type);
  const address = program.statics.reserve(layout.size, Math.max(4, layout.alignment));
  const location: MemoryLocation = {
    kind: "memory",
    address: i32(address),
    offset: 0,
    base: null,
    layout,
    isForever: true,
  };
  const isMade = program.global(`made ${constant.id}`, null);
  return { location, isMade, make: keeper(program, constant, { location, isMade, made }) };
}

function frameOf(program: ProgramLowering, constant: TypedConstant, made: IrFunction, result: Type): Frame {
  const frame = new Frame({
    program,
    function: made,
    file: constant.file,
    source: null,
    put: new Map(),
    result,
  });
  frame.declareParameters([]);
  return frame;
}

/** The function that stores the value; what it takes of the heap is taken for good. */
function keeper(
  program: ProgramLowering,
  constant: TypedConstant,
  { location, isMade, made }: {
    readonly location: MemoryLocation;
    readonly isMade: IrGlobal;
    readonly made: IrFunction;
  },
): IrFunction {
  const make = newFunction(`${constant.id}.keep`, {});
  const frame = frameOf(program, constant, make, UNIT);
  const heapBytes = program.global("heap_bytes", "heap_bytes");
  const global = (of: IrGlobal): IrExpression => ({ kind: "global", global: of });
  const before = frame.temporary(global(heapBytes));
  storeMemory(frame, location, ownedAll(frame.call(made, [])));
  frame.emit({ kind: "set-global", global: heapBytes, value: before });
  frame.emit({ kind: "set-global", global: isMade, value: i32(1) });
  frame.return([]);
  program.addFunction(make);
  return make;
}

/** Whether a statement only gives a name to something that is known. */
function isKnown(statement: Statement): boolean {
  if (statement.kind === "at") return true;
  if (statement.kind !== "set") return false;
  let known = true;
  for (const expression of expressionsOf(statement)) {
    visitExpression(expression, (at) => {
      known &&= at.kind === "const" || at.kind === "get" || at.kind === "own" || at.kind === "op" ||
        at.kind === "select";
    });
  }
  return known;
}
