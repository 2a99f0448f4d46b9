/**
 * Calls: of functions, of what a type has for an interface, of function values.
 *
 * Parameters borrow. An `inout` argument is handed over and given back, behind the result; its place is walked down
 * to when all arguments are known.
 */
import type { Argument, Callee, Expression } from "../../typed/tree.ts";
import { CODE_OFFSET } from "../layout.ts";
import {
  get,
  type HostType,
  i32,
  type ImportedFunction,
  type IrExpression,
  type IrSlot,
  load,
} from "../node.ts";
import type { PrimitiveName, Type } from "../../types/type.ts";
import { derivedCall } from "./derived.ts";
import { primitiveOf, single } from "./memory.ts";
import { functionValue } from "./function_value.ts";
import { type Frame, type Location, ownedAll, type Value } from "./frame.ts";
import { inlineCall, inlineClosure, inlinedClosures, isInlined } from "./inline.ts";
import { lowerIntrinsic } from "./intrinsics.ts";
import { type PreparedPlace, preparePlace, putLocation, resolvePlace, takeLocation } from "./place.ts";

/** An argument, evaluated. */
export type LoweredArgument =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "inout"; readonly prepared: PreparedPlace }
  /** A closure that is written where it is called, when the call is lowered in place. */
  | { readonly kind: "closure"; readonly expression: Expression & { readonly kind: "closure" } };

/** A function of the program that a callee stands for, or the derived function of an interface. */
export function resolveCallee(frame: Frame, callee: Exclude<Callee, { kind: "value" }>) {
  if (callee.kind === "function") {
    return {
      kind: "function" as const,
      function: callee.function,
      typeArguments: callee.typeArguments.map((argument) => frame.type(argument)),
    };
  }
  const self = frame.type(callee.self);
  const choice = frame.program.program.method(self, callee.interface, callee.name);
  if (choice !== null) return { kind: "function" as const, ...choice };
  return { kind: "derived" as const, name: callee.name, self };
}

/** The value of a call. */
export function lowerCall(frame: Frame, call: Expression & { readonly kind: "call" }): Value {
  if (call.callee.kind === "value") return lowerValueCall(frame, call, call.callee.expression);
  const callee = resolveCallee(frame, call.callee);
  if (callee.kind === "derived") {
    const values = frame.values(
      call.arguments.flatMap((argument) => argument.kind === "value" ? [argument.value] : []),
    );
    return derivedCall(frame, callee.name, callee.self, values);
  }
  const target = callee.function;
  if (target.linkage.kind === "intrinsic") {
    return lowerIntrinsic(frame, { target, typeArguments: callee.typeArguments, call });
  }
  if (isInlined(frame, target, call.arguments)) {
    const given = evaluateArguments(frame, call.arguments, inlinedClosures(target, call.arguments));
    return inlineCall(frame, target, {
      typeArguments: callee.typeArguments,
      args: given,
      place: frame.place(call.span),
    });
  }
  const args = evaluateArguments(frame, call.arguments);
  if (target.linkage.kind === "extern") {
    return callExtern(frame, call, target.linkage.module, target.name, args);
  }
  const instance = frame.program.instance(target, callee.typeArguments);
  return passArguments(frame, {
    args,
    call: (values) => frame.call(instance, values, frame.place(call.span)),
    resultCount: frame.layout(call.type).slots.length,
  });
}

const NO_CLOSURES: ReadonlySet<Expression> = new Set();

/** Evaluates arguments in turn, of places their indexes. */
export function evaluateArguments(
  frame: Frame,
  args: readonly Argument[],
  closures: ReadonlySet<Expression> = NO_CLOSURES,
): LoweredArgument[] {
  const hasInout = args.some((argument) => argument.kind === "inout");
  if (!hasInout && closures.size === 0) {
    const values = frame.values(
      args.flatMap((argument) => argument.kind === "value" ? [argument.value] : []),
    );
    return values.map((value) => ({ kind: "value", value }));
  }
  // What is a value here is kept from what the call may change.
  return args.map((argument): LoweredArgument => {
    if (argument.kind === "inout") return { kind: "inout", prepared: preparePlace(frame, argument.place) };
    if (argument.value.kind === "closure" && closures.has(argument.value)) {
      return { kind: "closure", expression: argument.value };
    }
    const layout = frame.layout(argument.value.type);
    return { kind: "value", value: frame.stableValue(frame.lower(argument.value), layout) };
  });
}

