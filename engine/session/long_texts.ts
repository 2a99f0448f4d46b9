/** Long texts of statements are parsed and planned ahead, piece by piece, so that others have their turns between. */
import { DatabaseError } from "../base/errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { SliceTurns } from "../host/slice_turns.ts";
import type { ParsedStatement } from "../sql/parser/ast.ts";
import { parseInPieces } from "../sql/parser/parse_in_pieces.ts";

/** Shorter texts are parsed and planned when they are needed; tests change it. */
export const longTexts = { leastCharacters: 64 * 1024 };
/** How long a text is parsed before others get their turn. */
const TURN_MICROSECONDS = 2_000;

/** Whether a text is parsed ahead. */
export function isLongText(text: string): boolean {
  return text.length >= longTexts.leastCharacters;
}

/** Whether the statements of a text are planned ahead: it is long, or names what has a long definition. */
export function isPlannedAhead(text: string, catalog: Catalog): boolean {
  if (isLongText(text)) return true;
  let names = longNames.get(catalog);
  if (names === undefined) longNames.set(catalog, names = namesOfLong(catalog));
  return names.length > 0 && names.some((name) => text.includes(name));
}

/** The names of tables and views whose definitions are long. */
const longNames = new WeakMap<Catalog, readonly string[]>();

function namesOfLong({ tables, views }: Catalog): string[] {
  const names = tables.filter(hasLongText).map(({ name }) => name);
  // Those of others come after them.
  for (const { name, text } of views) {
    if (isLongText(text) || names.some((long) => text.includes(long))) names.push(name);
  }
  return names;
}

function hasLongText(table: TableDefinition): boolean {
  return table.columns.some(({ defaultText, generatedText }) =>
    isLongText(defaultText ?? "") || isLongText(generatedText ?? "")
  ) || table.constraints.some((each) => each.kind === "check" && isLongText(each.text));
}

/** What parsing needs of the engine. */
interface LongTextsEngine {
  monotonic(): number;
  yieldToLoop(): Promise<void>;
  readonly slices: SliceTurns;
}

/** See the file's head. */
export class LongTexts {
  readonly #engine: LongTextsEngine;
  /** What was parsed just now. */
  readonly #parsed = new Map<string, readonly ParsedStatement[] | DatabaseError>();

  constructor(engine: LongTextsEngine) {
    this.#engine = engine;
  }

  /** The statements of a text, if it was parsed just now. Raises what is wrong with it. */
  take(text: string): readonly ParsedStatement[] | undefined {
    const parsed = this.#parsed.size === 0 ? undefined : this.#parsed.get(text);
    if (parsed instanceof DatabaseError) throw parsed;
    return parsed;
  }

  /**
   * Resolves when a long text is parsed, and planned by `plan`; it is to be used at once. Rejects with what
   * `checkCanceled` raises between two pieces.
   */
  async parse(
    text: string,
    checkCanceled: () => void,
    plan: (statements: readonly ParsedStatement[]) => Promise<void>,
  ): Promise<void> {
    const engine = this.#engine;
    const pieces = parseInPieces(text, () => engine.monotonic(), TURN_MICROSECONDS);
    let turnEnd = engine.monotonic() + TURN_MICROSECONDS;
    try {
      let piece = pieces.next();
      while (piece.done !== true) {
        if (engine.monotonic() >= turnEnd) {
          await engine.slices.next(TURN_MICROSECONDS);
          checkCanceled();
          turnEnd = engine.monotonic() + TURN_MICROSECONDS;
        }
        piece = pieces.next();
      }
      await engine.yieldToLoop();
      await plan(piece.value);
      this.#parsed.set(text, piece.value);
    } catch (error) {
      checkCanceled();
      if (!(error instanceof DatabaseError)) throw error;
      this.#parsed.set(text, error);
    }
    void engine.yieldToLoop().then(() => this.#parsed.delete(text));
  }
}
