/** Runs a compiled command in this thread, without its sources. */
import { type RunnableModule, WasmProgram } from "../host/wasm_program.ts";
import type { Host, HostCall, HostValue } from "../interpret/host.ts";
import type { RawTrap } from "../testing/test_suite.ts";
import { trapOf } from "../testing/trap_of.ts";

/** How a command ended. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly trap: RawTrap | null;
}

/** Runs `main`. */
export function runModule(module: RunnableModule, options: {
  readonly args: readonly string[];
  readonly host: Host;
  /** What it may use; null without a limit. */
  readonly gas: number | null;
}): CommandEnd {
  const { gas } = options;
  const run = new WasmProgram(module).instantiate(new ArgumentHost(options));
  if (gas !== null) run.gasLeft = BigInt(gas);
  let result = 1;
  const trap = trapOf(() => result = Number(run.call("run")));
  return { exitCode: trap === null ? exitCodeOf(result) : 1, trap };
}

/** The exit code of `main`'s result. */
function exitCodeOf(result: number): number {
  return Number.isInteger(result) && result >= 0 && result <= 255 ? result : 1;
}

/** A host that also knows the arguments of `main`. */
class ArgumentHost implements Host {
  readonly #host: Host;
  readonly #arguments: string;

  constructor({ args, host }: { readonly args: readonly string[]; readonly host: Host }) {
    this.#host = host;
    this.#arguments = args.map((each) => `\0${each.replaceAll("\0", "")}`).join("");
  }

  call(call: HostCall): HostValue {
    if (call.name === "arguments" && call.module.startsWith("lang:host/process@")) return this.#arguments;
    return this.#host.call(call);
  }
}
