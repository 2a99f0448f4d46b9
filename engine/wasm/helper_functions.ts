/**
 * The functions that a rewritten module has beside its own: they reset its state, grow and mark its memory, and are the
 * entries of its exported functions.
 */
import { WasmByteWriter } from "../base/wasm_byte_writer.ts";
import { CHEAP_PAGES, LARGE_PAGE_COST, PAGE_COST } from "./instruction_table.ts";
import { InstructionWriter } from "./instruction_writer.ts";
import { CHUNK_SHIFT, type Layout, type MapLayout, MARKED_BYTES, PAGE_BYTES } from "./layout.ts";
import { type ModuleFacts, STACK_BYTES } from "./module_facts.ts";
import { type FunctionType, I32, isFloat, type ModuleStructure, type ValueType } from "./module_structure.ts";

const LESS_UNSIGNED = 0x49;
const GREATER_UNSIGNED = 0x4b;
const ADD = 0x6a;
const SUBTRACT = 0x6b;
const MULTIPLY = 0x6c;
const SHIFT_LEFT = 0x74;
const SHIFT_RIGHT_UNSIGNED = 0x76;
const SELECT = 0x1b;
const RETURN = 0x0f;
const UNREACHABLE = 0x00;
const MEMORY_SIZE = Uint8Array.of(0x3f, 0);
const MEMORY_GROW = Uint8Array.of(0x40, 0);
const FILL_FIRST = Uint8Array.of(0xfc, 11, 0);
const FILL_MAP = Uint8Array.of(0xfc, 11, 1);
const COPY_FROM_IMAGE = Uint8Array.of(0xfc, 10, 0, 1);

/** A function's body: one variable after another, then its code. */
/** A body with variables of these types and this code. */
export function body(locals: readonly ValueType[], code: InstructionWriter): WasmByteWriter {
  code.end();
  const out = new WasmByteWriter();
  out.unsigned(locals.length);
  for (const type of locals) {
    out.unsigned(1);
    out.byte(type);
  }
  out.bytes(code.view());
  return out;
}

/** Sets gas and depth to their full amounts. */
/** Fills up gas and depth. */
export function refill(code: InstructionWriter, layout: Layout): void {
  code.globalGet(layout.gasLimitGlobal);
  code.globalSet(layout.gasGlobal);
  code.i32(STACK_BYTES);
  code.globalSet(layout.depthGlobal);
}

/** Whether the state that functions see can differ from that at the start, so that entries have to reset it. */
export function hasState(structure: ModuleStructure, facts: ModuleFacts): boolean {
  return facts.writesMemory || facts.setGlobals.size > 0 || structure.start !== null;
}

/** `reset()`: full gas and depth, and everything as at the start. */
export function resetFunction(
  structure: ModuleStructure,
  facts: ModuleFacts,
  layout: Layout,
): WasmByteWriter {
  const code = new InstructionWriter();
  refill(code, layout);
  code.i32(0);
  code.globalSet(layout.failureGlobal);
  for (const [index, { initial }] of structure.globals.entries()) {
    if (!facts.setGlobals.has(index)) continue;
    code.bytes(initial);
    code.globalSet(index);
  }
  if (layout.map !== null) restoreMarked(code, layout.map, (structure.memory?.initial ?? 0) * PAGE_BYTES);
  if (structure.start !== null) code.call(structure.start);
  return body([I32, I32, I32], code);
}

/** Copies every marked chunk back, eight marks at a time. */
function restoreMarked(code: InstructionWriter, map: MapLayout, memoryBytes: number): void {
  if (memoryBytes === 0) return;
  const [word, mark, address] = [0, 1, 2];
  const mapLoad = (opcode: number): void => code.bytes(Uint8Array.of(opcode, 0x40, 1, 0));
  code.begin(0x03);
  code.localGet(word);
  mapLoad(0x29);
  code.byte(0x50);
  code.begin(0x04);
  code.byte(0x05);
  code.localGet(word);
  code.localSet(mark);
  code.begin(0x03);
  code.localGet(mark);
  mapLoad(0x2d);
  code.begin(0x04);
  code.localGet(mark);
  code.i32(CHUNK_SHIFT);
  code.byte(SHIFT_LEFT);
  code.localSet(address);
  restoreChunk(code, { map, memoryBytes, address });
  code.end();
  repeatBelow(code, mark, 1, () => {
    code.localGet(word);
    code.i32(8);
    code.byte(ADD);
  });
  code.end();
  code.localGet(word);
  code.byte(0x42);
  code.signed64(0n);
  mapLoad(0x37);
  code.end();
  repeatBelow(code, word, 8, () => code.i32(memoryBytes >> CHUNK_SHIFT));
  code.end();
}

/** Adds to a counter, and repeats the loop while it is below a limit. */
function repeatBelow(code: InstructionWriter, counter: number, step: number, limit: () => void): void {
  code.localGet(counter);
  code.i32(step);
  code.byte(ADD);
  code.localTee(counter);
  limit();
  code.byte(LESS_UNSIGNED);
  code.byte(0x0d);
  code.unsigned(0);
}

