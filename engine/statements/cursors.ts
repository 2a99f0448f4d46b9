/** The cursors that a session has declared, by name. */
import type { Portal } from "./portal.ts";

/** A cursor of DECLARE. */
export interface Cursor {
  readonly portal: Portal;
  /** It outlives its transaction. */
  readonly hold: boolean;
  /** Text of DECLARE. */
  readonly text: string;
}

interface DeclaredCursor extends Cursor {
  readonly number: number;
  /** The transaction that declared it is committed: it is of no concern to it how later ones end. */
  isKept: boolean;
}

/** Closes whatever it removes. */
export class Cursors implements Iterable<readonly [string, Cursor]> {
  readonly #byName = new Map<string, DeclaredCursor>();
  #declared = 0;

  /** How many have been declared since the session began; closed ones count. */
  get declared(): number {
    return this.#declared;
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): Cursor | undefined {
    return this.#byName.get(name);
  }

  /** `isInBlock`: its transaction goes on. */
  add(name: string, cursor: Cursor, isInBlock: boolean): void {
    this.#byName.set(name, { ...cursor, number: ++this.#declared, isKept: !isInBlock });
  }

  close(name: string): void {
    this.#byName.get(name)?.portal.close();
    this.#byName.delete(name);
  }

  closeAll(): void {
    this.#closeWhere(() => true);
  }

  /** Closes those that were declared when already so many had been. */
  closeSince(declared: number): void {
    this.#closeWhere((cursor) => cursor.number > declared);
  }

  /** A transaction has ended: those of it that outlive it stay, unless it was rolled back, and all of earlier ones. */
  endTransaction(rolledBack: boolean): void {
    this.#closeWhere((cursor) => !cursor.isKept && (rolledBack || !cursor.hold));
    for (const cursor of this.#byName.values()) cursor.isKept = true;
  }

  [Symbol.iterator](): Iterator<readonly [string, Cursor]> {
    return this.#byName.entries();
  }

  #closeWhere(isOver: (cursor: DeclaredCursor) => boolean): void {
    for (const [name, cursor] of this.#byName) if (isOver(cursor)) this.close(name);
  }
}
