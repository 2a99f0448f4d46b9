/**
 * A module that a function's definition holds: decoded and checked once, with instances in which its exports run.
 */
import type { ExportType } from "./function_signature.ts";
import type { WasmType } from "./value_passing.ts";

/** A module that is refused: why, and at which byte of it. */
export class ModuleRefusal extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** An export that is ready to be called. */
export interface ModuleCall {
  /** Makes the instance as if it were new, and fills up its gas. */
  readonly begin: () => void;
  // deno-lint-ignore no-explicit-any -- WebAssembly's functions take and return what their types say
  readonly call: (...args: any[]) => any;
  /** Room for bytes in the module's memory; null: the module has no `allocate`. */
  readonly allocate: ((bytes: number) => number) | null;
  /** The memory's bytes as they are now; null: it has none that is exported. */
  readonly memory: () => Uint8Array | null;
  /** Whether the last call ended because its gas ran out. */
  readonly isOutOfGas: () => boolean;
}

/** A module that passed all checks. */
export interface LoadedModule {
  readonly functions: ReadonlyMap<string, ExportType>;
  instantiate(name: string, gas: number): ModuleCall;
}

const VALUE_TYPES: Readonly<Record<number, WasmType>> = {
  0x7f: "i32",
  0x7e: "i64",
  0x7d: "f32",
  0x7c: "f64",
};

/** Decodes and checks a module. Raises {@link ModuleRefusal}. */
export function loadModule(bytes: Uint8Array<ArrayBuffer>): LoadedModule {
  let module: WebAssembly.Module;
  try {
    module = new WebAssembly.Module(bytes);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new ModuleRefusal(text, Number(/\+(\d+)/.exec(text)?.[1] ?? 0));
  }
  const [first] = WebAssembly.Module.imports(module);
  if (first !== undefined) throw new ModuleRefusal(`import "${first.module}" "${first.name}"`, 0);
  return {
    functions: exportTypes(bytes),
    instantiate: (name) => {
      let { exports } = new WebAssembly.Instance(module);
      const exported = (each: string) => (...args: unknown[]): unknown => {
        const called = exports[each];
        if (typeof called !== "function") throw new TypeError(`export ${each} is missing`);
        return called(...args);
      };
      return {
        begin: () => {
          ({ exports } = new WebAssembly.Instance(module));
        },
        call: exported(name),
        allocate: typeof exports.allocate === "function"
          ? exported("allocate") as (bytes: number) => number
          : null,
        memory: () => {
          const { memory } = exports;
          return memory instanceof WebAssembly.Memory ? new Uint8Array(memory.buffer) : null;
        },
        isOutOfGas: () => false,
      };
    },
  };
}

function exportTypes(bytes: Uint8Array): Map<string, ExportType> {
  let at = 8;
  const u32 = (): number => {
    let result = 0;
    for (let shift = 0;; shift += 7) {
      const byte = bytes[at++] ?? 0;
      result |= (byte & 127) << shift;
      if (byte < 128) return result >>> 0;
    }
  };
  const types: ExportType[] = [];
  const functions: number[] = [];
  const found = new Map<string, ExportType>();
  const list = <T>(read: () => T): T[] => Array.from({ length: u32() }, read);
  while (at < bytes.length) {
    const section = bytes[at++];
    const end = u32() + at;
    if (section === 1) {
      for (let count = u32(); count > 0; count--) {
        at++;
        const parameters = list(() => VALUE_TYPES[bytes[at++] ?? 0] ?? "i32");
        const results = list(() => VALUE_TYPES[bytes[at++] ?? 0] ?? "i32");
        types.push({ parameters, results });
      }
    } else if (section === 3) functions.push(...list(u32));
    else if (section === 7) {
      for (let count = u32(); count > 0; count--) {
        const length = u32();
        const name = new TextDecoder().decode(bytes.subarray(at, at + length));
        at += length;
        const kind = bytes[at++];
        const type = types[functions[u32()] ?? -1];
        if (kind === 0 && type !== undefined) found.set(name, type);
      }
    }
    at = end;
  }
  return found;
}
