/**
 * The intermediate representation: functions over scalars with structured control flow, close to WebAssembly.
 *
 * Aggregates are taken apart before: a value of the language is a list of scalars. What is left of ownership is on
 * the pointers: a variable with a {@link PointerKind} holds a counted pointer. An expression `own x` hands the count
 * of `x` on (to a variable, a call, memory or the caller), a plain `x` only looks at it. `ownership.ts` turns the
 * last `own` of an owned variable into a move, others into a count more, and releases what is dead. A pointer stands
 * nowhere but in variables, constants (0 or a static cell) and `load`s that a `set` puts into a variable.
 *
 * Expressions have no effect but reading memory, except calls, which stand at the top of a statement until the last
 * passes. A `block` is left forwards, a `loop` continued at its start by a `branch` to its label; the end of a loop's
 * body leaves it.
 */
import type { SourceFile } from "../source/source_file.ts";
import type { TrapKind } from "../typed/trap.ts";

/** Types of WebAssembly's values that are used. Addresses and pointers are `i32`. */
export type ScalarType = "i32" | "i64" | "f32" | "f64";

/** What a counted pointer points to: how it is let go. */
export interface PointerKind {
  readonly name: string;
  /** The function that takes one from the count of a pointer and frees at zero; made when it is first asked for. */
  release(): IrFunction;
  /**
   * The function that gives a cell of one's own for a shared one, whose count it takes; made when it is first asked
   * for.
   */
  unshare(): IrFunction;
}

/** A variable of a function, told apart by identity. */
export interface IrLocal {
  /** Position in the function's `locals`. */
  id: number;
  readonly name: string;
  readonly type: ScalarType;
  readonly pointer: PointerKind | null;
  /** Whether it is set more than once. */
  isMutable: boolean;
  /** For an address inside of what a pointer points to: the pointer, which has to live as long. */
  readonly base: IrLocal | null;
  /** A parameter that belongs to the caller. */
  readonly isBorrowed: boolean;
  /** A number that is known not to be negative and to be less than this variable's. */
  below: IrLocal | null;
}

/** Parameter or result of a function. */
export interface IrSlot {
  readonly type: ScalarType;
  readonly pointer: PointerKind | null;
}

/** A place in a source. */
export interface IrPosition {
  readonly file: SourceFile;
  readonly offset: number;
  /** Where the function around it was called, when it was lowered in place. */
  readonly caller?: IrPosition;
}

/** Types of what goes between a module and its host. */
export type HostType = "bool" | "char" | "s32" | "s64" | "f32" | "f64" | "string" | "bytes";

/** A function of the host: where it is found, and what it takes and gives before texts become pointers and lengths. */
export interface ImportedFunction {
  readonly module: string;
  readonly name: string;
  readonly parameters: readonly HostType[];
  readonly result: HostType | null;
}

/** A function. */
export interface IrFunction {
  name: string;
  /** They come first in `locals`. */
  parameters: IrLocal[];
  results: IrSlot[];
  locals: IrLocal[];
  /** Null until lowered, and for imports. */
  body: Statement[] | null;
  imported: ImportedFunction | null;
  readonly place: IrPosition | null;
  /** Helpers of the run-time, whose pointers are plain addresses: they need no ownership pass. */
  isRaw: boolean;
  /** Number among functions as values, or -1. */
  tableIndex: number;
}

/** A variable of the module. */
export interface IrGlobal {
  readonly name: string;
  readonly type: ScalarType;
  initial: number | bigint;
  readonly exportName: string | null;
}

/** An expression with one value. */
export type IrExpression =
  | { readonly kind: "const"; readonly type: ScalarType; readonly value: number | bigint }
  | { readonly kind: "get"; readonly local: IrLocal }
  | { readonly kind: "own"; readonly local: IrLocal }
  | { readonly kind: "op"; readonly op: string; readonly args: readonly IrExpression[] }
  /**
   * A pointer that is taken is moved out of memory, where something else will be stored; else it is copied. One that
   * is there forever needs no count.
   */
  | {
    readonly kind: "load";
    readonly op: string;
    readonly address: IrExpression;
    readonly offset: number;
    readonly isTaken?: boolean;
    readonly isForever?: boolean;
  }
  | {
    readonly kind: "select";
    readonly type: ScalarType;
    readonly condition: IrExpression;
    readonly then: IrExpression;
    readonly otherwise: IrExpression;
  }
  | { readonly kind: "global"; readonly global: IrGlobal }
  | { readonly kind: "memory-size" }
  | { readonly kind: "memory-grow"; readonly pages: IrExpression }
  | IrCall;

/** A call; with more than one result it stands in a `multi`. */
export type IrCall =
  | {
    readonly kind: "call";
    readonly function: IrFunction;
    readonly args: readonly IrExpression[];
    /** Where it stands in the source; traps inside of the library are told by it. */
    readonly place?: IrPosition;
  }
  | {
    readonly kind: "indirect";
    readonly place?: IrPosition;
    readonly parameters: readonly IrSlot[];
    readonly results: readonly IrSlot[];
    readonly index: IrExpression;
    readonly args: readonly IrExpression[];
  };

