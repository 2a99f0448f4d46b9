/**
 * Writes helper functions of the run-time over plain addresses, statement by statement.
 */
import {
  get,
  i32,
  type IrExpression,
  type IrFunction,
  type IrLocal,
  type Label,
  load,
  newFunction,
  newLocal,
  op,
  type ScalarType,
  type Statement,
  type TrapSite,
} from "./node.ts";

/** A function being written. */
export class RawBuilder {
  readonly function: IrFunction;
  #out: Statement[] = [];

  constructor(name: string) {
    this.function = newFunction(name, { isRaw: true });
    this.function.body = this.#out;
  }

  /** A parameter. */
  parameter(name: string, type: ScalarType = "i32"): IrLocal {
    const local = newLocal(this.function, { name, type, isMutable: true });
    this.function.parameters.push(local);
    return local;
  }

  /** What it gives. */
  result(type: ScalarType = "i32"): void {
    this.function.results.push({ type, pointer: null });
  }

  /** A variable with a first value. */
  local(name: string, value: IrExpression, type: ScalarType = "i32"): IrLocal {
    const local = newLocal(this.function, { name, type, isMutable: true });
    this.set(local, value);
    return local;
  }

  /** A variable without a value. */
  declare(name: string, type: ScalarType = "i32"): IrLocal {
    return newLocal(this.function, { name, type, isMutable: true });
  }

  /** Any statement. */
  add(statement: Statement): void {
    this.#out.push(statement);
  }

  /** Assigns. */
  set(local: IrLocal, value: IrExpression): void {
    this.#out.push({ kind: "set", local, value });
  }

  /** Stores a word. */
  store(address: IrExpression, offset: number, value: IrExpression, name = "i32.store"): void {
    this.#out.push({ kind: "store", op: name, address, offset, value });
  }

  /** Calls a function without results. */
  call(target: IrFunction, ...args: IrExpression[]): void {
    this.#out.push({ kind: "call", call: { kind: "call", function: target, args } });
  }

  /** Copies bytes, which may overlap. */
  copy(to: IrExpression, from: IrExpression, bytes: IrExpression): void {
    this.#out.push({ kind: "copy", to, from, bytes });
  }

  /** Fills bytes. */
  fill(to: IrExpression, byte: IrExpression, bytes: IrExpression): void {
    this.#out.push({ kind: "fill", to, byte, bytes });
  }

  /** Two ways. */
  if(condition: IrExpression, then: () => void, otherwise: () => void = () => {}): void {
    this.#out.push({ kind: "if", condition, then: this.collect(then), otherwise: this.collect(otherwise) });
  }

  /** Repeats while the body does not leave. */
  loop(name: string, body: (again: Label) => void): void {
    const label: Label = { name };
    this.#out.push({ kind: "loop", label, body: this.collect(() => body(label)) });
  }

  /** A block that can be left. */
  block(name: string, body: (out: Label) => void): void {
    const label: Label = { name };
    this.#out.push({ kind: "block", label, body: this.collect(() => body(label)) });
  }

  /** Branches. */
  branch(label: Label): void {
    this.#out.push({ kind: "branch", label });
  }

  /** Leaves. */
  return(...values: IrExpression[]): void {
    this.#out.push({ kind: "return", values });
  }

  /** Traps when the condition holds. */
  check(condition: IrExpression, site: TrapSite): void {
    this.#out.push({ kind: "check", condition, site });
  }

  /** One more in the count of what may be 0. */
  retain(pointer: IrLocal): void {
    this.store(get(pointer), 0, op("i32.add", load("i32.load", get(pointer), 0), i32(1)));
  }

  /** The statements that a function writes. */
  collect(write: () => void): Statement[] {
    const outer = this.#out;
    const inner: Statement[] = [];
    this.#out = inner;
    try {
      write();
    } finally {
      this.#out = outer;
    }
    return inner;
  }
}
