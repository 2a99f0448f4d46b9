/** Tries a property with many arguments, and makes a failure small before it is shown. */
import { SeededRandom } from "../../engine/base/random.ts";
import type { TrapReport } from "../host/trap_report.ts";
import type { WasmProgram, WasmRun } from "../host/wasm_program.ts";
import { ChoiceHost, shrink } from "./choices.ts";
import { trapOf } from "./trap_of.ts";

/** How often a property is tried when nobody says. */
export const DEFAULT_TRIES = 100;

/** What trying gives. */
export interface PropertyOutcome {
  /** Null when it held each time. */
  readonly trap: TrapReport | null;
  readonly counterexample: readonly { readonly name: string; readonly value: string }[];
  readonly output: string;
  readonly tries: number;
  readonly shrinks: number;
  readonly heapBytesLeft: number;
}

/** Tries a property that is exported by a name. */
export function runProperty(
  compiled: WasmProgram,
  name: string,
  options: { readonly seed: number; readonly tries?: number },
): PropertyOutcome {
  const count = options.tries ?? DEFAULT_TRIES;
  let heapBytesLeft = 0;
  const once = (host: ChoiceHost): TrapReport | null => {
    const run: WasmRun = compiled.instantiate(host);
    const before = run.heapBytes;
    const trap = trapOf(() => run.call(name));
    if (trap === null) heapBytesLeft = Math.max(heapBytesLeft, run.heapBytes - before);
    return trap;
  };
  for (let index = 0; index < count; index++) {
    const random = new SeededRandom(options.seed * 1_000 + index);
    const host = new ChoiceHost({ more: (limit) => random.below(limit) });
    const trap = once(host);
    if (trap === null) continue;
    const small = shrink(host.choices, (given) => {
      const attempt = new ChoiceHost({ given });
      const other = once(attempt);
      return other !== null && isSameFailure(other, trap) ? attempt.choices : null;
    });
    const telling = new ChoiceHost({ given: small.choices, isTelling: true });
    return {
      trap: once(telling) ?? trap,
      counterexample: telling.toldArguments,
      output: telling.output,
      tries: index + 1,
      shrinks: small.tries,
      heapBytesLeft: 0,
    };
  }
  return { trap: null, counterexample: [], output: "", tries: count, shrinks: 0, heapBytesLeft };
}

/** Whether two failures are of one kind and at one place, so that a small failure explains the first. */
function isSameFailure(left: TrapReport, right: TrapReport): boolean {
  return left.kind === right.kind && left.place?.file === right.place?.file &&
    left.place?.line === right.place?.line && left.place?.column === right.place?.column;
}
