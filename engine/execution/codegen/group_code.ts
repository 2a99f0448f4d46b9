/**
 * Generated code around a {@link GroupTable}: finding the group of a row, and the groups' slots.
 *
 * When all keys are dictionary columns, or integers within narrow bounds, with few bits together, the group is first
 * looked for in an array indexed by the codes, which is good for as long as the dictionaries stay the same. That has no
 * loop, whose rounds a processor guesses right only while the keys come in an order that it has learned.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { AggregateSlot } from "../../sql/functions/definition.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { GroupTable, type SlotKind, type SumPlace } from "../runtime/group_table.ts";
import { slotObject } from "../runtime/slot_object.ts";
import type { Compilation } from "./compilation.ts";
import type { Emitter } from "./emitter.ts";
import { hashOf, type KeyCode, type KeyPlace } from "./key_code.ts";

/** The group table of a slot, made at first use. */
export function groupsOf(
  state: ExecutionState,
  slot: number,
  keyCount: number,
  slotKinds: readonly SlotKind[],
): GroupTable {
  return slotObject(state, slot, GroupTable, keyCount, slotKinds);
}

/** New groups between two looks at the memory; a power of two. */
export const LOOK_GROUPS = 32;

/** Codes of all keys together may have this many bits to be an index. */
const MAX_INDEX_BITS = 16;

/** Group numbers by the places of their keys; -1: not known yet. */
export function groupMemo(
  state: ExecutionState,
  slot: number,
  table: GroupTable,
  dictionaries: readonly (readonly string[])[],
  bits: number,
): Int32Array {
  const known = state.x[slot] as
    | { table: GroupTable; dictionaries: readonly (readonly string[])[]; memo: Int32Array }
    | undefined;
  if (
    known !== undefined && known.table === table &&
    known.dictionaries.every((dictionary, index) => dictionary === dictionaries[index])
  ) return known.memo;
  const memo = new Int32Array(2 ** bits).fill(-1);
  state.x[slot] = { table, dictionaries, memo };
  return memo;
}

interface GroupNames {
  readonly table: string;
  readonly places: string;
  readonly mask: string;
  readonly keys: readonly string[];
  readonly floats: string;
  readonly objects: string;
}

/** Generated code around a {@link GroupTable}: finding the group of a row, and the groups' slots. */
export class GroupCode {
  readonly slot: number;
  readonly keys: readonly KeyCode[];
  readonly #slots: readonly AggregateSlot[];
  readonly #kinds: readonly SlotKind[];
  readonly #compilation: Compilation;
  readonly #leadingKeys: number;

  /** `leadingKeys`: how many key codes {@link lookupUnder} is given in front of the keys. */
  constructor(
    compilation: Compilation,
    keys: readonly KeyCode[],
    slots: readonly AggregateSlot[],
    leadingKeys = 0,
  ) {
    this.#compilation = compilation;
    this.#leadingKeys = leadingKeys;
    this.slot = compilation.newSlot();
    this.keys = keys;
    this.#slots = slots;
    this.#kinds = slots.map((slot) => slot.kind);
  }

  /** Slots to forget when the region runs again. */
  get stateSlots(): readonly number[] {
    return [this.slot, ...this.keys.flatMap((key) => key.slots)];
  }

  /** Declares the table's parts. */
  open(code: Emitter): void {
    for (const key of this.keys) key.open(code);
    const kinds = code.constant("slotKinds", this.#kinds);
    const keyCount = this.keys.length + this.#leadingKeys;
    const names: GroupNames = {
      table: code.define(
        "groups",
        `${code.use("groupsOf", groupsOf)}(S, ${this.slot}, ${keyCount}, ${kinds})`,
      ),
      places: code.name("places"),
      mask: code.name("mask"),
      keys: Array.from({ length: keyCount }, () => code.name("key")),
      floats: code.name("floats"),
      objects: code.name("objects"),
    };
    code.emit(`let ${names.places} = ${names.table}.table, ${names.mask} = ${names.table}.mask;`);
    names.keys.forEach((name, index) => code.emit(`let ${name} = ${names.table}.keys[${index}];`));
    code.emit(`let ${names.floats} = ${names.table}.floats;`);
    code.emit(`const ${names.objects} = ${names.table}.objects;`);
    code.note(this, names);
  }

  /** Emits the search for the group of the keys' values; the answer is the variable of its number. */
  lookup(
    code: Emitter,
    expressions: readonly Expression[],
    onNew: ((group: string) => void) | null = null,
  ): string {
    const names = code.recall<GroupNames>(this);
    const group = code.name("g");
    const places = onNew === null ? this.#places(code, expressions) : [];
    const bits = places.reduce((sum, place) => sum + place.bits, 0);
    if (places.length > 0 && bits <= MAX_INDEX_BITS) {
      const dictionaries = places.flatMap(({ dictionary }) => dictionary ?? []);
      const layout = places.map(({ bits, low }) => `${bits} ${low}`).join();
      const slot = this.#compilation.slotFor(this.#compilation.derivedKey(this, layout));
      const key = this.#compilation.derivedKey(this, `${layout} ${dictionaries.join()}`);
      const memo = code.once(key, () => {
        const name = code.name("memo");
        code.emit(`let ${name};`);
        return name;
      });
      const make = `${code.use("groupMemo", groupMemo)}(S, ${slot}, ${names.table}, [${
        dictionaries.join(", ")
      }], ${bits})`;
      code.emit(`if (${memo} === undefined) ${memo} = ${make};`);
      let shift = 0;
      const index = places.map((place) => {
        const part = shift === 0 ? place.code : `(${place.code} << ${shift})`;
        shift += place.bits;
        return part;
      }).join(" | ");
      const at = code.define("at", index);
      code.emit(`let ${group} = ${memo}[${at}];`);
      code.block(`if (${group} < 0) `, "conditional", () => {
        this.#search(code, names, group, expressions, null);
        code.emit(`${memo}[${at}] = ${group};`);
      });
      return group;
    }
    code.emit(`let ${group} = -1;`);
    this.#search(code, names, group, expressions, onNew);
    return group;
  }

  /** The places of all keys; none: a key has none. */
  #places(code: Emitter, expressions: readonly Expression[]): KeyPlace[] {
    const places: KeyPlace[] = [];
    for (const [index, key] of this.keys.entries()) {
      const expression = expressions[index];
      const place = expression === undefined ? null : key.place(code, expression);
      if (place === null) return [];
      places.push(place);
    }
    return places;
  }

