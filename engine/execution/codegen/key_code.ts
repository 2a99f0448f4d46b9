/**
 * Generated code that turns key values into key codes (see `runtime/hashing.ts`) and back.
 */
import { unreachable } from "../../base/assert.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import { hashKey } from "../../types/compare.ts";
import { Decimal } from "../../types/decimal.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { trimTrailingSpaces } from "../../types/text.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { hashCode, hashMore, nearHash, NULL_CODE } from "../runtime/hashing.ts";
import { BigInterner, TextInterner, ValueInterner } from "../runtime/interner.ts";
import type { Compilation } from "./compilation.ts";
import type { Binding, Emitter, Value } from "./emitter.ts";
import { emitValue } from "./expression.ts";
import { formOf, isFloat } from "./value_form.ts";

/** Whether unknown values get new codes or are only looked for. */
export type KeyMode = "add" | "find";

/** How values of a key become codes. */
export type KeyKind = "number" | "number_or_bigint" | "boolean" | "text" | "value" | "numeric" | "float";

function keyKind(type: SqlType): KeyKind {
  if (isFloat(type)) return "float";
  switch (formOf(type)) {
    case "number":
      return "number";
    case "number_or_bigint":
      return "number_or_bigint";
    case "boolean":
      return "boolean";
    case "string":
      return type.kind === "json" || type.kind === "jsonb" ? "value" : "text";
    case "object":
      return type.kind === "numeric" ? "numeric" : "value";
  }
}

/** What both sides of a comparison have in common. */
export function keyKindOf(left: SqlType, right: SqlType): KeyKind {
  const first = keyKind(left);
  const second = keyKind(right);
  if (first === "float" || second === "float") return first === second ? "float" : "numeric";
  const scales = [scaleOf(left), scaleOf(right)];
  if (first === "numeric" || second === "numeric" || scales[0] !== scales[1]) return "numeric";
  if (first === second) return first;
  return (first === "number" || first === "number_or_bigint") &&
      (second === "number" || second === "number_or_bigint")
    ? "number_or_bigint"
    : "value";
}

function scaleOf(type: SqlType): number {
  return type.kind === "numeric" ? type.scale ?? -1 : 0;
}

/** A key of any numeric type that is equal exactly when the numbers are. */
export function numericKey(type: SqlType, value: SqlValue): unknown {
  const decimal = value instanceof Decimal
    ? value
    : isFloat(type)
    ? Decimal.fromNumber(value as number, 17)
    : Decimal.of(value as NumberOrBigint, Math.max(0, scaleOf(type)));
  return hashKey({ kind: "numeric" }, decimal);
}

/** A Map key of a floating-point number; Map treats NaN as equal to itself and -0 as 0. */
function floatKey(_type: SqlType, value: SqlValue): unknown {
  return value;
}

/** By kind: values as keys of a Map, equal exactly when the values are. */
export const keyFunctions = { value: hashKey, numeric: numericKey, float: floatKey } as const;

type InternerKind = "text" | "value" | "big";

/** The interner of a slot, made at first use. */
export function internerOf(
  state: ExecutionState,
  slot: number,
  kind: InternerKind,
): TextInterner | ValueInterner | BigInterner {
  const known = state.x[slot];
  if (known !== undefined) return known as TextInterner;
  const made = kind === "text"
    ? new TextInterner(state.userOf(slot))
    : kind === "value"
    ? new ValueInterner(state.userOf(slot))
    : new BigInterner();
  state.x[slot] = made;
  return made;
}

/** Codes of the entries of a dictionary; -2: not looked up yet. */
export function dictionaryCodes(
  state: ExecutionState,
  slot: number,
  interner: object,
  dictionary: readonly string[],
): Int32Array {
  const known = state.x[slot] as
    | { interner: object; dictionary: readonly string[]; codes: Int32Array }
    | undefined;
  if (known !== undefined && known.dictionary === dictionary && known.interner === interner) {
    return known.codes;
  }
  const codes = new Int32Array(dictionary.length).fill(-2);
  state.x[slot] = { interner, dictionary, codes };
  return codes;
}

/** Numbers with more bits are not looked for by their place: few of the places might be used. */
const MAX_NUMBER_BITS = 12;

