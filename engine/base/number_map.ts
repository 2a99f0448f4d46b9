/**
 * Values by numbers that are given out one after the other and are forgotten soon: calls, branches.
 *
 * A `Map` of which entries come and go makes a new table again and again, and each table that was left holds the next
 * one and what was in it then, until all of the memory is looked through. Here entries stay in one array.
 */

const MIN_SLOTS = 64;

/** See the file's head. */
export class NumberMap<Value> {
  #numbers: number[] = new Array<number>(MIN_SLOTS).fill(-1);
  #values: (Value | undefined)[] = new Array<Value | undefined>(MIN_SLOTS).fill(undefined);
  /** In the array. */
  #count = 0;
  /** Whose place is taken by one that stays for long. */
  readonly #others = new Map<number, Value>();

  get size(): number {
    return this.#count + this.#others.size;
  }

  get(number: number): Value | undefined {
    const slot = number & (this.#numbers.length - 1);
    if (this.#numbers[slot] === number) return this.#values[slot];
    return this.#others.size === 0 ? undefined : this.#others.get(number);
  }

  /** Sets the value of a number, a whole one from 0 on, that has none. */
  set(number: number, value: Value): void {
    if (this.#count * 2 >= this.#numbers.length) this.#grow();
    const slot = number & (this.#numbers.length - 1);
    if (this.#numbers[slot] === -1) {
      this.#numbers[slot] = number;
      this.#values[slot] = value;
      this.#count++;
    } else this.#others.set(number, value);
  }

  delete(number: number): boolean {
    const slot = number & (this.#numbers.length - 1);
    if (this.#numbers[slot] !== number) return this.#others.delete(number);
    this.#numbers[slot] = -1;
    this.#values[slot] = undefined;
    this.#count--;
    return true;
  }

  clear(): void {
    this.#numbers.fill(-1);
    this.#values.fill(undefined);
    this.#count = 0;
    this.#others.clear();
  }

  /** Numbers and values, in no order; entries may be deleted meanwhile. */
  *entries(): Generator<[number, Value]> {
    const [numbers, values] = [this.#numbers, this.#values];
    for (let slot = 0; slot < numbers.length; slot++) {
      const number = numbers[slot] as number;
      if (number !== -1) yield [number, values[slot] as Value];
    }
    yield* this.#others;
  }

  /** Twice the places: numbers that had places of their own keep such. */
  #grow(): void {
    const [numbers, values] = [this.#numbers, this.#values];
    this.#numbers = new Array<number>(numbers.length * 2).fill(-1);
    this.#values = new Array<Value | undefined>(numbers.length * 2).fill(undefined);
    for (let slot = 0; slot < numbers.length; slot++) {
      const number = numbers[slot] as number;
      if (number === -1) continue;
      const place = number & (this.#numbers.length - 1);
      this.#numbers[place] = number;
      this.#values[place] = values[slot];
    }
  }
}
