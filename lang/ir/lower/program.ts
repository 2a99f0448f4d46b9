/**
 * Lowers what can be reached of a program: each function once for each list of type arguments that it is used with.
 */
import type { TrapKind } from "../../typed/trap.ts";
import type {
  Expression,
  MethodChoice,
  TypedConstant,
  TypedFunction,
  TypedProgram,
} from "../../typed/tree.ts";
import type { DerivedInterface, InterfaceDefinition, Type } from "../../types/type.ts";
import { Allocator, CLASS_COUNT } from "../allocator.ts";
import { CellFunctionMaker } from "../cells.ts";
import { type Layout, Layouts, substitution } from "../layout.ts";
import {
  type ImportedFunction,
  type IrFunction,
  type IrGlobal,
  type IrPosition,
  type IrSlot,
  newFunction,
  newLocal,
  type TrapSite,
} from "../node.ts";
import { Runtime } from "../runtime.ts";
import { Statics } from "../statics.ts";
import { Frame, type MemoryLocation, type Value } from "./frame.ts";

/** Globals that hold the index that is outside of a list, and the list's length. */
const INDEX_GLOBALS = ["trap_index", "trap_length"] as const;

/** Writes the code of an expression into a function; every part of lowering is given this one recursion. */
export type LowerExpression = (frame: Frame, expression: Expression) => Value;

/** A constant whose value is worked out when the program runs. */
export interface KeptConstant {
  readonly location: MemoryLocation;
  readonly isMade: IrGlobal;
  readonly make: IrFunction;
}

/** Lowers a program. */
export class ProgramLowering {
  readonly program: TypedProgram;
  readonly statics = new Statics();
  readonly layouts: Layouts;
  readonly allocator: Allocator;
  readonly cells: CellFunctionMaker;
  readonly runtime: Runtime;
  readonly functions: IrFunction[] = [];
  readonly imports: IrFunction[] = [];
  readonly globals: IrGlobal[] = [];
  readonly table: IrFunction[] = [];
  readonly sites: TrapSite[] = [];
  readonly trapGlobal: IrGlobal;
  readonly frontier: IrGlobal;
  #heads = 0;
  readonly #instances = new Map<string, IrFunction>();
  /** Addresses of the cells of functions as values. */
  readonly functionValues = new Map<IrFunction | string, number>();
  readonly #derived = new Map<string, IrFunction>();
  readonly #interfaces = new Map<DerivedInterface, InterfaceDefinition>();
  readonly #methods = new Map<string, MethodChoice | null>();
  readonly #importsByName = new Map<string, IrFunction>();
  /** null: the constant is written where it is used. */
  readonly keptConstants = new Map<TypedConstant, KeptConstant | null>();
  readonly #staticCells = new Map<number, number>();
  readonly #queue: (() => void)[] = [];
  #isDraining = false;
  /** Whether calls of the package's own functions stay calls, so that each can be measured. */
  readonly keepsCalls: boolean;
  /** Whether the host needs the export `allocate`. */
  usesAllocate = false;
  #resultCell = 0;
  readonly #keptResults = new Map<string, number>();
  /** Where a game's state lies, for pages that keep it over a reload. */
  stateAddress = 0;
  stateLayout: Layout | null = null;
  #closures = 0;

  readonly lower: LowerExpression;

  constructor(
    program: TypedProgram,
    options: { readonly lower: LowerExpression; readonly hasGas: boolean; readonly keepsCalls?: boolean },
  ) {
    this.lower = options.lower;
    this.keepsCalls = options.keepsCalls ?? false;
    this.program = program;
    this.trapGlobal = this.global("trap_site", "trap_site");
    const heapBytes = this.global("heap_bytes", "heap_bytes");
    // A page that puts a snapshot back needs it beside the memory.
    this.frontier = { name: "heap_top", type: "i32", initial: 0, exportName: "heap_top" };
    const register = (target: IrFunction): void => {
      this.functions.push(target);
    };
    this.allocator = new Allocator({
      heads: () => {
        if (this.#heads === 0) {
          this.#heads = this.statics.reserve(CLASS_COUNT * 4, 4);
          this.globals.push(this.frontier);
        }
        return this.#heads;
      },
      site: () => this.site("memory", null),
      register,
      heapBytes,
      frontier: this.frontier,
      hasGas: options.hasGas,
    });
    this.cells = new CellFunctionMaker(this.allocator, register, (name) => this.global(name, null));
    this.layouts = new Layouts(this.cells);
    this.runtime = new Runtime(this.allocator, register);
    for (const module of program.modules) {
      for (const definition of module.interfaces) {
        if (definition.derived !== null) this.#interfaces.set(definition.derived, definition);
      }
    }
  }

  /** A new global of 32 bits. */
  global(name: string, exportName: string | null): IrGlobal {
    const known = this.globals.find((global) => global.name === name);
    if (known !== undefined) return known;
    const global: IrGlobal = { name, type: "i32", initial: 0, exportName };
    this.globals.push(global);
    return global;
  }

  /** Where a trap tells more: the text of a panic or a side of a comparison. */
  trapText(which: "text" | "other"): IrGlobal {
    return this.global(`trap_${which}`, `trap_${which}`);
  }