/** Where the values of a key are, if there can be few of them: `code` is an expression of the place. */
export interface KeyPlace {
  readonly code: string;
  /** How many bits a place has. */
  readonly bits: number;
  /** The number whose place is the first. */
  readonly low: number;
  /** The dictionary whose entries are at the places; null: each place is of one number. */
  readonly dictionary: string | null;
}

/** The expression of the hash of some key codes. */
export function hashOf(code: Emitter, codes: readonly string[]): string {
  const [only, ...others] = codes;
  if (only === undefined) return "0";
  if (others.length === 0) return `${code.use("nearHash", nearHash)}(${only})`;
  return others.reduce(
    (sum, key) => `${code.use("hashMore", hashMore)}(${sum}, ${key})`,
    `${code.use("hashCode", hashCode)}(${only})`,
  );
}

/** One key of a hash join or grouping. */
export class KeyCode {
  /** Slot of the interner; made even if it stays unused. */
  readonly slot: number;
  readonly type: SqlType;
  readonly #kind: KeyKind;
  readonly #compilation: Compilation;
  /** The interner may be another one for each row of a surrounding loop: nothing about its codes may be kept. */
  #isOpenedInLoop = false;

  /** `other`: the type of the other side of a comparison. */
  constructor(compilation: Compilation, type: SqlType, other: SqlType = type) {
    this.#compilation = compilation;
    this.type = type;
    this.#kind = keyKindOf(type, other);
    this.slot = compilation.newSlot();
  }

  /** Slots to forget when the region runs again. */
  get slots(): readonly number[] {
    return [this.slot];
  }

  /** Declares the interner. */
  open(code: Emitter): void {
    this.#isOpenedInLoop = code.rowDepth > 0;
    const kind = this.#internerKind();
    if (kind === null) return;
    code.note(
      this,
      code.define("interner", `${code.use("internerOf", internerOf)}(S, ${this.slot}, "${kind}")`),
    );
  }