/** Hands arguments to a call and puts what `inout` gives back where it belongs. */
function passArguments(frame: Frame, options: {
  readonly args: readonly LoweredArgument[];
  readonly call: (values: readonly IrExpression[]) => Value;
  readonly resultCount: number;
}): Value {
  const locations: Location[] = [];
  const passed: IrExpression[] = [];
  for (const argument of options.args) {
    if (argument.kind === "value") passed.push(...argument.value);
    if (argument.kind !== "inout") continue;
    const location = resolvePlace(frame, argument.prepared);
    locations.push(location);
    passed.push(...ownedAll(takeLocation(frame, location)));
  }
  const results = options.call(passed);
  let position = options.resultCount;
  for (const location of locations) {
    const count = location.layout.slots.length;
    putLocation(frame, location, results.slice(position, position + count));
    position += count;
  }
  return results.slice(0, options.resultCount);
}

function lowerValueCall(
  frame: Frame,
  call: Expression & { readonly kind: "call" },
  callee: Expression,
): Value {
  if (callee.kind === "local" && frame.isBound(callee.local)) {
    const binding = frame.binding(callee.local);
    if (binding.kind === "closure") {
      return inlineClosure(frame, binding, evaluateArguments(frame, call.arguments));
    }
  }
  const target = frame.stable(single(frame, callee), frame.layout(callee.type).slots[0]);
  const args = evaluateArguments(frame, call.arguments);
  const parameters: IrSlot[] = [{ type: "i32", pointer: null }];
  const result = frame.layout(call.type);
  const results: IrSlot[] = [...result.slots];
  for (const argument of call.arguments) {
    const layout = frame.layout(argument.kind === "value" ? argument.value.type : argument.place.type);
    parameters.push(...layout.slots);
    if (argument.kind === "inout") results.push(...layout.slots);
  }
  return passArguments(frame, {
    args,
    call: (values) =>
      frame.callAny({
        kind: "indirect",
        place: frame.place(call.span),
        parameters,
        results,
        index: load("i32.load", target, CODE_OFFSET),
        args: [target, ...values],
      }, results),
    resultCount: result.slots.length,
  });
}

/** A function as a value: a cell that never changes, whose code ignores what it is given first. */
export function lowerFunctionValue(
  frame: Frame,
  callee: Exclude<Callee, { kind: "value" }>,
  expression: Expression,
): IrExpression {
  const type = frame.type(expression.type);
  const { shape, slots } = frame.layout(type);
  if (shape.kind !== "function") throw new Error("Cannot lower a function value: its type is none");
  const address = functionValue(frame, resolveCallee(frame, callee), type, expression.span);
  const local = frame.local("function", slots[0] ?? { type: "i32", pointer: null });
  frame.set(local, i32(address));
  return get(local);
}

const HOST_TYPES: Readonly<Partial<Record<PrimitiveName, HostType>>> = {
  Bool: "bool",
  Char: "char",
  Int: "s32",
  Int64: "s64",
  F32: "f32",
  Float: "f64",
  String: "string",
  Bytes: "bytes",
};

/** What a type is called between a module and its host; null for `()`. */
function hostType(type: Type): HostType | null {
  const name = primitiveOf(type);
  return name === null ? null : HOST_TYPES[name] ?? null;
}

/** A call of the host: texts and bytes go as address and length. */
function callExtern(
  frame: Frame,
  call: Expression & { readonly kind: "call" },
  module: string,
  name: string,
  args: readonly LoweredArgument[],
): Value {
  const passed: IrExpression[] = [];
  const parameters: IrSlot[] = [];
  for (const [index, argument] of call.arguments.entries()) {
    const lowered = args[index];
    if (argument.kind !== "value" || lowered?.kind !== "value") continue;
    const layout = frame.layout(argument.value.type);
    if (layout.shape.kind === "block") {
      const pointer = frame.reusable(lowered.value[0] ?? i32(0));
      passed.push({ kind: "op", op: "i32.add", args: [pointer, i32(16)] }, load("i32.load", pointer, 4));
      parameters.push({ type: "i32", pointer: null }, { type: "i32", pointer: null });
    } else {
      passed.push(...lowered.value);
      parameters.push(...layout.slots);
    }
  }
  const result = frame.layout(call.type);
  const host: ImportedFunction = {
    module,
    name,
    parameters: call.arguments.flatMap((argument) =>
      argument.kind === "value" ? [hostType(frame.type(argument.value.type)) ?? "s32"] : []
    ),
    result: hostType(frame.type(call.type)),
  };
  if (result.shape.kind !== "block") {
    return frame.call(frame.program.imported(host, parameters, result.slots), passed);
  }
  // A text or bytes: the host allocates them and writes pointer and length where the last argument points to.
  const scratch = i32(frame.program.resultCell());
  const target = frame.program.imported(host, [...parameters, { type: "i32", pointer: null }], []);
  frame.program.usesAllocate = true;
  frame.call(target, [...passed, scratch]);
  return [
    frame.helper(frame.program.runtime.receive(), [
      load("i32.load", scratch, 0),
      load("i32.load", scratch, 4),
    ], result.shape.cell),
  ];
}
