/**
 * The fields that are wanted of a JSON value, as a tree of keys and indexes: one walk over the value finds all of them.
 */
import { encodeUtf8 } from "../base/bytes.ts";
import type { PathStep } from "../catalog/source_path.ts";

/** A place in a value: what is wanted there, and what is wanted below. */
export class JsonField {
  /** Columns that the value here fills. */
  readonly columns: number[] = [];
  /** The value here leads to the next page. */
  isPaging = false;
  /** The value here is the array of rows. */
  isRows = false;
  readonly #keys: { readonly text: string; readonly bytes: Uint8Array; readonly field: JsonField }[] = [];
  readonly #elements = new Map<number, JsonField>();
  /** Members mostly come in the same order: the next key to be tried first. */
  #expected = 0;

  /** The place that the steps lead to; made when it is not there. */
  at(steps: readonly PathStep[]): JsonField {
    const [step, ...rest] = steps;
    if (step === undefined) return this;
    if (typeof step === "number") {
      let field = this.#elements.get(step);
      if (field === undefined) this.#elements.set(step, field = new JsonField());
      return field.at(rest);
    }
    let found = this.#keys.find((each) => each.text === step);
    if (found === undefined) {
      this.#keys.push(found = { text: step, bytes: encodeUtf8(step), field: new JsonField() });
    }
    return found.field.at(rest);
  }

  /** Whether anything is wanted of an object's members. */
  get hasKeys(): boolean {
    return this.#keys.length > 0;
  }

  /** The place of an element. */
  element(index: number): JsonField | null {
    return this.#elements.get(index) ?? null;
  }

  /** The place of the member whose key, without escapes, is `bytes[start … end)`. */
  member(bytes: Uint8Array, start: number, end: number): JsonField | null {
    const keys = this.#keys;
    const size = end - start;
    for (let tried = 0, index = this.#expected; tried < keys.length; tried++, index++) {
      if (index >= keys.length) index = 0;
      const key = keys[index] as (typeof keys)[number];
      const wanted = key.bytes;
      if (wanted.length !== size) continue;
      let at = 0;
      while (at < size && wanted[at] === bytes[start + at]) at++;
      if (at < size) continue;
      this.#expected = index + 1 === keys.length ? 0 : index + 1;
      return key.field;
    }
    return null;
  }

  /** The same for a key as text. */
  memberOf(key: string): JsonField | null {
    return this.#keys.find((each) => each.text === key)?.field ?? null;
  }
}
