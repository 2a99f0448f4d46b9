/**
 * Values of literals that were taken out of a statement's text, for its plan: it is made for the values that come
 * first and used for others that select about as many rows. Those that select many more or fewer get a plan of their
 * own, so that a rare value does not decide how a common one is looked for.
 */
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";

/** Values of literals, by their index; undefined: it cannot be read as the type. */
export type LiteralReader = (index: number, type: SqlType) => SqlValue | undefined;

/** What a plan was made for: the share of rows that a literal selects, for any value of it. */
type Peek = (read: LiteralReader) => number;

/** More are not worth their time. */
const MAX_PEEKS = 8;

/** See the file's head. */
export class PeekedLiterals {
  readonly #read: LiteralReader;
  readonly #firstIndex: number;
  readonly #peeks = new Map<string, Peek>();
  #isPinned = false;

  /** `firstIndex` is that of the parameter which the first literal has become. */
  constructor(firstIndex: number, read: LiteralReader) {
    this.#firstIndex = firstIndex;
    this.#read = read;
  }

  /** The value of a parameter that was a literal; undefined: it is a real one, or nothing is to be known of it. */
  valueOf(index: number, type: SqlType): SqlValue | undefined {
    return index < this.#firstIndex ? undefined : this.#read(index - this.#firstIndex, type);
  }

  /** Texts of this shape are better planned each by itself, with what their literals have in common. */
  pin(): void {
    this.#isPinned = true;
  }

  /** Whether {@link pin} was called. */
  get isPinned(): boolean {
    return this.#isPinned;
  }

  /** The plan depends on a share, which is computed from values of literals. */
  note(key: string, share: (valueOf: LiteralReader) => number): void {
    if (this.#peeks.size >= MAX_PEEKS) return;
    const first = this.#firstIndex;
    this.#peeks.set(
      key,
      (read) => share((index, type) => index < first ? undefined : read(index - first, type)),
    );
  }

  /** Tells plans apart; null: one does for all values. */
  get variants(): ((read: LiteralReader) => string) | null {
    if (this.#peeks.size === 0) return null;
    const peeks = [...this.#peeks.values()];
    return (read) => {
      let variant = "";
      for (const peek of peeks) variant += `${Math.round(Math.log2(Math.max(peek(read), 1e-9)) / 3)},`;
      return variant;
    };
  }
}
