/**
 * Calls and closures.
 */
import type { Expression } from "../typed/tree.ts";
import type { Code, Frame } from "./frame.ts";
import { FunctionCompiler, isSimple } from "./function_compiler.ts";
import type { CompiledBody } from "./machine.ts";
import { type Argument, at, copied, functionOf, FunctionValue, type Value } from "./value.ts";

/** Gives the arguments of a call, places last. */
type ArgumentsCode = (frame: Frame) => Argument[];

function argumentsCode(
  node: Extract<Expression, { kind: "call" }>,
  compiler: FunctionCompiler,
): ArgumentsCode {
  const hasPlaces = node.arguments.some((argument) => argument.kind === "inout");
  if (!hasPlaces) {
    const values = node.arguments.map((argument, index) => {
      if (argument.kind === "inout") throw new Error("a place among values");
      const isSafe = node.arguments.slice(index + 1).every((later) =>
        later.kind === "value" && isSimple(later.value)
      );
      return compiler.expression(argument.value, !isSafe);
    });
    return (frame) => {
      const args = new Array<Argument>(values.length);
      for (let index = 0; index < values.length; index++) args[index] = valueAt(values, index)(frame);
      return args;
    };
  }
  // Beside a place every value is a copy: the call may change what it was read from.
  const steps = node.arguments.map((argument) => {
    if (argument.kind === "value") {
      const code = compiler.expression(argument.value, true);
      return (frame: Frame) => {
        const value = code(frame);
        return () => value;
      };
    }
    const place = compiler.place(argument);
    return (frame: Frame) => {
      const indexes = place.prepare(frame);
      return () => place.resolve(frame, indexes);
    };
  });
  return (frame) => steps.map((step) => step(frame)).map((finish): Argument => finish());
}

function valueAt(values: readonly Code[], index: number): Code {
  const code = values[index];
  if (code === undefined) throw new RangeError(`there is no argument ${index}`);
  return code;
}

/** Makes a call. */
export function callCode(node: Extract<Expression, { kind: "call" }>, compiler: FunctionCompiler): Code {
  const site = compiler.siteOf(node);
  const { callee } = node;
  if (callee.kind === "value") {
    const target = compiler.expression(callee.expression, true);
    const args = argumentsCode(node, compiler);
    return (frame) => {
      const called = functionOf(target(frame));
      return called.call(args(frame), site);
    };
  }
  const args = argumentsCode(node, compiler);
  // Instances are made when they are first called, so that functions may call one another.
  let invoke: ReturnType<typeof compiler.machine.invocation> | null = null;
  return (frame) => {
    invoke ??= compiler.machine.invocation(callee, compiler.substitution);
    return invoke(args(frame), site);
  };
}

/** Makes a closure. */
export function closureCode(
  node: Extract<Expression, { kind: "closure" }>,
  compiler: FunctionCompiler,
): Code {
  const captures = node.captures.map((local) => ({
    local,
    read: compiler.expression({ kind: "local", local, span: node.span, type: local.type }, true),
  }));
  let compiled: { readonly body: CompiledBody; readonly slots: readonly number[] } | null = null;
  const make = () => {
    const inner = new FunctionCompiler(
      compiler.machine,
      compiler.file,
      compiler.substitution,
      new Set(node.captures),
    );
    const slots = captures.map(({ local }) => inner.slotOf(local));
    return { body: inner.body(node.parameters, node.body, node.span), slots };
  };
  return (frame) => {
    const values: Value[] = captures.map(({ read }) => copied(read(frame)));
    return new FunctionValue((args, site) => {
      const { body, slots } = compiled ??= make();
      return compiler.machine.run(body, args, site, (own) => {
        slots.forEach((slot, index) => own.slots[slot] = at(values, index));
      });
    });
  };
}
