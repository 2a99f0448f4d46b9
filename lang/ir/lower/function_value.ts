/** Functions as values: a static cell each, and code that takes the cell as its environment. */
import type { Type } from "../../types/type.ts";
import type { Span } from "../../source/source_file.ts";
import { get, type IrExpression, type IrFunction, newFunction, newLocal } from "../node.ts";
import type { resolveCallee } from "./call.ts";
import { derivedCall } from "./derived.ts";
import { Frame, type Value } from "./frame.ts";
import type { ProgramLowering } from "./program.ts";

type Callee = ReturnType<typeof resolveCallee>;

/** The address of the cell of a function as a value. */
export function functionValue(frame: Frame, callee: Callee, type: Type, span: Span): number {
  if (type.kind !== "function") throw new Error("Cannot lower a function value: its type is no function");
  const { program } = frame;
  if (callee.kind === "function" && callee.function.body !== null) {
    const target = program.instance(callee.function, callee.typeArguments);
    const known = program.functionValues.get(target);
    if (known !== undefined) return known;
    const address = program.statics.constantClosure(program.tableIndex(adapterOf(program, target)));
    program.functionValues.set(target, address);
    return address;
  }
  const key = `${callee.kind === "derived" ? callee.name : callee.function.id}|${program.layouts.key(type)}`;
  const known = program.functionValues.get(key);
  if (known !== undefined) return known;
  const address = program.statics.constantClosure(program.tableIndex(wrapperOf(frame, callee, type, span)));
  program.functionValues.set(key, address);
  return address;
}

/** Code of a function value: drops the cell that it is given and calls the function. */
function adapterOf(program: ProgramLowering, target: IrFunction): IrFunction {
  const made = newFunction(`${target.name}.value`, {});
  made.parameters.push(newLocal(made, { name: "environment", type: "i32" }));
  const args: IrExpression[] = [];
  for (const parameter of target.parameters) {
    const { name, type, pointer, isBorrowed } = parameter;
    const local = newLocal(made, { name, type, pointer, isBorrowed });
    made.parameters.push(local);
    args.push(pointer !== null && !isBorrowed ? { kind: "own", local } : get(local));
  }
  made.results = target.results;
  const results = target.results.map((slot) =>
    newLocal(made, { name: "r", type: slot.type, pointer: slot.pointer })
  );
  const call = { kind: "call" as const, function: target, args };
  const [only] = results;
  if (only === undefined) made.body = [{ kind: "call", call }];
  else if (results.length === 1) made.body = [{ kind: "set", local: only, value: call }];
  else made.body = [{ kind: "multi", locals: results, call }];
  made.body.push({
    kind: "return",
    values: results.map((local) => local.pointer === null ? get(local) : { kind: "own", local }),
  });
  program.functions.push(made);
  return made;
}

/** Code of a function value whose body is here: an intrinsic, a derived function or one of the host. */
function wrapperOf(frame: Frame, callee: Callee, type: Type, span: Span): IrFunction {
  if (type.kind !== "function") throw new Error("Cannot lower a function value: its type is no function");
  const made = newFunction(`${callee.kind === "derived" ? callee.name : callee.function.id}.value`, {});
  made.parameters.push(newLocal(made, { name: "environment", type: "i32" }));
  const inner = new Frame({
    program: frame.program,
    function: made,
    file: frame.file,
    source: null,
    put: new Map(),
    result: type.result,
  });
  const locals = type.parameters.map((parameter, index) => ({
    id: index,
    name: `argument${index}`,
    type: parameter.type,
    kind: parameter.isInout ? "inout" as const : "parameter" as const,
    span,
  }));
  inner.declareParameters(locals);
  if (callee.kind === "derived") {
    const values = locals.map((local): Value => {
      const binding = inner.binding(local);
      return binding.kind === "value" ? binding.value : [];
    });
    inner.return(derivedCall(inner, callee.name, callee.self, values));
  } else {
    inner.return(inner.lower({
      kind: "call",
      span,
      type: type.result,
      callee: { kind: "function", function: callee.function, typeArguments: callee.typeArguments },
      arguments: locals.map((local) =>
        local.kind === "inout"
          ? { kind: "inout", place: { kind: "local", span, type: local.type, local } }
          : { kind: "value", value: { kind: "local", span, type: local.type, local } }
      ),
    }));
  }
  frame.program.functions.push(made);
  return made;
}
