/**
 * Tests as functions that are exported: a body without a result, or the scores of an eval.
 */
import type { Expression, Local, TypedModule, TypedTest } from "../../typed/tree.ts";
import type { Type } from "../../types/type.ts";
import { type IrExpression, type IrFunction, newFunction, op } from "../node.ts";
import { primitiveOf } from "./memory.ts";
import { Frame, type Value } from "./frame.ts";
import type { ProgramLowering } from "./program.ts";

const UNIT: Type = { kind: "tuple", elements: [] };
const FLOAT: Type = { kind: "primitive", name: "Float" };

/** A function and the name it is exported by. */
export interface Exported {
  readonly name: string;
  readonly function: IrFunction;
}

/** The functions of a test. */
export function lowerTest(
  program: ProgramLowering,
  module: TypedModule,
  test: TypedTest,
  name: string,
): Exported[] {
  const write = (
    suffix: string,
    parameters: readonly Local[],
    result: Type,
    body: (frame: Frame) => Value,
  ): Exported => {
    const made = newFunction(`${module.name}.${name}${suffix}`, {
      place: { file: module.file, offset: test.span.start },
    });
    const frame = new Frame({
      program,
      function: made,
      file: module.file,
      source: null,
      put: new Map(),
      result,
    });
    frame.declareParameters(parameters);
    frame.return(body(frame));
    program.addFunction(made);
    return { name: name + suffix, function: made };
  };
  const { body, threshold } = test;
  if (body !== null) {
    return [write("", test.parameters, UNIT, (frame) => {
      frame.lower(body);
      return [];
    })];
  }
  const exported = test.cases.map(({ score }, index) =>
    write(`_case_${index}`, [], FLOAT, (frame) => [scoreOf(frame, score)])
  );
  if (threshold !== null) {
    exported.push(write("_threshold", [], FLOAT, (frame) => [scoreOf(frame, threshold)]));
  }
  return exported;
}

/** A score as a float; `Bool` counts as 0 or 1. */
function scoreOf(frame: Frame, expression: Expression): IrExpression {
  const [value] = frame.lower(expression);
  if (value === undefined) return { kind: "const", type: "f64", value: 0 };
  return primitiveOf(frame.type(expression.type)) === "Float" ? value : op("f64.convert_i32_u", value);
}
