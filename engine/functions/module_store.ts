/**
 * Prepared modules by their text, so that the functions of one are decoded once. A large module is prepared in turns
 * before anybody needs it: when its function is created, when the database is opened, and when a backup applies the
 * entry. Whoever is quicker than that prepares it in one piece.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { provideCompiled } from "../wasm/function_instance.ts";
import { ModuleError } from "../wasm/module_error.ts";
import { modulePreparation, type PreparedModule } from "../wasm/prepared_module.ts";

/** Whose turns they are. */
export interface TurnTaker {
  /** Microseconds of a clock that only moves forward. */
  monotonic(): number;
  yieldToLoop(): Promise<void>;
}

/** How long a module is worked at before others get their turn. */
const SLICE_MICROSECONDS = 2_000;

/** V8 compiles less code than this in a moment. */
const COMPILED_BESIDE_BYTES = 256 * 1024;

/** What has come of a text: a module, or why it is none. */
type Preparation = PreparedModule | DatabaseError;

const preparations = new Map<string, Preparation>();
let heldBytes = 0;

/** Whether asking for the module of this text takes no time. */
export function isModuleReady(text: string): boolean {
  return text.length < LIMITS.smallModuleText || preparations.has(text);
}

/**
 * The module of a text in base64.
 *
 * @throws {DatabaseError} 42P13 when it is refused.
 */
export function preparedModule(text: string): PreparedModule {
  let found = preparations.get(text);
  if (found === undefined) {
    const steps = preparation(text);
    for (let step = steps.next();; step = steps.next()) {
      if (step.done !== true) continue;
      found = step.value;
      break;
    }
    keep(text, found);
  }
  if (found instanceof DatabaseError) throw found;
  return found;
}

/** Prepares the module of a text and lets V8 compile it, in turns. Answers whether it is accepted. */
export async function prepareInTurns(text: string, taker: TurnTaker, abort?: AbortSignal): Promise<boolean> {
  let found = preparations.get(text);
  if (found === undefined) {
    const steps = preparation(text);
    let end = taker.monotonic() + SLICE_MICROSECONDS;
    for (let step = steps.next(); found === undefined; step = steps.next()) {
      if (step.done === true) {
        found = step.value;
        break;
      }
      if (taker.monotonic() < end) continue;
      await taker.yieldToLoop();
      abort?.throwIfAborted();
      end = taker.monotonic() + SLICE_MICROSECONDS;
    }
    if (!(found instanceof DatabaseError) && found.rewritten.length >= COMPILED_BESIDE_BYTES) {
      provideCompiled(found, await WebAssembly.compile(found.rewritten));
    }
    keep(text, found);
  }
  return !(found instanceof DatabaseError);
}

function* preparation(text: string): Generator<void, Preparation> {
  try {
    return yield* modulePreparation(Uint8Array.fromBase64(text));
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    return new DatabaseError(
      SQLSTATE.invalidFunctionDefinition,
      `invalid WebAssembly module: ${error.message} at byte ${error.offset}`,
      { cause: error },
    );
  }
}

/** Definitions hold what they use; beyond them the last few are kept. */
function keep(text: string, made: Preparation): void {
  if (preparations.has(text)) return;
  preparations.set(text, made);
  heldBytes += bytesOf(text, made);
  for (const [oldest, each] of preparations) {
    if (heldBytes <= LIMITS.keptModuleBytes || oldest === text) break;
    preparations.delete(oldest);
    heldBytes -= bytesOf(oldest, each);
  }
}

/** Keeps nothing any more, as after a start; for tests. */
export function forgetModules(): void {
  preparations.clear();
  heldBytes = 0;
}

function bytesOf(text: string, made: Preparation): number {
  return text.length + (made instanceof DatabaseError ? 0 : made.original.length + made.rewritten.length);
}
