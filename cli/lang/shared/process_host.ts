/** The world for programs that `lang run` runs: this process. */
import type { Host, HostCall, HostValue } from "../../../lang/interpret/host.ts";
import { messageOf } from "./disk_files.ts";
import type { Terminal } from "./terminal.ts";

/** Answers what the library's modules for commands ask. */
export class ProcessHost implements Host {
  readonly #terminal: Terminal;
  readonly #hasInput: boolean;
  readonly #started = performance.now();

  constructor(terminal: Terminal, options: { readonly hasInput?: boolean } = {}) {
    this.#terminal = terminal;
    this.#hasInput = options.hasInput ?? true;
  }

  call({ module, name, args }: HostCall): HostValue {
    const [first, second] = args;
    switch (`${module.replace(/@.*$/, "")} ${name}`) {
      case "lang:host/log write":
        this.#terminal.write(`${String(first)}\n`);
        return null;
      case "lang:host/log write_error":
        this.#terminal.writeError(`${String(first)}\n`);
        return null;
      case "lang:host/process write_output":
        if (first instanceof Uint8Array) this.#terminal.writeBytes(first);
        return null;
      case "lang:host/process read_input":
        return this.#hasInput ? readAll() : new Uint8Array();
      case "lang:host/process environment_variable":
        return environmentVariable(String(first));
      case "lang:host/process read_whole_file":
        return answered(() => Deno.readFileSync(String(first)));
      case "lang:host/process write_whole_file":
        return answered(() => {
          Deno.writeFileSync(String(first), second instanceof Uint8Array ? second : new Uint8Array());
          return new Uint8Array();
        });
      case "lang:host/time now_milliseconds":
        return Date.now();
      case "lang:host/time elapsed_milliseconds":
        return performance.now() - this.#started;
      case "lang:host/random seed":
        return crypto.getRandomValues(new BigInt64Array(1))[0] ?? 0n;
      default:
        throw new Error(`Cannot answer the program: this host has no ${module} ${name}`);
    }
  }
}

function readAll(): Uint8Array {
  const parts: Uint8Array[] = [];
  const buffer = new Uint8Array(65_536);
  for (let count = Deno.stdin.readSync(buffer); count !== null; count = Deno.stdin.readSync(buffer)) {
    parts.push(buffer.slice(0, count));
  }
  return concatenated(parts);
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** 1 and the answer, or 0 and why there is none. */
function answered(work: () => Uint8Array): Uint8Array {
  try {
    return concatenated([Uint8Array.of(1), work()]);
  } catch (error) {
    return concatenated([Uint8Array.of(0), new TextEncoder().encode(messageOf(error))]);
  }
}

function environmentVariable(name: string): Uint8Array {
  return answered(() => {
    const value = Deno.env.get(name);
    if (value === undefined) throw new Error("there is no such variable");
    return new TextEncoder().encode(value);
  });
}