  #internerKind(): InternerKind | null {
    switch (this.#kind) {
      case "number":
      case "boolean":
        return null;
      case "number_or_bigint":
        return "big";
      case "text":
        return "text";
      default:
        return "value";
    }
  }

  /** A place for each value, where the key is a bare column without NULLs that can have few of them; null: none. */
  place(code: Emitter, expression: Expression): KeyPlace | null {
    if (expression.kind !== "column" || this.#isOpenedInLoop) return null;
    switch (this.#kind) {
      case "text": {
        const place = code.binding(expression.column).dictionary;
        return place === undefined || place.isNull !== null ? null : { ...place, low: 0 };
      }
      case "number":
      case "number_or_bigint": {
        if (code.binding(expression.column).isVector !== true) return null;
        const { code: value, isNull, range } = emitValue(code, expression);
        if (isNull !== null || range === undefined) return null;
        const { low, high } = range;
        const bits = Math.ceil(Math.log2(high - low + 1));
        if (bits > MAX_NUMBER_BITS) return null;
        return { code: low === 0 ? value : `(${value} - ${low})`, bits, low, dictionary: null };
      }
      default:
        return null;
    }
  }

  /**
   * Emits the key code of an expression's value; the answer is an identifier or literal. `type` is the expression's.
   */
  emit(code: Emitter, expression: Expression, mode: KeyMode): string {
    if (this.#kind === "text" && expression.kind === "column") {
      const text = this.#emitText(code, expression.column, mode);
      if (text !== null) return text;
    }
    return this.#emitValue(code, expression.type, emitValue(code, expression), mode);
  }

  #emitText(code: Emitter, column: number, mode: KeyMode): string | null {
    const binding = code.binding(column);
    if (code.isLoaded(column)) return null;
    const interner = code.recall<string>(this);
    if (binding.dictionary !== undefined) {
      if (this.#isOpenedInLoop) return null;
      const place = binding.dictionary;
      const slot = this.#compilation.slotFor(this.#compilation.derivedKey(this, `codes ${mode}`));
      const codes = code.once(
        this.#compilation.derivedKey(this, `codes ${mode} ${place.dictionary} ${interner}`),
        () => code.name("codes"),
      );
      code.atPrologue(() => code.emitOnce(`let ${codes};`));
      const name = code.name("k");
      code.emit(`let ${name} = ${NULL_CODE};`);
      code.block(place.isNull === null ? "" : `if (!(${place.isNull})) `, "conditional", () => {
        code.emit(
          `if (${codes} === undefined) ${codes} = ${
            code.use("dictionaryCodes", dictionaryCodes)
          }(S, ${slot}, ${interner}, ${place.dictionary});`,
        );
        code.emit(`${name} = ${codes}[${place.code}];`);
        const look = `${interner}.${
          mode === "add" ? "ofText" : "findText"
        }(${place.dictionary}[${place.code}])`;
        code.emit(`if (${name} === -2) ${name} = ${codes}[${place.code}] = ${look};`);
      });
      return name;
    }
    if (binding.utf8 === undefined) return null;
    const place = binding.utf8(code);
    const call = `${interner}.${
      mode === "add" ? "ofBytes" : "findBytes"
    }(${place.bytes}, ${place.start}, ${place.end})`;
    return code.define("k", place.isNull === null ? call : `${place.isNull} ? ${NULL_CODE} : ${call}`);
  }

  #emitValue(code: Emitter, type: SqlType, value: Value, mode: KeyMode): string {
    if (value.isNull === "true") return `${NULL_CODE}`;
    const made = this.#codeOf(code, type, value, mode);
    if (value.isNull === null && /^[\w$.]+$/.test(made)) return made;
    return code.define("k", value.isNull === null ? made : `${value.isNull} ? ${NULL_CODE} : ${made}`);
  }

  #codeOf(code: Emitter, type: SqlType, value: Value, mode: KeyMode): string {
    const kind = this.#kind;
    switch (kind) {
      case "number":
        return value.code;
      case "boolean":
        return `(${value.code} ? 1 : 0)`;
      case "number_or_bigint":
        if (value.plain === true || formOf(type) === "number") return value.code;
        return `(typeof ${value.code} === "number" ? ${value.code} : ${code.recall<string>(this)}.${
          mode === "add" ? "of" : "find"
        }(${value.code}))`;
      case "text": {
        const text = type.kind === "char"
          ? `${code.use("trimTrailingSpaces", trimTrailingSpaces)}(${value.code})`
          : value.code;
        return `${code.recall<string>(this)}.${mode === "add" ? "ofText" : "findText"}(${text})`;
      }
      case "value":
      case "numeric":
      case "float": {
        const key = `${code.use("keyOf", keyFunctions[kind])}(${code.constant("type", type)}, ${value.code})`;
        const interner = code.recall<string>(this);
        return mode === "add" ? `${interner}.of(${key}, ${value.code})` : `${interner}.find(${key})`;
      }
      default:
        return unreachable(kind);
    }
  }

  /** The binding of the value that a code stands for; `at` is an expression of the code. {@link open} comes first. */
  binding(at: string, nullable: boolean): Binding {
    return {
      type: this.type,
      cheap: true,
      load: (code) => {
        const key = code.define("k", at);
        const isNull = nullable ? `${key} === ${NULL_CODE}` : null;
        switch (this.#kind) {
          case "number":
            return { code: key, isNull, plain: true };
          case "boolean":
            return { code: code.define("v", `${key} === 1`), isNull };
          case "number_or_bigint":
            if (formOf(this.type) === "number") return { code: key, isNull, plain: true };
            return { code: code.define("v", `${code.recall<string>(this)}.value(${key})`), isNull };
          case "text": {
            const text = `${code.recall<string>(this)}.text(${key})`;
            const name = code.define("v", isNull === null ? text : `${isNull} ? null : ${text}`);
            return { code: name, isNull: isNull === null ? null : `${name} === null` };
          }
          default: {
            const kept = `${code.recall<string>(this)}.values[${key}]`;
            const form = formOf(this.type);
            const absent = form === "object" || form === "string" ? "null" : "0";
            const name = code.define("v", isNull === null ? kept : `${isNull} ? ${absent} : ${kept}`);
            return { code: name, isNull };
          }
        }
      },
    };
  }
}