function restoreChunk(
  code: InstructionWriter,
  { map, memoryBytes, address }: {
    readonly map: MapLayout;
    readonly memoryBytes: number;
    readonly address: number;
  },
): void {
  const count = (): void => {
    code.i32(memoryBytes);
    code.localGet(address);
    code.byte(SUBTRACT);
    code.i32(MARKED_BYTES);
    code.i32(memoryBytes - MARKED_BYTES);
    code.localGet(address);
    code.byte(LESS_UNSIGNED);
    code.byte(SELECT);
  };
  code.localGet(address);
  code.i32(map.imageBytes);
  code.byte(LESS_UNSIGNED);
  code.begin(0x04);
  code.localGet(address);
  code.localGet(address);
  code.i32(map.imageStart);
  code.byte(ADD);
  count();
  code.bytes(COPY_FROM_IMAGE);
  code.byte(0x05);
  code.localGet(address);
  code.i32(0);
  count();
  code.bytes(FILL_FIRST);
  code.end();
}

/** `init()`: the first memory gets the image; called once, before anything else. */
export function initFunction({ map }: Layout): WasmByteWriter {
  const code = new InstructionWriter();
  if (map !== null && map.imageBytes > 0) {
    code.i32(0);
    code.i32(map.imageStart);
    code.i32(map.imageBytes);
    code.bytes(COPY_FROM_IMAGE);
  }
  return body([], code);
}

/**
 * `grow(pages)` in the place of `memory.grow`. What is over the limit fails without asking the engine, which takes
 * long; what the limit allows may fail for want of memory on one machine only, so it traps.
 */
export function growFunction(layout: Layout): WasmByteWriter {
  const code = new InstructionWriter();
  const [pages, counter] = [0, 1];
  code.localGet(pages);
  code.i32(layout.maximumPages);
  code.bytes(MEMORY_SIZE);
  code.byte(SUBTRACT);
  code.byte(GREATER_UNSIGNED);
  code.begin(0x04);
  code.i32(-1);
  code.byte(RETURN);
  code.end();
  code.localGet(pages);
  code.byte(0x45);
  code.begin(0x04);
  code.bytes(MEMORY_SIZE);
  code.byte(RETURN);
  code.end();
  code.spend({ global: layout.gasGlobal, local: counter }, () => {
    code.localGet(pages);
    code.i32(PAGE_COST);
    code.byte(MULTIPLY);
    const size = (): void => code.bytes(MEMORY_SIZE);
    largePages(code, () => {
      size();
      code.localGet(pages);
      code.byte(ADD);
    });
    largePages(code, size);
    code.byte(SUBTRACT);
    code.i32(LARGE_PAGE_COST);
    code.byte(MULTIPLY);
    code.byte(ADD);
  });
  code.localGet(pages);
  code.bytes(MEMORY_GROW);
  code.localTee(counter);
  code.i32(-1);
  code.byte(0x46);
  code.begin(0x04);
  code.i32(1);
  code.globalSet(layout.failureGlobal);
  code.byte(UNREACHABLE);
  code.end();
  code.localGet(counter);
  return body([I32], code);
}

/** Puts a number of pages on the stack, but no fewer than are cheap. */
function largePages(code: InstructionWriter, pages: () => void): void {
  pages();
  code.i32(CHEAP_PAGES);
  pages();
  code.i32(CHEAP_PAGES);
  code.byte(GREATER_UNSIGNED);
  code.byte(SELECT);
}

/** `mark(address, count)`: the range was written. */
export function markFunction(): WasmByteWriter {
  const code = new InstructionWriter();
  const [address, count] = [0, 1];
  const chunk = (): void => {
    code.i32(CHUNK_SHIFT);
    code.byte(SHIFT_RIGHT_UNSIGNED);
  };
  code.localGet(count);
  code.begin(0x04);
  code.localGet(address);
  chunk();
  code.i32(1);
  code.localGet(address);
  code.localGet(count);
  code.byte(ADD);
  code.i32(1);
  code.byte(SUBTRACT);
  chunk();
  code.localGet(address);
  chunk();
  code.byte(SUBTRACT);
  code.i32(1);
  code.byte(ADD);
  code.bytes(FILL_MAP);
  code.end();
  return body([], code);
}

/**
 * The entry of an exported function: its arguments and results have canonical NaNs. A fresh entry resets everything
 * first; the other goes on with the state and the gas that are there.
 */
export function entryFunction(
  { target, type, isFresh, mustReset, layout }: {
    readonly target: number;
    readonly type: FunctionType;
    readonly isFresh: boolean;
    readonly mustReset: boolean;
    readonly layout: Layout;
  },
): WasmByteWriter {
  const code = new InstructionWriter();
  if (isFresh && mustReset) code.call(layout.resetFunction);
  else if (isFresh) refill(code, layout);
  const put = (valueType: ValueType, local: number): void => {
    if (isFloat(valueType)) code.canonical(valueType, local);
    else code.localGet(local);
  };
  for (const [index, parameter] of type.parameters.entries()) put(parameter, index);
  code.call(target);
  if (!type.results.some(isFloat)) return body([], code);
  const first = type.parameters.length;
  for (let index = type.results.length - 1; index >= 0; index--) code.localSet(first + index);
  for (const [index, result] of type.results.entries()) put(result, first + index);
  return body(type.results, code);
}

/** Types of values of the helpers that have parameters. */
export const HELPER_TYPES = {
  /** reset, init */
  nothing: { parameters: [], results: [] },
  /** grow */
  grow: { parameters: [I32], results: [I32] },
  /** mark */
  mark: { parameters: [I32, I32], results: [] },
} as const;
