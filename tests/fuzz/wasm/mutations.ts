/**
 * Damaged modules: each is refused with a ModuleError, or it is valid to V8 as well, as it is and rewritten, and a call
 * of its exports ends and gives the same again. What we refuse as invalid, and not as not allowed, V8 refuses as well.
 */
import { DatabaseError } from "../../../engine/base/errors.ts";
import { FunctionInstance, type WasmValue } from "../../../engine/wasm/function_instance.ts";
import { InstancePool } from "../../../engine/wasm/instance_pool.ts";
import { ModuleError } from "../../../engine/wasm/module_error.ts";
import { I64 } from "../../../engine/wasm/module_structure.ts";
import { type PreparedModule, prepareModule } from "../../../engine/wasm/prepared_module.ts";
import { type SeededRandom, seededRandom } from "../../support/random.ts";

/** What a campaign came to. */
export interface MutationReport {
  accepted: number;
  refused: number;
  calls: number;
  /** The longest time that one module took, in milliseconds. */
  slowest: number;
  failure: string | null;
}

/** Refusals of what is valid WebAssembly. */
const POLICY =
  /not allowed|limit is|start function may not|may not read a global|out of bounds|zero byte expected|constant expression required|malformed type of value|malformed element kind/;
const GAS = 50_000;

/** Mutates modules `count` times. */
export function runMutations(
  seeds: readonly Uint8Array<ArrayBuffer>[],
  { seed, count }: { readonly seed: number; readonly count: number },
): MutationReport {
  const report: MutationReport = { accepted: 0, refused: 0, calls: 0, slowest: 0, failure: null };
  const pool = new InstancePool();
  for (let round = 0; round < count; round++) {
    const random = seededRandom(seed * 1_000_003 + round);
    const bytes = mutated(random.pick(seeds), random);
    const started = performance.now();
    const failure = checkModule(bytes, report, pool);
    report.slowest = Math.max(report.slowest, performance.now() - started);
    if (failure === null) continue;
    report.failure = `round ${round}: ${failure}\n${bytes.toHex()}`;
    break;
  }
  return report;
}

function checkModule(
  bytes: Uint8Array<ArrayBuffer>,
  report: MutationReport,
  pool: InstancePool,
): string | null {
  let module: PreparedModule;
  try {
    module = prepareModule(bytes);
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    report.refused++;
    if (error.offset < 0 || error.offset > bytes.length) return `offset ${error.offset} is not in the module`;
    if (!POLICY.test(error.message) && WebAssembly.validate(bytes)) {
      return `V8 accepts what is refused: ${error.message} at ${error.offset}`;
    }
    return null;
  }
  report.accepted++;
  if (!WebAssembly.validate(bytes)) return `V8 refuses what is accepted: ${v8Reason(bytes)}`;
  if (!WebAssembly.validate(module.rewritten)) {
    return `V8 refuses what is rewritten: ${v8Reason(module.rewritten)}`;
  }
  for (const [name, { parameters }] of [...module.functions].slice(0, 3)) {
    const instance = new FunctionInstance(module, name, { gas: GAS, pool });
    const values = parameters.map((type): WasmValue => type === I64 ? 3n : 3);
    const [first, second] = [outcome(instance, values), outcome(instance, values)];
    instance.release();
    report.calls++;
    if (first !== second) return `two calls of "${name}" differ: ${first} and ${second}`;
  }
  return null;
}

function outcome(instance: FunctionInstance, values: readonly WasmValue[]): string {
  try {
    return `${instance.call(...values)} gas ${instance.gasUsed}`;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return `${error.message} gas ${instance.gasUsed}`;
  }
}

function v8Reason(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    new WebAssembly.Module(bytes);
    return "";
  } catch (error) {
    return String(error);
  }
}

function mutated(seed: Uint8Array<ArrayBuffer>, random: SeededRandom): Uint8Array<ArrayBuffer> {
  let bytes = [...seed];
  for (let count = random.below(10) < 7 ? 1 : 3; count > 0; count--) {
    const at = 8 + random.below(Math.max(1, bytes.length - 8));
    switch (random.below(7)) {
      case 0:
        bytes[at] = random.below(256);
        break;
      case 1:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 2:
        bytes[at] = ((bytes[at] ?? 0) + (random.below(2) * 2 - 1)) & 255;
        break;
      case 3:
        bytes.splice(at, 1 + random.below(4));
        break;
      case 4:
        bytes.splice(at, 0, random.below(256));
        break;
      case 5: {
        const from = 8 + random.below(Math.max(1, bytes.length - 8));
        const part = bytes.slice(from, from + random.below(20));
        for (const [index, byte] of part.entries()) bytes[at + index] = byte;
        break;
      }
      default:
        // An instruction for an instruction of its length, mostly.
        bytes[at] = random.pick([
          0x00,
          0x01,
          0x0b,
          0x0f,
          0x1a,
          0x1b,
          0x45,
          0x6a,
          0x7c,
          0x92,
          0xa0,
          0xbd,
          0xfc,
          0xfd,
        ]);
    }
  }
  if (random.below(50) === 0) bytes = bytes.slice(0, random.below(bytes.length));
  return Uint8Array.from(bytes);
}
