/**
 * The components of the two targets: a page's, whose imports are interfaces of our own, and a command's, which
 * imports WASI and exports `wasi:cli/run`.
 */
import { WASI_RUN } from "../ir/lower/entry.ts";
import type { IrFunction, IrModule, ScalarType } from "../ir/node.ts";
import { WasmByteWriter as ByteWriter } from "../../engine/base/wasm_byte_writer.ts";
import { type ComponentImport, ComponentWriter, encodeComponent, linkCore } from "./component.ts";

const RUN_INTERFACE = "wasi:cli/run@0.2.0";

/** Codes of types in components. */
const TYPE = { string: 0x73, u32: 0x79, u64: 0x77, u8: 0x7d } as const;

function coreTypes(imported: IrFunction): {
  readonly coreParameters: readonly ScalarType[];
  readonly coreResults: readonly ScalarType[];
} {
  return {
    coreParameters: imported.parameters.map((parameter) => parameter.type),
    coreResults: imported.results.map((result) => result.type),
  };
}

function hasRealloc(module: IrModule): boolean {
  return module.exports.some((each) => each.name === "cabi_realloc");
}

/** The component of a game: `init`, `step`, `draw`. */
export function wrapPage(core: Uint8Array, module: IrModule): Uint8Array<ArrayBuffer> {
  const imports = module.imports.flatMap((each): ComponentImport[] =>
    each.imported === null ? [] : [{ ...each.imported, ...coreTypes(each) }]
  );
  const exports = module.exports.filter((each) => ["init", "step", "draw"].includes(each.name)).map((
    each,
  ) => ({
    name: each.name,
    parameters: each.function.parameters.map(() => ({ name: "seed", type: "s32" as const })),
    result: null,
  }));
  return encodeComponent({ core, imports, exports, hasRealloc: hasRealloc(module) });
}

/** Writes the types and exports of an interface of WASI, and counts its types. */
class InterfaceWriter {
  readonly #out = new ByteWriter();
  #count = 0;
  #types = 0;

