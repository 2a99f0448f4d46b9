/**
 * Validates the code of functions by the algorithm of the specification's appendix, and directs the rewriting.
 *
 * The same walk runs twice over every function. The first finds the facts about the module (`module_facts.ts`); the
 * second has an emitter and writes. What is added depends on the operands only, so both walks agree. Code that is never
 * reached is validated and copied as it is.
 *
 * A block of gas begins at the start of a function, of a loop, of an arm of `if`, after a conditional branch, and after
 * an `end` that a branch may have come to; what it costs is charged where it begins.
 */
import { LIMITS } from "../base/limits.ts";
import { BodyEmitter } from "./body_emitter.ts";
import {
  accessType,
  COST,
  FIRST_OPERAND,
  NAN_EFFECT,
  NAN_EFFECTS,
  naturalAlignment,
  refusedOpcode,
  RESULT,
  SATURATING,
  SECOND_OPERAND,
} from "./instruction_table.ts";
import type { Layout } from "./layout.ts";
import type { FunctionFacts, ModuleFacts } from "./module_facts.ts";
import { ModuleReader } from "./module_reader.ts";
import {
  F32,
  F64,
  type FunctionType,
  I32,
  I64,
  type ModuleStructure,
  type ValueType,
} from "./module_structure.ts";
import { OperandStack, UNKNOWN } from "./operand_stack.ts";
import { readValueType } from "./section_decoder.ts";
import type { WasmByteWriter } from "../base/wasm_byte_writer.ts";

type FrameKind = "function" | "block" | "loop" | "if" | "else";

/** An open block. */
interface Frame {
  kind: FrameKind;
  readonly parameters: readonly ValueType[];
  readonly results: readonly ValueType[];
  /** Height of the operands where it begins, its parameters excluded. */
  readonly floor: number;
  /** Whether the code in front of it is reached. */
  readonly isEntered: boolean;
  /** Whether the code after an unconditional branch in it is being read. */
  isLeft: boolean;
  /** Whether a branch goes to its end. */
  isTarget: boolean;
}

/** Instructions of one step: about a millisecond before V8 has optimized the code. */
const INSTRUCTIONS_PER_STEP = 4096;

const NONE: readonly ValueType[] = [];
const SINGLE = new Map<number, readonly ValueType[]>([
  [-1, [I32]],
  [-2, [I64]],
  [-3, [F32]],
  [-4, [F64]],
]);

/** Validates the functions of one module. */
export class BodyValidator {
  readonly #structure: ModuleStructure;
  readonly #facts: ModuleFacts;
  readonly #reader: ModuleReader;
  readonly #stack: OperandStack;
  readonly #locals = new Uint8Array(LIMITS.maximumWasmFrameSlots);
  #localCount = 0;
  #frames: Frame[] = [];
  #frame: Frame;
  #emitter: BodyEmitter | null = null;
  #layout: Layout | null = null;
  /** Offset of the instruction being read. */
  #at = 0;
  /** Whether the instruction is reached. */
  #isLive = true;
  #cost = 0;
  #charges: number[] = [];
  #nextCharge = 0;
  #callees = new Set<number>();
  #indirectTypes = new Set<number>();
  #loopOffset = -1;

  constructor(structure: ModuleStructure, facts: ModuleFacts) {
    this.#structure = structure;
    this.#facts = facts;
    this.#reader = new ModuleReader(structure.bytes);
    this.#stack = new OperandStack(this.#reader);
    this.#frame = this.#newFrame("function", NONE, NONE);
  }