  /** As {@link lookup}, with codes that are known already in front of the keys. */
  lookupUnder(
    code: Emitter,
    leading: readonly string[],
    expressions: readonly Expression[],
    onNew: (group: string) => void,
  ): void {
    const names = code.recall<GroupNames>(this);
    const group = code.name("g");
    code.emit(`let ${group} = -1;`);
    this.#search(code, names, group, expressions, onNew, leading);
  }

  /** Emits the search for a group that must not be made; -1 when there is none. Keys in mode "find". */
  find(code: Emitter, expressions: readonly Expression[]): string {
    const names = code.recall<GroupNames>(this);
    const codes = this.keys.map((key, index) => key.emit(code, expressions[index] as Expression, "find"));
    const group = code.name("g");
    code.emit(`let ${group} = -1;`);
    this.#probe(code, names, group, codes);
    return group;
  }

  #probe(code: Emitter, names: GroupNames, group: string, codes: readonly string[]): string {
    const place = code.name("place");
    code.emit(`let ${place} = ${hashOf(code, codes)} & ${names.mask};`);
    const same = codes.map((key, index) => `${names.keys[index]}[${group}] === ${key}`).join(" && ") ||
      "true";
    code.block("for (;;) ", "conditional", () => {
      code.emit(`${group} = ${names.places}[${place}];`);
      code.emit(`if (${group} < 0 || ${same}) break;`);
      code.emit(`${place} = (${place} + 1) & ${names.mask};`);
    });
    return place;
  }

  #search(
    code: Emitter,
    names: GroupNames,
    group: string,
    expressions: readonly Expression[],
    onNew: ((group: string) => void) | null,
    leading: readonly string[] = [],
  ): void {
    const codes = [
      ...leading,
      ...this.keys.map((key, index) => key.emit(code, expressions[index] as Expression, "add")),
    ];
    const place = this.#probe(code, names, group, codes);
    code.block(`if (${group} < 0) `, "conditional", () => {
      code.emit(`${group} = ${names.table}.insert(${place});`);
      code.emit(`${names.places} = ${names.table}.table; ${names.mask} = ${names.table}.mask;`);
      names.keys.forEach((name, index) => {
        code.emit(`${name} = ${names.table}.keys[${index}]; ${name}[${group}] = ${codes[index]};`);
      });
      code.emit(`${names.table}.link(${group});`);
      code.emit(`${names.floats} = ${names.table}.floats;`);
      this.#slots.forEach((slot, index) =>
        code.emit(`${this.#slotCode(names, index, group)} = ${slot.initial};`)
      );
      onNew?.(group);
    });
  }

  /** The assignable expression of a group's slot. */
  slotCode(code: Emitter, index: number, group: string): string {
    return this.#slotCode(code.recall<GroupNames>(this), index, group);
  }

  #slotCode(names: GroupNames, index: number, group: string): string {
    const kind = this.#kinds[index];
    const stride = this.#kinds.filter((other) => other === kind).length;
    return `${kind === "float" ? names.floats : names.objects}[${group} * ${stride} + ${
      this.#offset(index)
    }]`;
  }

  /** Position of a slot among those of its kind. */
  #offset(index: number): number {
    const kind = this.#kinds[index];
    return this.#kinds.slice(0, index).filter((other) => other === kind).length;
  }

  /** Where the sum in two slots, the first of which is given, is. */
  sumPlace(firstSlot: number): SumPlace {
    return { float: this.#offset(firstSlot), object: this.#offset(firstSlot + 1) };
  }

  /** The expression of the table. */
  table(code: Emitter): string {
    return code.recall<GroupNames>(this).table;
  }

  /** The expression of a list of groups for as many rows as the function works through, made in the prologue. */
  highList(code: Emitter, rows: string): string {
    const kinds = code.constant("slotKinds", this.#kinds);
    const keyCount = this.keys.length + this.#leadingKeys;
    return `${code.use("groupsOf", groupsOf)}(S, ${this.slot}, ${keyCount}, ${kinds}).highList(${rows})`;
  }

  /** The expression of a group's key code. */
  keyAt(code: Emitter, index: number, group: string): string {
    return `${code.recall<GroupNames>(this).keys[index]}[${group}]`;
  }

  /** The expression of the number of groups. */
  count(code: Emitter): string {
    return `${code.recall<GroupNames>(this).table}.count`;
  }
}