  #declare(kind: number): ByteWriter {
    this.#out.byte(kind);
    this.#count++;
    return this.#out;
  }

  /** A type; gives its index. */
  type(write: (out: ByteWriter) => void): number {
    write(this.#declare(1));
    return this.#types++;
  }

  /** A type of the component around. */
  outer(index: number): number {
    const out = this.#declare(2);
    out.byte(3);
    out.byte(2);
    out.unsigned(1);
    out.unsigned(index);
    return this.#types++;
  }

  /** A resource that the interface exports. */
  resource(name: string): number {
    const out = this.#declare(4);
    out.byte(0);
    out.text(name);
    out.byte(3);
    out.byte(1);
    return this.#types++;
  }

  /** Exports a type under a name. */
  name(name: string, type: number): number {
    const out = this.#declare(4);
    out.byte(0);
    out.text(name);
    out.byte(3);
    out.byte(0);
    out.unsigned(type);
    return this.#types++;
  }

  /** Exports a function; a type is a code of a primitive, or an index plus 256. */
  function(
    name: string,
    parameters: readonly (readonly [name: string, type: number])[],
    result: number | null,
  ): void {
    const type = this.type((out) => {
      out.byte(0x40);
      out.unsigned(parameters.length);
      for (const [parameter, each] of parameters) {
        out.text(parameter);
        writeValueType(out, each);
      }
      if (result === null) {
        // A list of no named results.
        out.byte(1);
        out.byte(0);
      } else {
        out.byte(0);
        writeValueType(out, result);
      }
    });
    const out = this.#declare(4);
    out.byte(0);
    out.text(name);
    out.byte(1);
    out.unsigned(type);
  }

  /** Writes it as a type. */
  write(out: ByteWriter): void {
    out.byte(0x42);
    out.unsigned(this.#count);
    out.bytes(this.#out.view());
  }
}

const INDEXED = 256;

function writeValueType(out: ByteWriter, type: number): void {
  if (type >= INDEXED) out.signed(type - INDEXED);
  else out.byte(type);
}

/** Indexes of types that interfaces share. */
interface SharedTypes {
  error: number;
  outputStream: number;
  inputStream: number;
}

function interfaceOf(path: string, shared: SharedTypes): InterfaceWriter {
  const writer = new InterfaceWriter();
  switch (path) {
    case "wasi:io/error":
      writer.resource("error");
      break;
    case "wasi:io/streams": {
      const output = writer.resource("output-stream");
      const input = writer.resource("input-stream");
      const error = writer.name("error", writer.outer(shared.error));
      const ownError = writer.type((out) => {
        out.byte(0x69);
        out.unsigned(error);
      });
      const variant = writer.type((out) => {
        out.byte(0x71);
        out.unsigned(2);
        out.text("last-operation-failed");
        out.byte(1);
        out.signed(ownError);
        out.byte(0);
        out.text("closed");
        out.byte(0);
        out.byte(0);
      });
      const streamError = writer.name("stream-error", variant);
      const bytes = writer.type((out) => {
        out.byte(0x70);
        out.byte(TYPE.u8);
      });
      const borrow = (resource: number): number =>
        writer.type((out) => {
          out.byte(0x68);
          out.unsigned(resource);
        });
      const written = writer.type((out) => {
        out.byte(0x6a);
        out.byte(0);
        out.byte(1);
        out.signed(streamError);
      });
      writer.function("[method]output-stream.blocking-write-and-flush", [
        ["self", INDEXED + borrow(output)],
        ["contents", INDEXED + bytes],
      ], INDEXED + written);
      const read = writer.type((out) => {
        out.byte(0x6a);
        out.byte(1);
        out.signed(bytes);
        out.byte(1);
        out.signed(streamError);
      });
      writer.function("[method]input-stream.blocking-read", [
        ["self", INDEXED + borrow(input)],
        ["len", TYPE.u64],
      ], INDEXED + read);
      break;
    }
    case "wasi:cli/stdout":
    case "wasi:cli/stderr":
    case "wasi:cli/stdin": {
      const isInput = path.endsWith("stdin");
      const name = isInput ? "input-stream" : "output-stream";
      const stream = writer.name(name, writer.outer(isInput ? shared.inputStream : shared.outputStream));
      const owned = writer.type((out) => {
        out.byte(0x69);
        out.unsigned(stream);
      });
      writer.function(`get-${path.slice(path.indexOf("/") + 1)}`, [], INDEXED + owned);
      break;
    }
    case "wasi:cli/environment": {
      const pair = writer.type((out) => out.bytes(Uint8Array.of(0x6f, 2, TYPE.string, TYPE.string)));
      const pairs = writer.type((out) => {
        out.byte(0x70);
        out.signed(pair);
      });
      writer.function("get-environment", [], INDEXED + pairs);
      const texts = writer.type((out) => out.bytes(Uint8Array.of(0x70, TYPE.string)));
      writer.function("get-arguments", [], INDEXED + texts);
      break;
    }
    case "wasi:cli/exit":
      writer.function("exit-with-code", [["status-code", TYPE.u8]], null);
      break;
    case "wasi:random/random":
      writer.function("get-random-u64", [], TYPE.u64);
      break;
    case "wasi:clocks/monotonic-clock": {
      const instant = writer.name("instant", writer.type((out) => out.byte(TYPE.u64)));
      writer.function("now", [], INDEXED + instant);
      break;
    }
    case "wasi:clocks/wall-clock": {
      const record = writer.type((out) => {
        out.byte(0x72);
        out.unsigned(2);
        out.text("seconds");
        out.byte(TYPE.u64);
        out.text("nanoseconds");
        out.byte(TYPE.u32);
      });
      writer.function("now", [], INDEXED + writer.name("datetime", record));
      break;
    }
    default:
      throw new Error(`Cannot wrap a command: it imports ${path}, which is unknown`);
  }
  return writer;
}

/** Interfaces in an order in which those that share types come after those that define them. */
const ORDER = [
  "wasi:io/error",
  "wasi:io/streams",
  "wasi:cli/stdout",
  "wasi:cli/stderr",
  "wasi:cli/stdin",
  "wasi:cli/environment",
  "wasi:cli/exit",
  "wasi:random/random",
  "wasi:clocks/monotonic-clock",
  "wasi:clocks/wall-clock",
];

/** The component of a command. */
export function wrapCommand(core: Uint8Array, module: IrModule): Uint8Array<ArrayBuffer> {
  const writer = new ComponentWriter();
  const pathOf = (name: string): string => name.slice(0, name.lastIndexOf("@"));
  const used = new Map(
    module.imports.map((each) => [pathOf(each.imported?.module ?? ""), each.imported?.module ?? ""]),
  );
  const version = [...used.values()][0]?.split("@")[1] ?? "0.2.0";
  const needsStreams = [...used.keys()].some((path) => /io\/|std/.test(path));
  const shared: SharedTypes = { error: 0, outputStream: 0, inputStream: 0 };
  const instances = new Map<string, number>();
  for (const path of ORDER) {
    const isShared = path === "wasi:io/error" || path === "wasi:io/streams";
    if (!used.has(path) && !(needsStreams && isShared)) continue;
    const type = writer.type((out) => interfaceOf(path, shared).write(out));
    const instance = writer.importInstance(`${path}@${version}`, type);
    instances.set(path, instance);
    if (path === "wasi:io/error") shared.error = writer.alias(instance, "error", "type");
    if (path === "wasi:io/streams") {
      shared.outputStream = writer.alias(instance, "output-stream", "type");
      shared.inputStream = writer.alias(instance, "input-stream", "type");
    }
  }
  const imports = module.imports.map((each) => ({
    module: each.imported?.module ?? "",
    name: each.imported?.name ?? "",
    ...coreTypes(each),
  }));
  const main = writer.coreModule(core);
  const linked = linkCore(writer, {
    main,
    imports,
    hasRealloc: hasRealloc(module),
    lower: (memory, realloc) =>
      imports.map(({ module: from, name }) => {
        const dropped = /^\[resource-drop\](.*)$/.exec(name)?.[1];
        if (dropped !== undefined) {
          const type = dropped === "error"
            ? shared.error
            : dropped === "output-stream"
            ? shared.outputStream
            : shared.inputStream;
          return writer.dropResource(type);
        }
        return writer.lower(
          writer.alias(instances.get(pathOf(from)) ?? 0, name, "function"),
          memory,
          realloc,
        );
      }),
  });
  const result = writer.type((out) => out.bytes(Uint8Array.of(0x6a, 0, 0)));
  const type = writer.type((out) => {
    out.byte(0x40);
    out.unsigned(0);
    out.byte(0);
    out.signed(result);
  });
  const run = writer.lift(writer.coreAlias(linked.instance, WASI_RUN, "function"), type, null, null);
  writer.export(RUN_INTERFACE, "instance", writer.instance([{ name: "run", function: run }]));
  return writer.out.take();
}
