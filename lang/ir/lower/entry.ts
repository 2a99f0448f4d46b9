/**
 * The functions that hosts call, for each target; docs/compiler.md, "Hosts", says what they take and give.
 *
 * `wasm32-web` keeps the state of the game in a static cell; `wasm32-wasi` splits the arguments that the host gives.
 * Those of `wasm32-db` are in `database_entry.ts`.
 */
import type { Local, TypedFunction, TypedModule } from "../../typed/tree.ts";
import type { Type } from "../../types/type.ts";
import {
  get,
  i32,
  type IrExpression,
  type IrLocal,
  load,
  newFunction,
  newLocal,
  op,
  type ScalarType,
} from "../node.ts";
import { readMemory, writeMemory } from "./memory.ts";
import { Frame, type MemoryLocation, ownedAll, type Value } from "./frame.ts";
import { putLocation, takeLocation } from "./place.ts";
import type { ProgramLowering } from "./program.ts";
import { visitTree } from "./scan.ts";
import type { Exported } from "./test_entry.ts";
import { textConstant } from "./text.ts";

const UNIT: Type = { kind: "tuple", elements: [] };
const INT: Type = { kind: "primitive", name: "Int" };
const TEXT: Type = { kind: "primitive", name: "String" };

/** Where `main` gets its arguments from. */
export const PROCESS_MODULE = "lang:host/process@1.0.0";

/** The core function behind WASI's `run`. */
export const WASI_RUN = "wasi_run";

/** A function of the module's top level by its name. */
function topLevel(module: TypedModule, name: string): TypedFunction | null {
  return module.functions.find((each) => each.name === name && each.owner === null) ?? null;
}

/** A function around one of the program, as the host calls it. */
export function wrapper(
  program: ProgramLowering,
  module: TypedModule,
  options: {
    readonly name: string;
    readonly result: Type;
    readonly parameters?: readonly ScalarType[];
    readonly write: (frame: Frame, parameters: readonly IrLocal[]) => Value;
  },
): Exported {
  const made = newFunction(`export.${options.name}`, {});
  const frame = new Frame({
    program,
    function: made,
    file: module.file,
    source: null,
    put: new Map(),
    result: options.result,
  });
  frame.declareParameters([]);
  const parameters = (options.parameters ?? []).map((type, index) =>
    newLocal(made, { name: `p${index}`, type })
  );
  made.parameters.push(...parameters);
  frame.return(options.write(frame, parameters));
  program.addFunction(made);
  return { name: options.name, function: made };
}

/** `init`, `step`, `draw` of a game, those that it has. */
export function webEntries(program: ProgramLowering, root: TypedModule): Exported[] {
  const exported: Exported[] = [];
  const init = topLevel(root, "init");
  const step = topLevel(root, "step");
  const draw = topLevel(root, "draw");
  const state = init === null ? null : stateCell(program, init.result);
  if (init !== null && state !== null) {
    exported.push(wrapper(program, root, {
      name: "init",
      result: UNIT,
      parameters: ["i32"],
      write: (frame, parameters) => {
        const args = parameters.slice(0, init.parameters.length).map(get);
        writeMemory(frame, state, frame.call(program.instance(init, []), args));
        return [];
      },
    }));
  }
  for (const entry of [step, draw]) {
    if (entry === null) continue;
    exported.push(wrapper(program, root, {
      name: entry.name,
      result: UNIT,
      write: (frame) => {
        callWithState(frame, entry, state);
        if (entry === draw && entry.effects.has("Draw")) {
          frame.call(program.instance(program.program.libraryFunction("web.canvas.present"), []), []);
        }
        return [];
      },
    }));
  }
  return exported;
}

function stateCell(program: ProgramLowering, type: Type): MemoryLocation {
  const layout = program.layouts.of(type);
  const address = program.statics.reserve(layout.size, Math.max(8, layout.alignment));
  program.stateAddress = address;
  program.stateLayout = layout;
  // A page that puts a state back needs memory for what it points to.
  if (layout.hasPointers) program.usesAllocate = true;
  return { kind: "memory", address: i32(address), offset: 0, base: null, layout };
}