/** Why and where a program ends: the number is what `trap_site` holds. */
export interface TrapSite {
  readonly number: number;
  readonly kind: TrapKind;
  readonly place: IrPosition | null;
}

/** Where a branch goes, told apart by identity. */
export interface Label {
  readonly name: string;
}

/** A statement. */
export type Statement =
  | { readonly kind: "set"; readonly local: IrLocal; readonly value: IrExpression }
  | { readonly kind: "multi"; readonly locals: readonly IrLocal[]; readonly call: IrCall }
  | { readonly kind: "set-global"; readonly global: IrGlobal; readonly value: IrExpression }
  | {
    readonly kind: "store";
    readonly op: string;
    readonly address: IrExpression;
    readonly offset: number;
    readonly value: IrExpression;
  }
  /** A call without results. */
  | { readonly kind: "call"; readonly call: IrCall }
  | {
    readonly kind: "copy";
    readonly to: IrExpression;
    readonly from: IrExpression;
    readonly bytes: IrExpression;
  }
  | {
    readonly kind: "fill";
    readonly to: IrExpression;
    readonly byte: IrExpression;
    readonly bytes: IrExpression;
  }
  | {
    readonly kind: "if";
    readonly condition: IrExpression;
    readonly then: Statement[];
    readonly otherwise: Statement[];
  }
  | { readonly kind: "block"; readonly label: Label; readonly body: Statement[] }
  | { readonly kind: "loop"; readonly label: Label; readonly body: Statement[] }
  | { readonly kind: "branch"; readonly label: Label }
  /** The case with the index, or the last one. */
  | { readonly kind: "switch"; readonly index: IrExpression; readonly cases: readonly Statement[][] }
  | { readonly kind: "return"; readonly values: readonly IrExpression[] }
  /** Ends the program when the condition is not 0. */
  | { readonly kind: "check"; readonly condition: IrExpression; readonly site: TrapSite }
  | { readonly kind: "trap"; readonly site: TrapSite }
  /** One more, one less count; put in by the ownership pass. */
  | { readonly kind: "retain"; readonly local: IrLocal }
  | { readonly kind: "release"; readonly local: IrLocal }
  /** Makes the cell that an owned variable points to its own. */
  | { readonly kind: "unique"; readonly local: IrLocal }
  /** What the variable points to is about to be written: who borrows from it and is used later has to own. */
  | { readonly kind: "touch"; readonly local: IrLocal }
  /** Gas for what follows: an amount, and eighths of bytes known when the program runs. */
  | { readonly kind: "charge"; readonly amount: number; readonly bytes: IrExpression | null }
  /** The place in the source of what follows. */
  | { readonly kind: "at"; readonly place: IrPosition };

/** Something that ends the module's data: bytes at an address. */
export interface DataSegment {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** A function and the name that it is exported by. */
export interface ExportedFunction {
  readonly name: string;
  readonly function: IrFunction;
}

/** A whole module, ready to be encoded. */
export interface IrModule {
  readonly functions: readonly IrFunction[];
  readonly imports: readonly IrFunction[];
  readonly globals: readonly IrGlobal[];
  readonly exports: readonly ExportedFunction[];
  /** Functions as values, by number. */
  readonly table: readonly IrFunction[];
  readonly data: readonly DataSegment[];
  readonly sites: readonly TrapSite[];
  /** First address behind static data. */
  readonly heapStart: number;
  readonly trapGlobal: IrGlobal;
  readonly gas: { readonly global: IrGlobal; readonly site: TrapSite } | null;
  readonly customSections: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

/** A constant of a type. */
export function constant(type: ScalarType, value: number | bigint): IrExpression {
  return { kind: "const", type, value };
}

/** An `i32`. */
export function i32(value: number): IrExpression {
  return { kind: "const", type: "i32", value: value | 0 };
}

/** An operation. */
export function op(name: string, ...args: IrExpression[]): IrExpression {
  return { kind: "op", op: name, args };
}

/** The value of a variable, looked at. */
export function get(local: IrLocal): IrExpression {
  return { kind: "get", local };
}

/** A load. */
export function load(name: string, address: IrExpression, offset: number): IrExpression {
  return { kind: "load", op: name, address, offset };
}

/** A function without a body yet. */
export function newFunction(name: string, options: {
  readonly imported?: ImportedFunction;
  readonly place?: IrPosition | null;
  readonly isRaw?: boolean;
}): IrFunction {
  return {
    name,
    parameters: [],
    results: [],
    locals: [],
    body: null,
    imported: options.imported ?? null,
    place: options.place ?? null,
    isRaw: options.isRaw ?? false,
    tableIndex: -1,
  };
}

/** A new variable of a function. */
export function newLocal(owner: IrFunction, options: {
  readonly name: string;
  readonly type: ScalarType;
  readonly pointer?: PointerKind | null;
  readonly isMutable?: boolean;
  readonly base?: IrLocal | null;
  readonly isBorrowed?: boolean;
}): IrLocal {
  const local: IrLocal = {
    id: owner.locals.length,
    name: options.name,
    type: options.type,
    pointer: options.pointer ?? null,
    isMutable: options.isMutable ?? false,
    base: options.base ?? null,
    isBorrowed: options.isBorrowed ?? false,
    below: null,
  };
  owner.locals.push(local);
  return local;
}
