/**
 * A program that is being run: instances of its functions, made when they are first called, and what they share.
 */
import { LANG_LIMITS } from "../limits.ts";
import type { Callee, TypedConstant, TypedFunction, TypedProgram } from "../typed/tree.ts";
import type { InterfaceDefinition, Type } from "../types/type.ts";
import { type Code, ControlSignal, Frame } from "./frame.ts";
import { FunctionCompiler } from "./function_compiler.ts";
import type { Host, HostValue } from "./host.ts";
import { INTRINSIC_FUNCTIONS, newIntrinsicState } from "./intrinsics.ts";
import { Structure } from "./structure.ts";
import { ProgramTrap, type Site } from "./trap.ts";
import { substitute, type Substitution, substitutionOf, typeKey } from "./types.ts";
import {
  type Argument,
  BytesValue,
  copied,
  decodeText,
  encodeText,
  FunctionValue,
  InterpreterFault,
  Reference,
  UNIT_VALUE,
  type Value,
  valueOf,
} from "./value.ts";

/** Something that can be called with its arguments. */
export type Invocation = (args: readonly Argument[], site: Site) => Value;

/** What is run inside of a frame: a body with the places of its parameters. */
export interface CompiledBody {
  readonly code: Code;
  readonly slotCount: number;
  /** Slot of each parameter; -1 - n for the n-th of those held `inout`. */
  readonly parameterSlots: readonly number[];
  /** The function's name, where a call that is too deep is reported. */
  readonly entry: Site;
}

/** Program, host and everything that was made from them so far. */
export class Machine {
  readonly program: TypedProgram;
  readonly host: Host;
  readonly structure: Structure;
  readonly #instances = new Map<string, Invocation>();
  readonly #constants = new Map<TypedConstant, Value>();
  readonly #intrinsicState = newIntrinsicState();
  #depth = 0;

  constructor(program: TypedProgram, host: Host) {
    this.program = program;
    this.host = host;
    this.structure = new Structure(
      program,
      (type, definition, name) => this.#methodCaller(type, definition, name),
    );
  }

  /** The value of a constant, worked out once. */
  constant(constant: TypedConstant): Value {
    const known = this.#constants.get(constant);
    if (known !== undefined) return known;
    const compiler = new FunctionCompiler(this, constant.file, new Map());
    const code = compiler.expression(constant.value, true);
    const value = copied(code(new Frame(compiler.slotCount)));
    this.#constants.set(constant, value);
    return value;
  }

  /** What a callee stands for where the type parameters are known. */
  invocation(callee: Exclude<Callee, { kind: "value" }>, substitution: Substitution): Invocation {
    if (callee.kind === "function") {
      const types = callee.typeArguments.map((type) => substitute(type, substitution));
      return this.instance(callee.function, types);
    }
    const self = substitute(callee.self, substitution);
    const choice = this.program.method(self, callee.interface, callee.name);
    if (choice !== null) return this.instance(choice.function, choice.typeArguments);
    return this.#derived(self, callee.interface);
  }

