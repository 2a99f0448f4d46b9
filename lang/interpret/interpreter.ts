/**
 * The interpreter: runs functions and tests of a checked program plainly, as a second opinion on what compiled code
 * does.
 *
 * Pure: what a program asks of the world goes to a {@link Host}. A program that traps throws a {@link
 * ProgramTrap}.
 */
import type { TypedFunction, TypedModule, TypedProgram, TypedTest } from "../typed/tree.ts";
import type { Type } from "../types/type.ts";
import { Frame } from "./frame.ts";
import { FunctionCompiler } from "./function_compiler.ts";
import type { Host } from "./host.ts";
import { Machine } from "./machine.ts";
import { Reference, type Value } from "./value.ts";

export { type Host, type HostCall, type HostValue, RecordingHost } from "./host.ts";
export { ExpectationTrap, ProgramTrap, type Site } from "./trap.ts";

/** A run of a program: static cells and constants last as long as it does. */
export class Interpreter {
  readonly #machine: Machine;

  constructor(program: TypedProgram, host: Host) {
    this.#machine = new Machine(program, host);
  }

  /** Calls a function without type parameters; `inout` parameters change the elements of `args`. */
  call(fn: TypedFunction, args: Value[] = []): Value {
    const invocation = this.#machine.instance(fn, []);
    const given = fn.parameters.map((parameter, index) => {
      const value = args[index];
      if (value === undefined) throw new RangeError(`Cannot call ${fn.id}: argument ${index} is missing`);
      return parameter.kind === "inout" ? new Reference(args, index) : value;
    });
    return invocation(given, { file: fn.file, span: fn.nameSpan });
  }

  /** Runs a test, example or property with its arguments; throws a trap when it fails. */
  runTest(module: TypedModule, test: TypedTest, args: readonly Value[] = []): void {
    if (test.body === null) throw new RangeError(`Cannot run the test ${test.name}: it is an eval`);
    const compiler = new FunctionCompiler(this.#machine, module.file, new Map());
    const body = compiler.body(test.parameters, test.body, test.span);
    this.#machine.run(body, args, { file: module.file, span: test.span }, null);
  }

  /** The score of one case of an eval, from 0 to 1. */
  score(module: TypedModule, test: TypedTest, caseIndex: number): number {
    const expression = test.cases[caseIndex]?.score;
    if (expression === undefined) {
      throw new RangeError(`Cannot score ${test.name}: there is no case ${caseIndex}`);
    }
    const compiler = new FunctionCompiler(this.#machine, module.file, new Map());
    const code = compiler.expression(expression, true);
    return Number(code(new Frame(compiler.slotCount)));
  }

  /** The text of a value as the program would write it. */
  show(value: Value, type: Type): string {
    return new TextDecoder().decode(this.#machine.structure.show(type)(value));
  }
}
