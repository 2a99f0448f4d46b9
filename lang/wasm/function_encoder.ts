/**
 * The body of one function in the binary format.
 *
 * Variables that nobody mentions get no number. A variable that is set and read at once, and never again, stays on
 * the stack; one that is read at once and again later is set by `local.tee`. An `if` that only branches becomes
 * `br_if`.
 */
import type {
  IrCall,
  IrExpression,
  IrFunction,
  IrLocal,
  IrPosition,
  Label,
  ScalarType,
  Statement,
} from "../ir/node.ts";
import { accessShape, operationShape } from "../ir/operations.ts";
import { expressionsOf, visitExpression } from "../ir/visit.ts";
import { WasmByteWriter as ByteWriter } from "../../engine/base/wasm_byte_writer.ts";

/** What a function's code needs to know of the module. */
export interface ModuleIndexes {
  functionIndex(target: IrFunction): number;
  globalIndex(name: string): number;
  typeIndex(parameters: readonly ScalarType[], results: readonly ScalarType[]): number;
  /** Called for a call through the table, which the module then needs, also when no function is a value. */
  needTable(): void;
}

/** Where in the code a place of the source begins. */
export interface CodePosition {
  /** Bytes from the start of the code (behind the body's length). */
  offset: number;
  readonly place: IrPosition;
}

/** Codes of the value types. */
export const TYPE_CODES: Readonly<Record<ScalarType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
};

const EMPTY_BLOCK = 0x40;

/** Encodes one body. */
export class FunctionEncoder {
  readonly #function: IrFunction;
  readonly #module: ModuleIndexes;
  readonly #trapGlobal: number;
  readonly #gasGlobal: number;
  readonly #gasSite: number;
  readonly #out = new ByteWriter();
  readonly #labels: (Label | null)[] = [];
  readonly #numbers = new Map<IrLocal, number>();
  readonly #reads = new Map<IrLocal, number>();
  readonly #writes = new Map<IrLocal, number>();
  /** Names of the numbered variables, for the name section. */
  readonly localNames: string[] = [];
  readonly places: CodePosition[] = [];
  #lastSet: IrLocal | null = null;
  #lastSetStart = -1;
  #lastSetEnd = -1;
  #pendingPlace: IrPosition | null = null;
  /** The place of the statement that is being written. */
  #place: IrPosition | null = null;

  constructor(
    owner: IrFunction,
    module: ModuleIndexes,
    globals: { readonly trap: number; readonly gas: number; readonly gasSite: number },
  ) {
    this.#function = owner;
    this.#module = module;
    this.#trapGlobal = globals.trap;
    this.#gasGlobal = globals.gas;
    this.#gasSite = globals.gasSite;
  }

  /** The body with its variables, without the length before it. */
  encode(): ByteWriter {
    const body = this.#function.body ?? [];
    this.#count(body);
    const code = this.#out;
    this.#numberLocals(code);
    this.#statements(body);
    const last = body[body.length - 1];
    // Behind the end of a block the engine takes control to come here, also where it never does.
    const leaves = last !== undefined &&
      (last.kind === "return" || last.kind === "trap" || last.kind === "branch");
    if (this.#function.results.length > 0 && !leaves) code.byte(0x00);
    code.byte(0x0b);
    return code;
  }

  #count(statements: readonly Statement[]): void {
    const read = (expression: IrExpression): void => {
      if (expression.kind === "get" || expression.kind === "own") {
        this.#reads.set(expression.local, (this.#reads.get(expression.local) ?? 0) + 1);
      }
    };
    for (const statement of statements) {
      for (const expression of expressionsOf(statement)) visitExpression(expression, read);
      if (statement.kind === "check") {
        for (const [, value] of reportedIndex(statement) ?? []) visitExpression(value, read);
      }
      switch (statement.kind) {
        case "set":
          this.#writes.set(statement.local, (this.#writes.get(statement.local) ?? 0) + 1);
          break;
        case "multi":
          for (const local of statement.locals) this.#writes.set(local, (this.#writes.get(local) ?? 0) + 1);
          break;
        case "if":
          this.#count(statement.then);
          this.#count(statement.otherwise);
          break;
        case "block":
        case "loop":
          this.#count(statement.body);
          break;
        case "switch":
          for (const body of statement.cases) this.#count(body);
          break;
        case "retain":
          this.#reads.set(statement.local, (this.#reads.get(statement.local) ?? 0) + 2);
          break;
        case "release":
          this.#reads.set(statement.local, (this.#reads.get(statement.local) ?? 0) + 1);
          break;
        case "unique":
          this.#reads.set(statement.local, (this.#reads.get(statement.local) ?? 0) + 2);
          this.#writes.set(statement.local, (this.#writes.get(statement.local) ?? 0) + 1);
          break;
        default:
      }
    }
  }

