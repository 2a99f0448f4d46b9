/**
 * Long lists of literals and long chains of comparisons with literals as arrays of values: a tree with a node for each
 * would take whoever looks at it a hundred times as long, and a statement is bound and planned in one piece.
 *
 * Only what is written in the plainest way is packed; everything else, and what is wrong, is read as it always is. The
 * nodes can be had from what is packed: the text is then read again.
 */
import { LIMITS } from "../../base/limits.ts";
import type { PackedBranches, PackedComparisons, PackedLiterals, PackedRows } from "./ast.ts";
import { KEYWORD_CATEGORY } from "./keywords.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";

/** Shorter lists have nodes; tests change it. Longer than what `normalize` takes literals out of. */
export const packing = { leastCount: 1000 };

/** Digits of integers that are numbers of 32 bits for certain. */
const SMALL_DIGITS = 9;

/** Collects literals of one kind. */
class Packing implements PackedLiterals {
  kind: PackedLiterals["kind"] = "integer";
  readonly values: (number | string | null)[] = [];
  #hasKind = false;

  /** Takes the literal that begins at a token; answers how many tokens it has, 0 when it cannot be taken. */
  take(stream: TokenStream, ahead: number): number {
    const isNegative = stream.isSymbol("-", ahead);
    const at = isNegative ? ahead + 1 : ahead;
    const text = stream.value(at);
    switch (stream.kind(at)) {
      case TOKEN.integer: {
        if (!this.#hasKind || this.kind === "integer") this.#setKind("integer");
        else if (this.kind !== "decimal") return 0;
        const signed = isNegative ? `-${text}` : text;
        // An integer has no negative zero.
        this.values.push(text.length <= SMALL_DIGITS ? Number(signed) + 0 : signed);
        break;
      }
      case TOKEN.decimal:
        if (this.#hasKind && this.kind !== "integer" && this.kind !== "decimal") return 0;
        this.#setKind("decimal");
        this.values.push(isNegative ? `-${text}` : text);
        break;
      case TOKEN.string:
        if (isNegative || (this.#hasKind && this.kind !== "string")) return 0;
        this.#setKind("string");
        this.values.push(text);
        break;
      case TOKEN.parameter:
        if (isNegative || (this.values.length > 0 && this.kind !== "parameter")) return 0;
        if (!(Number(text) >= 1 && Number(text) <= LIMITS.maximumParameters)) return 0;
        this.#setKind("parameter");
        this.values.push(Number(text));
        break;
      case TOKEN.word:
        if (isNegative || text !== "null" || this.kind === "parameter") return 0;
        this.values.push(null);
        break;
      default:
        return 0;
    }
    return at - ahead + 1;
  }

  #setKind(kind: PackedLiterals["kind"]): void {
    this.kind = kind;
    this.#hasKind = true;
  }
}

/**
 * The literals between the opening sign, where the cursor is, and the closing one; moves behind that. null: they are
 * few, or not only literals.
 */
export function takePackedList(stream: TokenStream, close: ")" | "]"): PackedLiterals | null {
  if (stream.hasLiterals) return null;
  const packed = new Packing();
  let ahead = 1;
  while (true) {
    const length = packed.take(stream, ahead);
    if (length === 0) return null;
    ahead += length;
    if (stream.isSymbol(close, ahead)) break;
    if (!stream.isSymbol(",", ahead)) return null;
    ahead++;
  }
  if (packed.values.length < packing.leastCount) return null;
  if (packed.kind === "parameter") {
    for (const number of packed.values) stream.useParameter(Number(number));
  }
  stream.skip(ahead + 1);
  return packed;
}

/**
 * The comparisons of one column that are joined by the operator, from the cursor on, each with the operator behind it;
 * moves behind them. null: they are few.
 */
export function takePackedComparisons(stream: TokenStream, joined: "and" | "or"): PackedComparisons | null {
  if (stream.hasLiterals || stream.kind() === TOKEN.end) return null;
  const isInParentheses = stream.isSymbol("(");
  const start = isInParentheses ? 1 : 0;
  const parts = columnAt(stream, start);
  if (parts.length === 0) return null;
  /** Tokens of the column: its names and the points between. */
  const width = 2 * parts.length - 1;
  const operator = operatorAt(stream, start + width, joined);
  if (operator === null) return null;
  const values = new Packing(), uppers = operator === "between" ? new Packing() : null;
  let end = 0;
  /** Reads one comparison that begins at a token; answers where it ends, 0 when it is another one. */
  const read = (begin: number): number => {
    let ahead = begin;
    if (isInParentheses && !stream.isSymbol("(", ahead++)) return 0;
    if (!isColumnAt(stream, ahead, parts)) return 0;
    ahead += width;
    if (operatorAt(stream, ahead, joined) !== operator) return 0;
    const length = values.take(stream, ++ahead);
    if (length === 0) return 0;
    ahead += length;
    if (uppers !== null) {
      if (!stream.isWord("and", ahead++)) return 0;
      const more = uppers.take(stream, ahead);
      if (more === 0) return 0;
      ahead += more;
    }
    if (isInParentheses && !stream.isSymbol(")", ahead++)) return 0;
    return stream.isWord(joined, ahead) ? ahead + 1 : 0;
  };
  let count = 0;
  for (let next = read(0); next > 0; next = read(end)) {
    end = next;
    count++;
  }
  if (count < packing.leastCount || values.kind === "parameter" || uppers?.kind === "parameter") return null;
  const { position } = stream;
  stream.skip(end);
  // What was begun and not finished.
  values.values.length = count;
  if (uppers !== null) uppers.values.length = count;
  return { column: { kind: "column", parts, position }, operator, values, uppers, position };
}

/**
 * The rows of literals, `(1, 'a'), (2, 'b')`, between the opening sign, where the cursor is, and the closing one, by
 * field; moves behind that. null: they are few, or not only literals.
 */
export function takePackedRows(stream: TokenStream): readonly PackedLiterals[] | null {
  if (stream.hasLiterals || !stream.isSymbol("(", 1)) return null;
  const fields: Packing[] = [];
  let ahead = 1;
  for (let rows = 0;; rows++) {
    if (!stream.isSymbol("(", ahead++)) return null;
    for (let index = 0;; index++) {
      if (rows === 0) fields.push(new Packing());
      const length = fields[index]?.take(stream, ahead) ?? 0;
      if (length === 0) return null;
      ahead += length + 1;
      if (stream.isSymbol(",", ahead - 1)) continue;
      if (!stream.isSymbol(")", ahead - 1) || index + 1 < fields.length) return null;
      break;
    }
    if (stream.isSymbol(")", ahead)) break;
    if (!stream.isSymbol(",", ahead++)) return null;
  }
  if (!areManyRows(fields, fields[0]?.values.length ?? 0)) return null;
  stream.skip(ahead + 1);
  return fields;
}

/**
 * Comparisons of the same columns with literals, `(a = 1 AND b = 2) OR`, from the cursor on, each with the OR behind
 * it; moves behind them. null: they are few.
 */
export function takePackedAlternatives(stream: TokenStream): PackedRows | null {
  if (stream.hasLiterals) return null;
  const fields: { readonly parts: readonly string[]; readonly ahead: number; readonly values: Packing }[] =
    [];
  let rows = 0, end = 0;
  /** Reads one of them; answers where it ends, 0 when it is another one. */
  const read = (begin: number): number => {
    const isInParentheses = stream.isSymbol("(", begin);
    let ahead = isInParentheses ? begin + 1 : begin;
    for (let index = 0;; index++) {
      const parts = columnAt(stream, ahead);
      if (rows === 0) fields.push({ parts, ahead, values: new Packing() });
      const field = fields[index];
      if (field === undefined || parts.length === 0 || parts.join("\0") !== field.parts.join("\0")) return 0;
      ahead += 2 * parts.length - 1;
      if (!stream.isSymbol("=", ahead++)) return 0;
      const length = field.values.take(stream, ahead);
      if (length === 0) return 0;
      ahead += length;
      if (stream.isWord("and", ahead)) ahead++;
      else if (index + 1 < fields.length) return 0;
      else break;
    }
    if (isInParentheses && !stream.isSymbol(")", ahead++)) return 0;
    return stream.isWord("or", ahead) ? ahead + 1 : 0;
  };
  for (let next = read(0); next > 0; next = read(end)) {
    end = next;
    rows++;
  }
  const values = fields.map((field) => field.values);
  // What was begun and not finished.
  for (const each of values) each.values.length = Math.min(each.values.length, rows);
  if (!areManyRows(values, rows)) return null;
  const columns = fields.map(({ parts, ahead }): PackedRows["columns"][number] => {
    return { kind: "column", parts: [...parts], position: stream.positionAhead(ahead) };
  });
  const { position } = stream;
  stream.skip(end);
  return { columns, values, position };
}

/** The branches of CASE from the cursor on; moves behind them. null: they are few, or others are among them. */
export function takePackedBranches(stream: TokenStream, hasOperand: boolean): PackedBranches | null {
  if (stream.hasLiterals) return null;
  const position = stream.positionAhead(1);
  const parts = hasOperand ? [] : columnAt(stream, 1);
  if (!hasOperand && parts.length === 0) return null;
  const keys = new Packing(), results = new Packing();
  let ahead = 0;
  while (stream.isWord("when", ahead)) {
    ahead++;
    if (!hasOperand) {
      if (!isColumnAt(stream, ahead, parts)) return null;
      ahead += 2 * parts.length - 1;
      if (!stream.isSymbol("=", ahead++)) return null;
    }
    const keyLength = keys.take(stream, ahead);
    if (keyLength === 0 || !stream.isWord("then", ahead + keyLength)) return null;
    ahead += keyLength + 1;
    const resultLength = results.take(stream, ahead);
    if (resultLength === 0) return null;
    ahead += resultLength;
  }
  const isWhole = stream.isWord("else", ahead) || stream.isWord("end", ahead);
  if (!isWhole || keys.values.length < packing.leastCount) return null;
  if (keys.kind === "parameter" || results.kind === "parameter") return null;
  stream.skip(ahead);
  return { column: hasOperand ? null : { kind: "column", parts, position }, keys, results };
}

function areManyRows(fields: readonly PackedLiterals[], count: number): boolean {
  return count >= packing.leastCount && fields.length > 1 && fields.every(({ kind }) => kind !== "parameter");
}

/** The parts of a column's name, which begins at a token. */
function columnAt(stream: TokenStream, ahead: number): string[] {
  const parts: string[] = [];
  for (let at = ahead; isColumnName(stream, at); at += 2) {
    parts.push(stream.value(at));
    if (!stream.isSymbol(".", at + 1)) return parts;
  }
  return [];
}

/** Whether a column's name of these parts begins at a token. */
function isColumnAt(stream: TokenStream, ahead: number, parts: readonly string[]): boolean {
  return isColumnName(stream, ahead) &&
    parts.every((part, index) =>
      stream.value(ahead + 2 * index) === part && (index === 0 || stream.isSymbol(".", ahead + 2 * index - 1))
    );
}

function isColumnName(stream: TokenStream, ahead: number): boolean {
  const kind = stream.kind(ahead);
  return kind === TOKEN.quotedIdentifier ||
    (kind === TOKEN.word && stream.categoryOf(ahead) === KEYWORD_CATEGORY.none);
}

function operatorAt(
  stream: TokenStream,
  ahead: number,
  joined: "and" | "or",
): PackedComparisons["operator"] | null {
  if (joined === "and") return stream.isSymbol("<>", ahead) ? "<>" : null;
  if (stream.isSymbol("=", ahead)) return "=";
  return stream.isWord("between", ahead) ? "between" : null;
}

/** The nodes that would have been there, made when they are asked for. */
export function unpacked<T>(make: () => readonly T[]): () => readonly T[] {
  let nodes: readonly T[] | null = null;
  return () => nodes ??= make();
}