  /** Where the check of an index tells the index and the length, before it traps. */
  indexGlobals(): void {
    for (const name of INDEX_GLOBALS) this.global(name, name);
  }

  /** A new trap site. */
  site(kind: TrapKind, place: IrPosition | null): TrapSite {
    const site: TrapSite = { number: this.sites.length, kind, place };
    this.sites.push(site);
    return site;
  }

  /** The layout of one byte. */
  get byteLayout(): Layout {
    const { shape } = this.layouts.of({ kind: "primitive", name: "Bytes" });
    if (shape.kind !== "block") throw new Error("Cannot lower bytes: their layout is no block");
    return shape.element;
  }

  /** The function for these type arguments. */
  instance(target: TypedFunction, typeArguments: readonly Type[]): IrFunction {
    const suffix = typeArguments.length === 0
      ? ""
      : `[${typeArguments.map((argument) => this.layouts.key(argument)).join()}]`;
    const key = target.id + suffix;
    const known = this.#instances.get(key);
    if (known !== undefined) return known;
    const made = newFunction(
      typeArguments.length === 0
        ? target.id
        : `${target.id}[${typeArguments.map((argument) => this.layouts.of(argument).name).join(", ")}]`,
      { place: { file: target.file, offset: target.nameSpan.start } },
    );
    this.#instances.set(key, made);
    const { body } = target;
    if (body === null) throw new Error(`Cannot lower ${target.id}: it has no body`);
    const frame = new Frame({
      program: this,
      function: made,
      file: target.file,
      source: target,
      put: substitution(target.typeParameters, typeArguments),
      result: target.result,
    });
    frame.declareParameters(target.parameters);
    this.functions.push(made);
    const start = body.kind === "block" && body.statements.length === 0 ? body.result ?? body : body;
    this.#later(() => {
      frame.emit({ kind: "at", place: frame.place(start.span) });
      frame.return(this.lower(frame, body));
    });
    return made;
  }

  #later(work: () => void): void {
    this.#queue.push(work);
  }

  /** Lowers all that was asked for. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (let work = this.#queue.shift(); work !== undefined; work = this.#queue.shift()) work();
    this.#isDraining = false;
  }

  /** Adds a function that has its body. */
  addFunction(target: IrFunction): void {
    this.functions.push(target);
  }

  /** A number for a closure's name. */
  nextClosure(): number {
    return this.#closures++;
  }

  /** The method that a type has for a derived interface, or null when it is derived. */
  derivedMethod(type: Type, which: DerivedInterface, name: string): MethodChoice | null {
    const definition = this.#interfaces.get(which);
    if (definition === undefined) return null;
    const key = `${which}|${this.layouts.of(type).key}`;
    const known = this.#methods.get(key);
    if (known !== undefined) return known;
    const choice = this.program.method(type, definition, name);
    this.#methods.set(key, choice);
    return choice;
  }

  /** The derived function of a type; `write` declares it and gives what writes its body. */
  derived(type: Type, which: DerivedInterface, write: (made: IrFunction) => () => void): IrFunction {
    const layout = this.layouts.of(type);
    const key = `${which}|${layout.key}`;
    const known = this.#derived.get(key);
    if (known !== undefined) return known;
    const made = newFunction(`${which}.${layout.name}`, {});
    this.#derived.set(key, made);
    const body = write(made);
    this.functions.push(made);
    this.#later(body);
    return made;
  }

  /** The number of a function among those that are values. */
  tableIndex(target: IrFunction): number {
    if (target.tableIndex < 0) {
      target.tableIndex = this.table.length;
      this.table.push(target);
    }
    return target.tableIndex;
  }

  /** The address of a static cell of the library. */
  staticCell(slot: number): number {
    const known = this.#staticCells.get(slot);
    if (known !== undefined) return known;
    const address = this.statics.reserve(4, 4);
    this.#staticCells.set(slot, address);
    return address;
  }

  /** What keeps the last text that was given to the host. */
  keptResult(layout: string): number {
    let address = this.#keptResults.get(layout);
    if (address === undefined) this.#keptResults.set(layout, address = this.statics.reserve(4, 4));
    return address;
  }

  /** Where the host writes pointer and length of what it gives. */
  resultCell(): number {
    if (this.#resultCell === 0) {
      this.#resultCell = this.statics.reserve(8);
    }
    return this.#resultCell;
  }

  /** A function of the host. */
  imported(host: ImportedFunction, parameters: readonly IrSlot[], results: readonly IrSlot[]): IrFunction {
    const key = `${host.module}|${host.name}`;
    const known = this.#importsByName.get(key);
    if (known !== undefined) return known;
    const made = newFunction(host.name, { imported: host });
    for (const [index, slot] of parameters.entries()) {
      const { type, pointer } = slot;
      made.parameters.push(
        newLocal(made, { name: `p${index}`, type, pointer, isBorrowed: pointer !== null }),
      );
    }
    made.results = [...results];
    this.#importsByName.set(key, made);
    this.imports.push(made);
    return made;
  }
}
