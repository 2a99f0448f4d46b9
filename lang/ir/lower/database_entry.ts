/**
 * The functions that a database calls: parameters and results of numbers as they are, texts, bytes and lists of
 * numbers as an address and a length. docs/user-functions.md, "The calling convention", has the bytes.
 */
import { type ColumnType, columnTypeOf, isExported } from "../../check/column_types.ts";
import type { TypedFunction, TypedModule } from "../../typed/tree.ts";
import type { Type } from "../../types/type.ts";
import type { Layout } from "../layout.ts";
import { BLOCK_HEADER, LENGTH_OFFSET } from "../layout.ts";
import { get, i32, type IrExpression, load, op, type ScalarType } from "../node.ts";
import { exportName, wrapper } from "./entry.ts";
import { type Frame, type Value, zero } from "./frame.ts";
import { writeMemory } from "./memory.ts";
import type { ProgramLowering } from "./program.ts";
import type { Exported } from "./test_entry.ts";

const INT: Type = { kind: "primitive", name: "Int" };

/** Tags of an option, in the order of its variants. */
const SOME = 0;
const NONE = 1;

/** Every public function of the root module whose types a database has. */
export function databaseEntries(program: ProgramLowering, root: TypedModule): Exported[] {
  return root.functions.flatMap((target) => {
    if (!isExported(root, target) || target.typeParameters.length > 0 || target.effects.size > 0) return [];
    const parameters = target.parameters.map(({ kind, type }) =>
      kind === "inout" ? null : columnTypeOf(type)
    );
    const result = columnTypeOf(target.result);
    if (result === null || parameters.includes(null)) return [];
    return [databaseEntry(program, root, target, {
      parameters: parameters.filter((each) => each !== null),
      result,
    })];
  });
}

interface Columns {
  readonly parameters: readonly ColumnType[];
  readonly result: ColumnType;
}

function isBlock({ shape }: Layout): boolean {
  return shape.kind === "block";
}

function databaseEntry(
  program: ProgramLowering,
  root: TypedModule,
  target: TypedFunction,
  { parameters, result }: Columns,
): Exported {
  const takesNulls = parameters.some((each) => each.isOption);
  const layouts = parameters.map(({ type }) => program.layouts.of(type));
  const scalars = layouts.flatMap((layout): ScalarType[] => [
    ...takesNulls ? ["i32" as const] : [],
    ...isBlock(layout) ? ["i32" as const, "i32" as const] : layout.slots.map((slot) => slot.type),
  ]);
  if (layouts.some(isBlock)) program.usesAllocate = true;
  const inner = program.layouts.of(result.type);
  // A parameter that is no option makes NULL of NULL, so that the result has to be able to say so.
  const givesNulls = result.isOption || takesNulls && parameters.some((each) => !each.isOption);
  const hasFlag = givesNulls && !isBlock(inner);
  const none: Value = isBlock(inner) ? [i32(0)] : [i32(0), ...inner.slots.map((slot) => zero(slot.type))];
  return wrapper(program, root, {
    name: exportName(target),
    result: isBlock(inner) ? INT : hasFlag ? { kind: "tuple", elements: [INT, result.type] } : result.type,
    parameters: scalars,
    write: (frame, locals) => {
      let position = 0;
      const next = (): IrExpression => {
        const local = locals[position++];
        return local === undefined ? i32(0) : get(local);
      };
      const args: IrExpression[] = [];
      const wasGiven: IrExpression[] = [];
      const values = parameters.map((parameter, index) => {
        const flag = takesNulls ? next() : null;
        const layout = layouts[index] ?? inner;
        if (flag !== null && !parameter.isOption) wasGiven.push(flag);
        return { parameter, flag, layout, parts: isBlock(layout) ? [next(), next()] : [next()] };
      });
      for (const flag of wasGiven) frame.if(op("i32.eqz", flag), () => frame.return(none));
      for (const { parameter, flag, layout, parts } of values) {
        const value = isBlock(layout) ? [receive(frame, layout, parts)] : parts;
        if (parameter.isOption && flag !== null) {
          args.push(...optionSlots(program.layouts.of(parameter.optionType), flag, value));
        } else args.push(...value);
      }
      const given = frame.call(program.instance(target, []), args);
      return result.isOption
        ? optionResult(frame, inner, given)
        : isBlock(inner)
        ? [keepResult(frame, inner, given)]
        : hasFlag
        ? [i32(1), ...given]
        : given;
    },
  });
}

/** The slots of an option whose value is given when the flag is 1. */
function optionSlots(layout: Layout, flag: IrExpression, value: Value): IrExpression[] {
  const { shape } = layout;
  const field = shape.kind === "union"
    ? shape.variants.find(({ tag }) => tag === SOME)?.fields[0]
    : undefined;
  if (field === undefined) throw new Error(`Cannot take an option as ${layout.name}: it is no union`);
  const slots: IrExpression[] = layout.slots.map((slot) => zero(slot.type));
  slots[0] = op("i32.eqz", flag);
  for (const [index, slot] of field.slots.entries()) slots[slot] = value[index] ?? i32(0);
  return slots;
}

/** The result of an option: a flag and the number, or the address that a block is kept at; 0 for none. */
function optionResult(frame: Frame, inner: Layout, [tag, ...value]: Value): Value {
  const isNone = op("i32.eq", tag ?? i32(NONE), i32(NONE));
  if (!isBlock(inner)) return [op("i32.eqz", isNone), ...value];
  const kept = frame.reusable(isNone);
  frame.if(kept, () => frame.return([i32(0)]));
  return [keepResult(frame, inner, value)];
}

/** A block of what the caller has put into memory. */
function receive(frame: Frame, layout: Layout, [pointer, length]: Value): IrExpression {
  const { runtime } = frame.program;
  const size = layout.shape.kind === "block" ? layout.shape.element.size : 1;
  const [slot] = layout.slots;
  return frame.helper(
    runtime.receive(size),
    [pointer ?? i32(0), length ?? i32(0)],
    slot?.pointer ?? null,
  );
}

/** Keeps a text or list until the next call, and gives the address of its pointer and length. */
function keepResult(frame: Frame, layout: Layout, [block]: Value): IrExpression {
  const { program } = frame;
  const cell = program.resultCell();
  if (block === undefined) return i32(cell);
  const pointer = frame.reusable(block);
  const store = (offset: number, word: IrExpression): void =>
    frame.emit({ kind: "store", op: "i32.store", address: i32(cell), offset, value: word });
  store(0, op("i32.add", pointer, i32(BLOCK_HEADER)));
  store(4, load("i32.load", pointer, LENGTH_OFFSET));
  writeMemory(frame, {
    kind: "memory",
    address: i32(program.keptResult(layout.key)),
    offset: 0,
    base: null,
    layout,
  }, [pointer]);
  return i32(cell);
}