/**
 * Calls `step` or `draw`: `inout` and plain parameters of the state's type take the state, one of `Input` what the
 * host gives.
 */
function callWithState(frame: Frame, entry: TypedFunction, state: MemoryLocation | null): void {
  const { program } = frame;
  const args: IrExpression[] = [];
  let changesState = false;
  for (const parameter of entry.parameters) {
    const layout = program.layouts.of(parameter.type);
    if (state !== null && layout === state.layout) {
      if (parameter.kind === "inout") {
        changesState = true;
        args.push(...ownedAll(takeLocation(frame, state)));
      } else {
        args.push(...readMemory(frame, state, false));
      }
    } else if (!isRead(entry, parameter)) {
      // What nobody looks at is not asked for; without bits this is a record of no keys and empty lists.
      args.push(
        ...layout.slots.map(({ type }): IrExpression => ({
          kind: "const",
          type,
          value: type === "i64" ? 0n : 0,
        })),
      );
    } else {
      const current = program.program.libraryFunction("web.input.Input.current");
      args.push(...frame.call(program.instance(current, []), []));
    }
  }
  const results = frame.call(program.instance(entry, []), args);
  if (changesState && state !== null) putLocation(frame, state, results);
}

/** Whether a body uses its parameter. */
function isRead({ body }: TypedFunction, parameter: Local): boolean {
  let found = false;
  if (body === null) return false;
  visitTree(body, (at) => {
    found ||= at.kind === "local" && at.local === parameter;
  });
  return found;
}

/** `run` of a command: the exit code. */
export function commandEntries(program: ProgramLowering, root: TypedModule, options: {
  readonly isEnvelope: boolean;
  /** Whether codes above 1 reach the shell by a function of WASI that not every host has. */
  readonly hasExitCodes: boolean;
}): Exported[] {
  const main = topLevel(root, "main");
  if (main === null) return [];
  const run = wrapper(program, root, {
    name: "run",
    result: INT,
    write: (frame) => {
      const args = main.parameters.length === 0 ? [] : commandArguments(frame);
      const [code] = frame.call(program.instance(main, []), args);
      return [code ?? i32(0)];
    },
  });
  if (!options.isEnvelope) return [run];
  // WASI's `run` only says whether it went well.
  const succeeded = wrapper(program, root, {
    name: WASI_RUN,
    result: INT,
    write: (frame) => {
      const code = frame.reusable(frame.call(run.function, [])[0] ?? i32(0));
      if (options.hasExitCodes) {
        const exit = {
          module: PROCESS_MODULE,
          name: "exit_with_code",
          parameters: ["s32" as const],
          result: null,
        };
        // Above 255, and below 0, it is 1, which is what failing gives.
        frame.if(op("i32.lt_u", op("i32.sub", code, i32(2)), i32(254)), () => {
          frame.call(program.imported(exit, [{ type: "i32", pointer: null }], []), [code]);
        });
      }
      return [op("i32.ne", code, i32(0))];
    },
  });
  return [run, succeeded];
}

/** The host gives the arguments as a text, a zero character before each. */
function commandArguments(frame: Frame): Value {
  const { program } = frame;
  const scratch = i32(program.resultCell());
  const given = program.imported(
    { module: PROCESS_MODULE, name: "arguments", parameters: [], result: "string" },
    [{ type: "i32", pointer: null }],
    [],
  );
  program.usesAllocate = true;
  frame.call(given, [scratch]);
  const [slot] = program.layouts.of(TEXT).slots;
  const text = frame.helper(
    program.runtime.receive(),
    [load("i32.load", scratch, 0), load("i32.load", scratch, 4)],
    slot?.pointer ?? null,
  );
  const split = program.instance(program.program.libraryFunction("std.string.String.split"), []);
  const parts = frame.call(split, [text, textConstant(frame, "\0")]);
  const drop = program.instance(program.program.libraryFunction("std.list.List.drop"), [TEXT]);
  return frame.call(drop, [...parts, i32(1)]);
}

/** The name that a function is exported by: `price`, or `Order.price` of one that belongs to a type. */
export function exportName({ owner, name }: TypedFunction): string {
  return owner === null ? name : `${owner}.${name}`;
}