  #derived(type: Type, definition: InterfaceDefinition): Invocation {
    const { structure } = this;
    switch (definition.derived) {
      case "Eq": {
        const equals = structure.equals(type);
        return (args) => equals(valueOf(args[0]), valueOf(args[1]));
      }
      case "Ord": {
        const compare = structure.compare(type);
        return (args) => structure.order(compare(valueOf(args[0]), valueOf(args[1])));
      }
      case "Hash": {
        const hash = structure.hash(type);
        return (args) => hash(valueOf(args[0]));
      }
      case "Show": {
        const show = structure.show(type);
        return (args) => show(valueOf(args[0]));
      }
      case null:
        throw new InterpreterFault(`${typeKey(type)} has no ${definition.name}`);
    }
  }

  #methodCaller(
    type: Type,
    definition: InterfaceDefinition,
    name: string,
  ): ((args: readonly Value[]) => Value) | null {
    const choice = this.program.method(type, definition, name);
    if (choice === null) return null;
    const invocation = this.instance(choice.function, choice.typeArguments);
    const site: Site = { file: choice.function.file, span: choice.function.nameSpan };
    return (args) => invocation(args, site);
  }

  /** A function with types for its parameters. */
  instance(fn: TypedFunction, types: readonly Type[]): Invocation {
    const key = types.length === 0 ? fn.id : `${fn.id}[${types.map(typeKey).join(",")}]`;
    const known = this.#instances.get(key);
    if (known !== undefined) return known;
    const made = this.#makeInstance(fn, types);
    this.#instances.set(key, made);
    return made;
  }

  #makeInstance(fn: TypedFunction, types: readonly Type[]): Invocation {
    if (fn.linkage.kind === "intrinsic") {
      const body = INTRINSIC_FUNCTIONS.get(fn.id);
      if (body === undefined) throw new InterpreterFault(`the intrinsic ${fn.id} is not known`);
      return (args, site) => body(args, site, this.#intrinsicState);
    }
    if (fn.linkage.kind === "extern") return this.#externInvocation(fn, fn.linkage.module);
    const { body } = fn;
    if (body === null) throw new InterpreterFault(`${fn.id} has no body`);
    let compiled: CompiledBody | null = null;
    return (args, site) => {
      if (compiled === null) {
        const compiler = new FunctionCompiler(this, fn.file, substitutionOf(fn.typeParameters, types));
        compiled = compiler.body(fn.parameters, body, fn.nameSpan);
      }
      return this.run(compiled, args, site, null);
    };
  }

  #externInvocation(fn: TypedFunction, module: string): Invocation {
    return (args) => {
      const result = this.host.call({ module, name: fn.name, args: args.map((arg) => toHost(valueOf(arg))) });
      return fromHost(result, fn);
    };
  }

  /** Runs a body; `captured` fills the slots of a closure before the parameters. */
  run(
    body: CompiledBody,
    args: readonly Argument[],
    site: Site,
    captured: ((frame: Frame) => void) | null,
  ): Value {
    const frame = new Frame(body.slotCount);
    if (captured !== null) captured(frame);
    for (let index = 0; index < args.length; index++) {
      const arg = args[index];
      const slot = body.parameterSlots[index];
      if (arg === undefined || slot === undefined) {
        throw new InterpreterFault("there are more arguments than parameters");
      }
      if (arg instanceof Reference) frame.references[-1 - slot] = arg;
      else frame.slots[slot] = arg;
    }
    if (this.#depth >= LANG_LIMITS.maximumCallDepth) throw depthTrap(body.entry);
    this.#depth++;
    try {
      return body.code(frame);
    } catch (error) {
      if (error instanceof ControlSignal && typeof error.completion !== "symbol") return error.completion;
      // The stack of the interpreter itself may end first; where there is no room for the trap either, the caller
      // makes it.
      if (error instanceof RangeError) throw depthTrap(body.entry);
      if (error instanceof ProgramTrap && error.calls.length < LANG_LIMITS.maximumCallDepth) {
        error.calls.push(site);
      }
      throw error;
    } finally {
      this.#depth--;
    }
  }

  /** A function as a value. */
  functionValue(invocation: Invocation): FunctionValue {
    return new FunctionValue(invocation);
  }
}

function depthTrap(site: Site): ProgramTrap {
  return new ProgramTrap("depth", site, "Cannot call the function: the calls are too deep");
}

function toHost(value: Value): HostValue {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return value;
  if (value instanceof Uint8Array) return decodeText(value);
  if (value instanceof BytesValue) return value.view().slice();
  throw new InterpreterFault("a value of this type cannot be given to the host");
}

function fromHost(result: HostValue, fn: TypedFunction): Value {
  const { result: type } = fn;
  if (type.kind === "tuple") return UNIT_VALUE;
  if (type.kind === "primitive" && type.name === "String" && typeof result === "string") {
    return encodeText(result);
  }
  if (type.kind === "primitive" && type.name === "Bytes" && result instanceof Uint8Array) {
    return new BytesValue(result);
  }
  if (typeof result === "number" || typeof result === "bigint" || typeof result === "boolean") return result;
  throw new InterpreterFault(`the host gave ${typeof result} for ${fn.id}`);
}