  #numberLocals(code: ByteWriter): void {
    for (const parameter of this.#function.parameters) {
      this.#numbers.set(parameter, this.#numbers.size);
      this.localNames.push(parameter.name);
    }
    const groups: { type: ScalarType; locals: IrLocal[] }[] = [];
    for (const type of ["i32", "i64", "f32", "f64"] satisfies ScalarType[]) {
      const locals = this.#function.locals.filter((local) =>
        local.type === type && !this.#numbers.has(local) &&
        (this.#reads.get(local) ?? 0) > 0
      );
      if (locals.length > 0) groups.push({ type, locals });
    }
    code.unsigned(groups.length);
    for (const { type, locals } of groups) {
      code.unsigned(locals.length);
      code.byte(TYPE_CODES[type]);
      for (const local of locals) {
        this.#numbers.set(local, this.#numbers.size);
        this.localNames.push(local.name);
      }
    }
  }

  #number(local: IrLocal): number {
    const number = this.#numbers.get(local);
    if (number === undefined) {
      throw new Error(`Cannot encode ${this.#function.name}: the variable ${local.name} is not its own`);
    }
    return number;
  }

  #statements(statements: readonly Statement[]): void {
    for (const statement of statements) {
      if (statement.kind === "at") {
        this.#pendingPlace = statement.place;
        continue;
      }
      if (this.#pendingPlace !== null) {
        this.places.push({ offset: this.#out.length, place: this.#pendingPlace });
        this.#place = this.#pendingPlace;
        this.#pendingPlace = null;
      }
      this.#statement(statement);
    }
  }

  #statement(statement: Statement): void {
    const out = this.#out;
    switch (statement.kind) {
      case "set":
        this.#expression(statement.value);
        this.#set(statement.local);
        return;
      case "multi":
        this.#call(statement.call);
        for (let index = statement.locals.length - 1; index >= 0; index--) {
          const local = statement.locals[index];
          if (local !== undefined) this.#set(local);
        }
        return;
      case "set-global":
        this.#expression(statement.value);
        out.byte(0x24);
        out.unsigned(this.#module.globalIndex(statement.global.name));
        return;
      case "store": {
        this.#expression(statement.address);
        this.#expression(statement.value);
        this.#access(statement.op, statement.offset);
        return;
      }
      case "call":
        this.#call(statement.call);
        return;
      case "copy":
        this.#expression(statement.to);
        this.#expression(statement.from);
        this.#expression(statement.bytes);
        out.bytes(Uint8Array.of(0xfc, 0x0a, 0, 0));
        return;
      case "fill":
        this.#expression(statement.to);
        this.#expression(statement.byte);
        this.#expression(statement.bytes);
        out.bytes(Uint8Array.of(0xfc, 0x0b, 0));
        return;
      case "if":
        this.#if(statement.condition, statement.then, statement.otherwise);
        return;
      case "block":
      case "loop":
        out.byte(statement.kind === "block" ? 0x02 : 0x03);
        out.byte(EMPTY_BLOCK);
        this.#labels.push(statement.label);
        this.#statements(statement.body);
        this.#labels.pop();
        out.byte(0x0b);
        return;
      case "branch":
        out.byte(0x0c);
        out.unsigned(this.#depth(statement.label));
        return;
      case "switch":
        this.#switch(statement.index, statement.cases);
        return;
      case "return":
        for (const value of statement.values) this.#expression(value);
        out.byte(0x0f);
        return;
      case "check":
        this.#expression(statement.condition);
        out.byte(0x04);
        out.byte(EMPTY_BLOCK);
        // What traps has a place of its own within the statement.
        if (statement.site.place !== null) {
          this.places.push({ offset: out.length, place: statement.site.place });
        }
        this.#reportIndex(statement);
        this.#trap(statement.site.number);
        out.byte(0x0b);
        if (statement.site.place !== null && this.#place !== null) {
          this.places.push({ offset: out.length, place: this.#place });
        }
        return;
      case "trap":
        if (statement.site.place !== null) {
          this.places.push({ offset: out.length, place: statement.site.place });
        }
        this.#trap(statement.site.number);
        return;
      case "retain": {
        const number = this.#number(statement.local);
        this.#get(statement.local);
        out.byte(0x20);
        out.unsigned(number);
        this.#access("i32.load", 0);
        out.byte(0x41);
        out.byte(1);
        out.byte(0x6a);
        this.#access("i32.store", 0);
        return;
      }
      case "release": {
        const pointer = statement.local.pointer;
        if (pointer === null) throw new Error(`Cannot release ${statement.local.name}: it is no pointer`);
        this.#get(statement.local);
        out.byte(0x10);
        out.unsigned(this.#module.functionIndex(pointer.release()));
        return;
      }
      case "unique": {
        const pointer = statement.local.pointer;
        if (pointer === null) throw new Error(`Cannot make ${statement.local.name} unique: it is no pointer`);
        this.#get(statement.local);
        this.#access("i32.load", 0);
        out.byte(0x41);
        out.byte(1);
        out.byte(0x47);
        out.byte(0x04);
        out.byte(EMPTY_BLOCK);
        this.#get(statement.local);
        out.byte(0x10);
        out.unsigned(this.#module.functionIndex(pointer.unshare()));
        out.byte(0x21);
        out.unsigned(this.#number(statement.local));
        out.byte(0x0b);
        return;
      }
      case "charge":
        this.#charge(statement.amount, statement.bytes);
        return;
      case "at":
      case "touch":
        return;
    }
  }

  #charge(amount: number, bytes: IrExpression | null): void {
    const out = this.#out;
    out.byte(0x23);
    out.unsigned(this.#gasGlobal);
    out.byte(0x42);
    out.signed64(BigInt(amount));
    if (bytes !== null) {
      this.#expression(bytes);
      out.byte(0xad);
      out.byte(0x7c);
    }
    out.byte(0x7d);
    out.byte(0x24);
    out.unsigned(this.#gasGlobal);
    out.byte(0x23);
    out.unsigned(this.#gasGlobal);
    out.byte(0x42);
    out.byte(0);
    out.byte(0x53);
    out.byte(0x04);
    out.byte(EMPTY_BLOCK);
    this.#trap(this.#gasSite);
    out.byte(0x0b);
  }

  /**
   * Puts the index and the length of a check of bounds where a host finds them; they are worked out again, since only
   * what traps needs them.
   */
  #reportIndex(check: Statement & { readonly kind: "check" }): void {
    const told = reportedIndex(check);
    if (told === null) return;
    for (const [name, value] of told) {
      this.#expression(value);
      this.#out.byte(0x24);
      this.#out.unsigned(this.#module.globalIndex(name));
    }
  }

  #trap(site: number): void {
    const out = this.#out;
    out.byte(0x41);
    out.signed(site);
    out.byte(0x24);
    out.unsigned(this.#trapGlobal);
    out.byte(0x00);
  }

  #if(condition: IrExpression, then: readonly Statement[], otherwise: readonly Statement[]): void {
    const out = this.#out;
    let test = condition;
    let first = then;
    let second = otherwise;
    while (
      test.kind === "op" && test.op === "i32.eqz" && test.args[0] !== undefined &&
      (first.length === 0 || second.length > 0)
    ) {
      test = test.args[0];
      [first, second] = [second, first];
    }
    if (first.length === 0 && second.length > 0) {
      test = { kind: "op", op: "i32.eqz", args: [test] };
      [first, second] = [second, first];
    }
    const written = first.filter((statement) => statement.kind !== "at");
    const only = written.length === 1 ? written[0] : undefined;
    this.#expression(test);
    if (second.length === 0 && only !== undefined && only.kind === "branch") {
      out.byte(0x0d);
      out.unsigned(this.#depth(only.label));
      return;
    }
    out.byte(0x04);
    out.byte(EMPTY_BLOCK);
    this.#labels.push(null);
    this.#statements(first);
    if (second.length > 0) {
      out.byte(0x05);
      this.#statements(second);
    }
    this.#labels.pop();
    out.byte(0x0b);
  }

  /** Nested blocks, one for each case and one around all; each case ends with a branch out of all. */
  #switch(index: IrExpression, cases: readonly Statement[][]): void {
    const out = this.#out;
    for (let count = 0; count <= cases.length; count++) {
      out.byte(0x02);
      out.byte(EMPTY_BLOCK);
      this.#labels.push(null);
    }
    this.#expression(index);
    out.byte(0x0e);
    out.unsigned(cases.length - 1);
    for (let target = 0; target < cases.length; target++) out.unsigned(target);
    for (const [position, body] of cases.entries()) {
      this.#labels.pop();
      out.byte(0x0b);
      this.#statements(body);
      if (position < cases.length - 1 && !endsInLeaving(body)) {
        out.byte(0x0c);
        out.unsigned(cases.length - 1 - position);
      }
    }
    this.#labels.pop();
    out.byte(0x0b);
  }

  #depth(label: Label): number {
    const position = this.#labels.lastIndexOf(label);
    if (position < 0) {
      throw new Error(`Cannot branch to ${label.name} in ${this.#function.name}: it is not around`);
    }
    return this.#labels.length - 1 - position;
  }

  #set(local: IrLocal): void {
    const out = this.#out;
    if ((this.#reads.get(local) ?? 0) === 0) {
      out.byte(0x1a);
      return;
    }
    this.#lastSet = local;
    this.#lastSetStart = out.length;
    out.byte(0x21);
    out.unsigned(this.#number(local));
    this.#lastSetEnd = out.length;
  }

  #get(local: IrLocal): void {
    const out = this.#out;
    if (this.#lastSet === local && this.#lastSetEnd === out.length) {
      if ((this.#reads.get(local) ?? 0) === 1 && (this.#writes.get(local) ?? 0) === 1) {
        out.truncate(this.#lastSetStart);
        const place = this.places[this.places.length - 1];
        if (place !== undefined && place.offset > out.length) place.offset = out.length;
      } else {
        out.patch(this.#lastSetStart, 0x22);
      }
      this.#lastSet = null;
      return;
    }
    out.byte(0x20);
    out.unsigned(this.#number(local));
  }

  #expression(expression: IrExpression): void {
    const out = this.#out;
    switch (expression.kind) {
      case "const":
        this.#constant(expression.type, expression.value);
        return;
      case "get":
      case "own":
        this.#get(expression.local);
        return;
      case "op": {
        for (const operand of expression.args) this.#expression(operand);
        const code = operationShape(expression.op).code;
        if (code >= 0xfc00) {
          out.byte(0xfc);
          out.unsigned(code & 0xff);
        } else {
          out.byte(code);
        }
        return;
      }
      case "load":
        this.#expression(expression.address);
        this.#access(expression.op, expression.offset);
        return;
      case "select":
        this.#expression(expression.then);
        this.#expression(expression.otherwise);
        this.#expression(expression.condition);
        out.byte(0x1b);
        return;
      case "global":
        out.byte(0x23);
        out.unsigned(this.#module.globalIndex(expression.global.name));
        return;
      case "memory-size":
        out.byte(0x3f);
        out.byte(0);
        return;
      case "memory-grow":
        this.#expression(expression.pages);
        out.byte(0x40);
        out.byte(0);
        return;
      case "call":
      case "indirect":
        this.#call(expression);
        return;
    }
  }

  #constant(type: ScalarType, value: number | bigint): void {
    const out = this.#out;
    switch (type) {
      case "i32":
        out.byte(0x41);
        out.signed(Number(value));
        return;
      case "i64":
        out.byte(0x42);
        out.signed64(BigInt(value));
        return;
      case "f32":
        out.byte(0x43);
        out.float32(Number(value));
        return;
      case "f64":
        out.byte(0x44);
        out.float64(Number(value));
        return;
    }
  }

  #call(call: IrCall): void {
    const out = this.#out;
    for (const operand of call.args) this.#expression(operand);
    if (call.kind === "indirect") this.#expression(call.index);
    if (call.place !== undefined) this.places.push({ offset: out.length, place: call.place });
    if (call.kind === "call") {
      out.byte(0x10);
      out.unsigned(this.#module.functionIndex(call.function));
      return;
    }
    this.#module.needTable();
    out.byte(0x11);
    out.unsigned(
      this.#module.typeIndex(call.parameters.map((slot) => slot.type), call.results.map((slot) => slot.type)),
    );
    out.byte(0);
  }

  #access(name: string, offset: number): void {
    const { code, bytes } = accessShape(name);
    this.#out.byte(code);
    // The heap hands out multiples of 8 but fields of texts' commands may lie anywhere; the hint never changes what
    // happens.
    this.#out.byte(bytes === 8 ? 3 : bytes === 4 ? 2 : bytes === 2 ? 1 : 0);
    this.#out.unsigned(offset);
  }
}

/** Whether control never comes to the end of the statements, as far as the last one tells. */
function endsInLeaving(statements: readonly Statement[]): boolean {
  const last = statements[statements.length - 1];
  if (last === undefined) return false;
  switch (last.kind) {
    case "return":
    case "branch":
    case "trap":
      return true;
    case "if":
      return endsInLeaving(last.then) && endsInLeaving(last.otherwise);
    default:
      return false;
  }
}

/** The index and the length that a check of bounds compares, when it is one whose sides can be worked out again. */
function reportedIndex(
  { condition, site }: Statement & { readonly kind: "check" },
): readonly (readonly [string, IrExpression])[] | null {
  if (site.kind !== "index" || condition.kind !== "op" || condition.op !== "i32.ge_u") return null;
  const [index, length] = condition.args;
  if (index === undefined || length === undefined) return null;
  let isPure = true;
  for (const side of [index, length]) {
    visitExpression(side, (at) => {
      if (at.kind === "call" || at.kind === "indirect" || at.kind === "own" || at.kind === "memory-grow") {
        isPure = false;
      }
    });
  }
  return isPure ? [["trap_index", index], ["trap_length", length]] : null;
}