  /** Validates a function and returns what it does; a step takes a moment. */
  *validate(index: number): Generator<void, FunctionFacts> {
    this.#emitter = null;
    this.#charges = [];
    this.#callees = new Set();
    this.#indirectTypes = new Set();
    this.#loopOffset = -1;
    yield* this.#walk(index);
    const slots = this.#localCount + this.#stack.highest;
    if (slots > LIMITS.maximumWasmFrameSlots) {
      this.#reader.fail(
        `the function has ${slots} locals and operands, the limit is ${LIMITS.maximumWasmFrameSlots}`,
        this.#structure.bodies[index]?.start ?? 0,
      );
    }
    return {
      charges: this.#charges,
      slots,
      callees: this.#callees,
      indirectTypes: this.#indirectTypes,
      loopOffset: this.#loopOffset,
    };
  }

  /** Rewrites a function that was validated; a step takes a moment. */
  *rewrite(index: number, layout: Layout): Generator<void, WasmByteWriter> {
    this.#layout = layout;
    this.#nextCharge = 0;
    this.#charges = [...(this.#facts.functions[index]?.charges ?? [])];
    const emitter = yield* this.#walk(index);
    if (emitter === null) return this.#reader.fail("the function was not rewritten");
    return emitter.take();
  }

  *#walk(index: number): Generator<void, BodyEmitter | null> {
    const reader = this.#reader;
    const body = this.#structure.bodies[index] ?? { start: 0, end: 0 };
    const type = this.#structure.types[this.#structure.functions[index] ?? -1] ??
      { parameters: NONE, results: NONE };
    reader.position = body.start;
    reader.end = body.end;
    const groups = this.#readLocals(type);
    const declarations = reader.bytes.subarray(groups.start, reader.position);
    this.#emitter = this.#layout === null ? null : new BodyEmitter(reader.bytes, this.#layout, {
      declarations,
      groups: groups.count,
      firstLocal: this.#localCount,
      start: reader.position,
    });
    this.#stack.clear();
    this.#frames = [];
    this.#isLive = true;
    this.#pushFrame("function", NONE, type.results);
    this.#openCharge();
    for (let count = 1; this.#frames.length > 0; count++) {
      this.#instruction();
      if (count % INSTRUCTIONS_PER_STEP === 0) yield;
    }
    if (!reader.isAtEnd) reader.fail("section size mismatch: the code goes on after its end");
    this.#emitter?.copyTo(reader.position);
    return this.#emitter;
  }

  /** Reads the declarations of variables; returns their count and where the first begins. */
  #readLocals({ parameters }: FunctionType): { readonly count: number; readonly start: number } {
    const reader = this.#reader;
    let total = 0;
    for (const type of parameters) this.#locals[total++] = type;
    const count = reader.count(LIMITS.maximumWasmFrameSlots, "declarations of locals");
    const start = reader.position;
    for (let group = 0; group < count; group++) {
      const place = reader.position;
      const size = reader.unsigned();
      if (size > LIMITS.maximumWasmFrameSlots - total) {
        reader.fail(`too many locals, the limit is ${LIMITS.maximumWasmFrameSlots}`, place);
      }
      const type = readValueType(reader);
      this.#locals.fill(type, total, total + size);
      total += size;
    }
    this.#localCount = total;
    return { count, start };
  }

  #fail(message: string): never {
    return this.#reader.fail(message, this.#at);
  }

  #instruction(): void {
    const reader = this.#reader;
    const stack = this.#stack;
    const at = reader.position;
    this.#at = at;
    const opcode = reader.byte();
    if (this.#isLive) this.#cost += COST[opcode] ?? 1;
    const first = FIRST_OPERAND[opcode] ?? 0;
    if (first !== 0) return this.#compute(opcode, first);
    if (opcode >= 0x28 && opcode <= 0x3e) return this.#access(opcode);
    switch (opcode) {
      case 0x00:
        return this.#leave();
      case 0x01:
        return;
      case 0x02:
        return this.#begin("block");
      case 0x03:
        return this.#begin("loop");
      case 0x04:
        return this.#begin("if");
      case 0x05:
        return this.#else();
      case 0x0b:
        return this.#end();
      case 0x0c:
        return this.#branch();
      case 0x0d:
        return this.#branchIf();
      case 0x0e:
        return this.#branchTable();
      case 0x0f: {
        const results = this.#frames[0]?.results ?? NONE;
        stack.check(results, at);
        this.#close(results.length);
        return this.#leave();
      }
      case 0x10:
        return this.#call();
      case 0x11:
        return this.#callIndirect();
      case 0x1a:
        stack.popAny(at);
        return;
      case 0x1b:
        return this.#select();
      case 0x20:
        return stack.push(this.#local());
      case 0x21: {
        const type = this.#local();
        this.#close(1);
        stack.pop(type, at);
        return;
      }
      case 0x22: {
        const type = this.#local();
        this.#close(1);
        stack.pop(type, at);
        return stack.push(type);
      }
      case 0x23:
        return stack.push(this.#global().type);
      case 0x24:
        return this.#globalSet();
      case 0x3f:
        this.#memoryIndex();
        return stack.push(I32);
      case 0x40:
        return this.#memoryGrow();
      case 0x41:
        reader.signed();
        return stack.push(I32);
      case 0x42:
        reader.skipSigned64();
        return stack.push(I64);
      case 0x43:
        reader.skip(4);
        return stack.push(F32);
      case 0x44:
        reader.skip(8);
        return stack.push(F64);
      case 0xfc:
        return this.#prefixed();
      default:
        this.#fail(refusedOpcode(opcode));
    }
  }

  /** Makes the topmost operands canonical where an open NaN is among them. */
  #close(count: number): void {
    if (!this.#isLive) return;
    const operands = this.#stack.close(count);
    if (operands.length === 0 || this.#emitter === null) return;
    this.#emitter.copyTo(this.#at);
    this.#emitter.canonicalize(operands);
  }

  #openCharge(): void {
    this.#cost = 0;
    if (this.#emitter === null) return;
    this.#emitter.copyTo(this.#reader.position);
    this.#emitter.charge(this.#charges[this.#nextCharge++] ?? 0);
  }

  #closeCharge(): void {
    if (this.#emitter === null) this.#charges.push(this.#cost);
  }

  #compute(opcode: number, first: number): void {
    const stack = this.#stack;
    const second = SECOND_OPERAND[opcode] ?? 0;
    const effect = NAN_EFFECTS[opcode] ?? 0;
    if (effect === NAN_EFFECT.observes || effect === NAN_EFFECT.copiesSign) this.#close(1);
    if (second !== 0) stack.pop(second, this.#at);
    const isOpen = stack.pop(first, this.#at);
    let open = 0;
    if (effect === NAN_EFFECT.makes) open = 1;
    else if (effect === NAN_EFFECT.passes || effect === NAN_EFFECT.copiesSign) open = isOpen;
    stack.push(RESULT[opcode] ?? 0, open);
  }

  #access(opcode: number): void {
    const reader = this.#reader;
    const type = accessType(opcode);
    if (this.#structure.memory === null) this.#fail("unknown memory 0");
    const place = reader.position;
    const flags = reader.unsigned();
    if (flags >= 64 && flags < 128) reader.fail("multiple memories are not allowed", place);
    if (flags >= 64) reader.fail("malformed memop flags", place);
    if (flags > naturalAlignment(opcode)) reader.fail("alignment must not be larger than natural", place);
    const offset = reader.unsigned();
    if (opcode < 0x36) {
      this.#stack.pop(I32, this.#at);
      return this.#stack.push(type);
    }
    this.#close(1);
    this.#stack.pop(type, this.#at);
    this.#stack.pop(I32, this.#at);
    if (!this.#isLive) return;
    this.#facts.writesMemory = true;
    this.#emitter?.copyTo(this.#at);
    this.#emitter?.markStore(type, offset);
  }

  #local(): ValueType {
    const index = this.#reader.unsigned();
    if (index >= this.#localCount) this.#fail(`unknown local ${index}`);
    const type = this.#locals[index];
    return type === I64 || type === F32 || type === F64 ? type : I32;
  }

  #global(): { readonly type: ValueType; readonly isMutable: boolean; readonly index: number } {
    const index = this.#reader.unsigned();
    const global = this.#structure.globals[index];
    if (global === undefined) return this.#fail(`unknown global ${index}`);
    return { type: global.type, isMutable: global.isMutable, index };
  }

  #globalSet(): void {
    const { type, isMutable, index } = this.#global();
    if (!isMutable) this.#fail(`global ${index} is immutable`);
    this.#close(1);
    this.#stack.pop(type, this.#at);
    if (this.#isLive) this.#facts.setGlobals.add(index);
  }

  #select(): void {
    const stack = this.#stack;
    // One open and one determined value: the determined one keeps its bits, so the other is made canonical here.
    if (this.#isLive && stack.isOpen(1) !== stack.isOpen(2)) this.#close(3);
    const isOpen = this.#isLive && stack.isOpen(1) && stack.isOpen(2);
    stack.pop(I32, this.#at);
    const second = stack.popAny(this.#at);
    const first = stack.popAny(this.#at);
    if (first !== second && first !== UNKNOWN && second !== UNKNOWN) {
      this.#fail("type mismatch: select takes two values of one type");
    }
    stack.push(first === UNKNOWN ? second : first, isOpen ? 1 : 0);
  }

  #newFrame(kind: FrameKind, parameters: readonly ValueType[], results: readonly ValueType[]): Frame {
    return {
      kind,
      parameters,
      results,
      floor: this.#stack.height,
      isEntered: this.#isLive,
      isLeft: false,
      isTarget: false,
    };
  }

  #pushFrame(kind: FrameKind, parameters: readonly ValueType[], results: readonly ValueType[]): void {
    this.#frame = this.#newFrame(kind, parameters, results);
    this.#frames.push(this.#frame);
    this.#stack.floor = this.#stack.height;
    this.#stack.isPolymorphic = false;
    this.#stack.pushAll(parameters);
  }

  /** What follows in the block is not reached. */
  #leave(): void {
    if (this.#isLive) this.#closeCharge();
    this.#stack.height = this.#frame.floor;
    this.#stack.isPolymorphic = true;
    this.#frame.isLeft = true;
    this.#isLive = false;
  }

  #blockType(): FunctionType {
    const place = this.#reader.position;
    const code = this.#reader.blockType();
    if (code === -64) return { parameters: NONE, results: NONE };
    if (code >= 0) {
      return this.#structure.types[code] ?? this.#reader.fail(`unknown type ${code}`, place);
    }
    const results = SINGLE.get(code);
    if (results !== undefined) return { parameters: NONE, results };
    this.#reader.position = place;
    readValueType(this.#reader);
    return this.#reader.fail("malformed block type", place);
  }

  #begin(kind: "block" | "loop" | "if"): void {
    const stack = this.#stack;
    const { parameters, results } = this.#blockType();
    if (this.#frames.length >= LIMITS.maximumWasmNesting) {
      this.#fail(`blocks are nested too deeply, the limit is ${LIMITS.maximumWasmNesting}`);
    }
    this.#close(parameters.length + (kind === "if" ? 1 : 0));
    if (kind === "if") stack.pop(I32, this.#at);
    stack.popAll(parameters, this.#at);
    this.#pushFrame(kind, parameters, results);
    if (!this.#isLive || kind === "block") return;
    if (kind === "loop" && this.#loopOffset < 0) this.#loopOffset = this.#at;
    this.#closeCharge();
    this.#openCharge();
  }

  #else(): void {
    const frame = this.#frame;
    if (frame.kind !== "if") this.#fail("else without if");
    this.#finish(frame);
    if (this.#isLive) this.#closeCharge();
    this.#stack.height = frame.floor;
    this.#stack.isPolymorphic = false;
    this.#stack.pushAll(frame.parameters);
    frame.kind = "else";
    frame.isLeft = false;
    this.#isLive = frame.isEntered;
    if (this.#isLive) this.#openCharge();
  }

  /** Checks the results at the end of an arm or block. */
  #finish(frame: Frame): void {
    this.#close(frame.results.length);
    this.#stack.popAll(frame.results, this.#at);
    this.#stack.expectEmpty(this.#at);
  }

  #end(): void {
    const frame = this.#frame;
    this.#finish(frame);
    if (frame.kind === "if" && frame.parameters.join() !== frame.results.join()) {
      this.#fail("type mismatch: an if without else gives other values than it takes");
    }
    const fallsThrough = this.#isLive;
    this.#frames.pop();
    const outer = this.#frames.at(-1);
    this.#stack.height = frame.floor;
    if (outer === undefined) {
      if (fallsThrough) this.#closeCharge();
      return;
    }
    this.#frame = outer;
    this.#stack.floor = outer.floor;
    this.#stack.isPolymorphic = outer.isLeft;
    this.#stack.pushAll(frame.results);
    this.#isLive = frame.isEntered;
    if (!this.#isLive) return;
    const isStraight = fallsThrough && !frame.isTarget && (frame.kind === "block" || frame.kind === "loop");
    if (isStraight) return;
    if (fallsThrough) this.#closeCharge();
    this.#openCharge();
  }

  /** The values that a branch to a label takes along. */
  #label(depth: number): readonly ValueType[] {
    const frame = this.#frames[this.#frames.length - 1 - depth];
    if (frame === undefined) return this.#fail(`unknown label ${depth}`);
    if (frame.kind === "loop") return frame.parameters;
    frame.isTarget = true;
    return frame.results;
  }

  #branch(): void {
    const types = this.#label(this.#reader.unsigned());
    this.#stack.check(types, this.#at);
    this.#close(types.length);
    this.#leave();
  }

  #branchIf(): void {
    const stack = this.#stack;
    const types = this.#label(this.#reader.unsigned());
    this.#close(types.length + 1);
    stack.pop(I32, this.#at);
    stack.popAll(types, this.#at);
    stack.pushAll(types);
    if (!this.#isLive) return;
    this.#closeCharge();
    this.#openCharge();
  }

  #branchTable(): void {
    const reader = this.#reader;
    const stack = this.#stack;
    const count = reader.count(LIMITS.maximumWasmItems, "labels");
    const labels: number[] = [];
    for (let index = 0; index <= count; index++) labels.push(reader.unsigned());
    const last = this.#label(labels[count] ?? 0);
    this.#close(last.length + 1);
    stack.pop(I32, this.#at);
    let checked: readonly ValueType[] | null = null;
    for (const label of labels) {
      const types = this.#label(label);
      if (types === checked) continue;
      if (types.length !== last.length) {
        this.#fail("type mismatch: the labels of br_table take different numbers of values");
      }
      stack.check(types, this.#at);
      checked = types;
    }
    this.#leave();
  }

  #call(): void {
    const index = this.#reader.unsigned();
    const type = this.#structure.types[this.#structure.functions[index] ?? -1];
    if (type === undefined) return this.#fail(`unknown function ${index}`);
    this.#close(type.parameters.length);
    if (this.#isLive) this.#callees.add(index);
    this.#finishCall(type, this.#emitter === null ? 0 : this.#facts.frameCost(index));
  }

  #callIndirect(): void {
    const reader = this.#reader;
    const index = reader.unsigned();
    const type = this.#structure.types[index];
    if (type === undefined) return this.#fail(`unknown type ${index}`);
    const place = reader.position;
    const table = reader.unsigned();
    if (table !== 0) reader.fail(`unknown table ${table}: multiple tables are not allowed`, place);
    if (this.#structure.table === null) this.#fail("unknown table 0");
    this.#close(type.parameters.length + 1);
    this.#stack.pop(I32, this.#at);
    if (this.#isLive) this.#indirectTypes.add(index);
    this.#finishCall(type, this.#emitter === null ? 0 : this.#facts.indirectFrameCost(index));
  }

  #finishCall(type: FunctionType, frameCost: number): void {
    this.#stack.popAll(type.parameters, this.#at);
    this.#stack.pushAll(type.results);
    if (!this.#isLive || this.#emitter === null || frameCost === 0) return;
    this.#emitter.copyTo(this.#at);
    this.#emitter.enterCall(frameCost);
    this.#emitter.copyTo(this.#reader.position);
    this.#emitter.leaveCall(frameCost);
  }

  /** The index of the memory, which is one byte: zero. */
  #memoryIndex(): void {
    const place = this.#reader.position;
    if (this.#reader.byte() !== 0) {
      this.#reader.fail("zero byte expected: multiple memories are not allowed", place);
    }
    if (this.#structure.memory === null) this.#fail("unknown memory 0");
  }

  #memoryGrow(): void {
    this.#memoryIndex();
    this.#stack.pop(I32, this.#at);
    this.#stack.push(I32);
    if (!this.#isLive) return;
    this.#facts.growsMemory = true;
    if (this.#emitter === null || this.#layout === null) return;
    this.#emitter.copyTo(this.#at);
    this.#emitter.callHelper(this.#layout.growFunction);
    this.#emitter.skipTo(this.#reader.position);
  }

  #prefixed(): void {
    const reader = this.#reader;
    const opcode = reader.unsigned();
    const saturating = SATURATING[opcode];
    if (saturating !== undefined) {
      this.#stack.pop(saturating[0], this.#at);
      return this.#stack.push(saturating[1]);
    }
    switch (opcode) {
      case 8: {
        this.#dataIndex();
        this.#memoryIndex();
        return this.#bulk({ writesMemory: true });
      }
      case 9:
        this.#dataIndex();
        if (this.#isLive) this.#facts.changesSegments = true;
        return;
      case 10:
        this.#memoryIndex();
        this.#memoryIndex();
        return this.#bulk({ writesMemory: true });
      case 11:
        this.#memoryIndex();
        return this.#bulk({ writesMemory: true });
      case 12:
        this.#elementIndex();
        this.#tableIndex();
        return this.#bulk({ writesMemory: false });
      case 13:
        this.#elementIndex();
        if (this.#isLive) this.#facts.changesSegments = true;
        return;
      case 14:
        this.#tableIndex();
        this.#tableIndex();
        return this.#bulk({ writesMemory: false });
      default:
        this.#fail(
          opcode >= 15 && opcode <= 17
            ? `references are not allowed as values: opcode 0xfc ${opcode}`
            : `illegal opcode 0xfc ${opcode}`,
        );
    }
  }

  #dataIndex(): void {
    const index = this.#reader.unsigned();
    const { dataCount } = this.#structure;
    if (dataCount === null) return this.#fail("data count section required");
    if (index >= dataCount) this.#fail(`unknown data segment ${index}`);
  }

  #elementIndex(): void {
    const index = this.#reader.unsigned();
    if (index >= this.#structure.elements.length) this.#fail(`unknown element segment ${index}`);
  }

  #tableIndex(): void {
    const place = this.#reader.position;
    const index = this.#reader.unsigned();
    if (index !== 0) this.#reader.fail(`unknown table ${index}: multiple tables are not allowed`, place);
    if (this.#structure.table === null) this.#fail("unknown table 0");
  }

  /** An instruction that takes a target, a source or value, and a count. */
  #bulk({ writesMemory }: { readonly writesMemory: boolean }): void {
    for (let count = 0; count < 3; count++) this.#stack.pop(I32, this.#at);
    if (!this.#isLive) return;
    if (writesMemory) this.#facts.writesMemory = true;
    else this.#facts.changesSegments = true;
    if (this.#emitter === null) return;
    const end = this.#reader.position;
    this.#emitter.copyTo(this.#at);
    this.#emitter.bulk(this.#reader.bytes.subarray(this.#at, end), {
      writesMemory,
      // Elements are larger than bytes; a shift of 0 could overflow the counter.
      ...(writesMemory ? {} : { shift: 1 }),
    });
    this.#emitter.skipTo(end);
  }
}
