/**
 * Literal parameterisation for the plan cache: a statement's text with its constants taken out, so that `WHERE aid =
 * 17` and `WHERE aid = 18` share one plan in the simple protocol too.
 *
 * The scanner is separate from the lexer because every simple query passes through it: one pass over character codes
 * that copies runs of text between constants, without making tokens.
 *
 * Invariants: two texts with the same key differ in nothing but the values of their literals, and those are of the
 * same type (int4, int8, numeric with the same number of decimals, string). Constants whose value decides the meaning
 * of the statement stay in the key: ordinals and expressions of GROUP BY and ORDER BY (and then the target list,
 * whose expressions they must match), type modifiers, typed literals, conflict targets. What the scanner cannot tell,
 * the parser can: a statement whose `pinnedLiterals` is not empty must not be cached under the key.
 *
 * Limits: data statements only, one per text, at most {@link MAX_LITERAL_COUNT} constants, {@link MAX_DEPTH} nested
 * parentheses, and no comments, dollar quotes or prefixed strings; otherwise the answer is `null` and the text is its
 * own key.
 */

/** What a literal that was taken out is. */
export interface ExtractedLiteral {
  /** integer: fits int4; bigint: fits int8 and not int4; decimal: `digits.digits`; string: text of unknown type. */
  readonly kind: "integer" | "bigint" | "decimal" | "string";
  /** The digits, or the decoded characters. */
  readonly text: string;
  /** UTF-16 offset of its first character. */
  readonly position: number;
}

/** A text without its constants. */
export interface NormalizedText {
  readonly key: string;
  readonly literals: readonly ExtractedLiteral[];
}

/** More constants than this (bulk INSERTs) are not worth a plan of their own. */
export const MAX_LITERAL_COUNT = 512;

/** Nested parentheses that the scanner follows. */
export const MAX_DEPTH = 64;

/** Digits of a decimal constant that is taken out. */
const MAX_DECIMAL_DIGITS = 18;

/** Opens a placeholder in a key; a text that contains it has no key. */
const MARK = "\u0001";

// What constants mean where the scanner is. A `target` list may have to match GROUP BY or ORDER BY; `safe` ones
// never matter; `pinned` ones do, until the next clause; `forced` is pinned up to the closing parenthesis, a
// conflict's `arbiter` up to DO.
const TARGET = 0;
const SAFE = 1;
const PINNED = 2;
const FORCED = 3;
const ARBITER = 4;

// What a word means to the scanner.
const SELECT = 1;
const TO_SAFE = 2;
const TO_PINNED = 3;
/** Begins a clause whose expressions must match the target list. */
const MATCHES_TARGETS = 4;
const DISTINCT = 5;
const CONFLICT = 6;
const DO = 7;
/** A string may follow as a value of its own. */
const BEFORE_VALUE = 8;
/** A parenthesis behind it holds modifiers. */
const TYPE_WORD = 9;
const AS = 10;

interface WordMeaning {
  readonly word: string;
  readonly meaning: number;
}

const WORDS = new Map<number, WordMeaning>();

function define(meaning: number, words: string): void {
  for (const word of words.split(" ")) {
    let hash = 0;
    for (let index = 0; index < word.length; index++) {
      hash = (Math.imul(hash, 31) + word.charCodeAt(index)) | 0;
    }
    WORDS.set(hash, { word, meaning });
  }
}

define(SELECT, "select");
define(TO_SAFE, "from where values set limit offset fetch");
define(TO_PINNED, "having window");
define(MATCHES_TARGETS, "group order");
define(DISTINCT, "distinct");
define(CONFLICT, "conflict");
define(DO, "do");
define(BEFORE_VALUE, "and or not then else when case like ilike to escape between all returning for on");
define(
  TYPE_WORD,
  "interval timestamp timestamptz time timetz numeric decimal dec char character varchar varying bpchar bit float " +
    "current_timestamp current_time localtime localtimestamp",
);
define(AS, "as");

function isIdentifierPart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) ||
    code === 95 ||
    code >= 128 || code === 36;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** Takes the constants out of a data statement; `null` when it must be its own key. */
export function normalize(text: string): NormalizedText | null {
  const first = firstClause(text);
  if (first < 0 || text.includes(MARK)) return null;
  const result = scan(text, first, false);
  return result === RESCAN ? asResult(scan(text, first, true)) : asResult(result);
}

/** The scan found that the target list's constants must stay, after it had taken some out. */
const RESCAN = Symbol("rescan");

function asResult(result: NormalizedText | null | typeof RESCAN): NormalizedText | null {
  return result === RESCAN ? null : result;
}

/** What constants mean at the start of the statement, or -1 when it is none whose constants are taken out. */
function firstClause(text: string): number {
  let offset = 0;
  while (isSpace(text.charCodeAt(offset))) offset++;
  switch (text.charCodeAt(offset) | 32) {
    case 115: // select
      return startsWith(text, offset, "select") ? TARGET : -1;
    case 117: // update
      return startsWith(text, offset, "update") ? SAFE : -1;
    case 105: // insert
      return startsWith(text, offset, "insert") ? SAFE : -1;
    case 100: // delete
      return startsWith(text, offset, "delete") ? SAFE : -1;
    case 119: // with
      return startsWith(text, offset, "with") ? SAFE : -1;
    case 118: // values
      return startsWith(text, offset, "values") ? SAFE : -1;
    default:
      return -1;
  }
}

function startsWith(text: string, offset: number, word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    if ((text.charCodeAt(offset + index) | 32) !== word.charCodeAt(index)) return false;
  }
  return !isIdentifierPart(text.charCodeAt(offset + word.length));
}

// What the token before a constant was.
const AFTER_OTHER = 0;
const AFTER_NAME = 1;
const AFTER_CLOSE = 2;

/** The states of open parentheses; one scan runs at a time, so they are shared. */
const clauses = new Uint8Array(MAX_DEPTH);
/** Whether a SELECT has been seen inside the parenthesis: only then its FROM, WHERE … are clauses. */
const isQuery = new Uint8Array(MAX_DEPTH);

function scan(text: string, start: number, pinTargets: boolean): NormalizedText | null | typeof RESCAN {
  const length = text.length;
  const literals: ExtractedLiteral[] = [];
  let key = "";
  let copied = 0;
  let targetLiterals = 0;
  let depth = 0;
  // The depth at which a parenthesis of a target list was opened, or -1 outside of one.
  let targetDepth = -1;
  let clause = start;
  let inQuery = 1;
  let previous = AFTER_OTHER;
  // What the last word was when nothing but spaces has come since, else 0; and whether a type's name may come next.
  let lastMeaning = 0;
  let typeNext = false;
  let typeName = false;
  let offset = 0;
  while (offset < length) {
    const code = text.charCodeAt(offset);
    if (code === 32 || (code >= 9 && code <= 13)) {
      offset++;
      continue;
    }
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code >= 128) {
      const wordStart = offset;
      let hash = 0;
      let unit = code;
      do {
        hash = (Math.imul(hash, 31) + (unit === 95 ? 95 : unit | 32)) | 0;
        unit = text.charCodeAt(++offset);
      } while (isIdentifierPart(unit));
      // A quote right behind a word is a prefixed string, with rules of its own.
      if (unit === 39) return null;
      const meaning = wordMeaning(text, wordStart, offset, hash);
      previous = AFTER_NAME;
      typeName = typeNext;
      typeNext = meaning === AS;
      lastMeaning = meaning;
      if (meaning === 0 || meaning >= BEFORE_VALUE) {
        if (meaning === BEFORE_VALUE) previous = AFTER_OTHER;
        continue;
      }
      previous = AFTER_OTHER;
      if (meaning === DISTINCT) {
        if (!pinTargets && targetLiterals > 0) return RESCAN;
        pinTargets = true;
        continue;
      }
      if (meaning === SELECT) inQuery = 1;
      if (meaning === MATCHES_TARGETS && inQuery === 1 && !pinTargets && targetLiterals > 0) return RESCAN;
      if (clause === FORCED || (clause === ARBITER && meaning !== DO)) continue;
      if (meaning === SELECT) clause = TARGET;
      else if (meaning === CONFLICT) clause = ARBITER;
      else if (meaning === DO) clause = SAFE;
      else if (meaning === MATCHES_TARGETS) clause = PINNED;
      else if (inQuery === 1) clause = meaning === TO_SAFE ? SAFE : PINNED;
      continue;
    }
    if (code >= 48 && code <= 57) {
      const numberStart = offset;
      do offset++; while (isDigit(text.charCodeAt(offset)));
      let pointAt = -1;
      if (text.charCodeAt(offset) === 46) {
        if (text.charCodeAt(offset + 1) === 46) return null;
        pointAt = offset;
        do offset++; while (isDigit(text.charCodeAt(offset)));
      }
      // Exponents, other bases, separators and junk: rare, and the lexer knows them.
      if (isIdentifierPart(text.charCodeAt(offset))) return null;
      previous = AFTER_OTHER;
      typeNext = typeName = false;
      lastMeaning = 0;
      if (clause >= PINNED || (clause === TARGET && pinTargets)) continue;
      const digits = text.slice(numberStart, offset);
      const kind = pointAt >= 0 ? decimalKind(digits) : integerKind(digits);
      if (kind === null) continue;
      if (clause === TARGET || targetDepth >= 0) targetLiterals++;
      key += text.slice(copied, numberStart) + MARK + kind[0];
      if (kind === "decimal") key += String(offset - pointAt - 1) + MARK;
      copied = offset;
      literals.push({ kind, text: digits, position: numberStart });
      if (literals.length > MAX_LITERAL_COUNT) return null;
      continue;
    }
    switch (code) {
      case 39: { // '
        const stringStart = offset;
        let end = text.indexOf("'", offset + 1);
        let hasQuotes = false;
        while (end >= 0 && text.charCodeAt(end + 1) === 39) {
          hasQuotes = true;
          end = text.indexOf("'", end + 2);
        }
        if (end < 0) return null;
        offset = end + 1;
        let next = offset;
        while (isSpace(text.charCodeAt(next))) next++;
        // A continuation over a line break, or an error.
        if (text.charCodeAt(next) === 39) return null;
        const isValue = previous === AFTER_OTHER && lastMeaning !== TYPE_WORD;
        previous = AFTER_OTHER;
        typeNext = typeName = false;
        lastMeaning = 0;
        if (!isValue || clause >= PINNED || (clause === TARGET && pinTargets)) continue;
        if (clause === TARGET || targetDepth >= 0) targetLiterals++;
        const raw = text.slice(stringStart + 1, end);
        key += text.slice(copied, stringStart) + MARK + "s";
        copied = offset;
        literals.push({
          kind: "string",
          text: hasQuotes ? raw.replaceAll("''", "'") : raw,
          position: stringStart,
        });
        if (literals.length > MAX_LITERAL_COUNT) return null;
        continue;
      }
      case 34: { // "
        let end = text.indexOf('"', offset + 1);
        while (end >= 0 && text.charCodeAt(end + 1) === 34) end = text.indexOf('"', end + 2);
        if (end < 0) return null;
        offset = end + 1;
        if (text.charCodeAt(offset) === 39) return null;
        previous = AFTER_NAME;
        typeName = typeNext;
        typeNext = false;
        lastMeaning = 0;
        continue;
      }
      case 40: { // (
        if (depth === MAX_DEPTH) return null;
        clauses[depth] = clause;
        isQuery[depth] = inQuery;
        if (clause === TARGET && targetDepth < 0) targetDepth = depth;
        depth++;
        const isModifier = typeName || lastMeaning === TYPE_WORD;
        if (isModifier || clause >= PINNED || (clause === TARGET && pinTargets)) clause = FORCED;
        inQuery = 0;
        previous = AFTER_OTHER;
        break;
      }
      case 41: // )
        if (depth === 0) return null;
        depth--;
        if (depth === targetDepth) targetDepth = -1;
        clause = clauses[depth] as number;
        inQuery = isQuery[depth] as number;
        previous = AFTER_CLOSE;
        break;
      case 58: // :
        previous = AFTER_OTHER;
        typeNext = text.charCodeAt(offset + 1) === 58;
        typeName = false;
        lastMeaning = 0;
        offset += typeNext ? 2 : 1;
        continue;
      case 46: // .
        // `.5`, or a qualified name, behind which a type's name may go on.
        if (isDigit(text.charCodeAt(offset + 1))) return null;
        typeNext = typeName;
        typeName = false;
        offset++;
        continue;
      case 59: { // ;
        let next = offset + 1;
        while (isSpace(text.charCodeAt(next)) || text.charCodeAt(next) === 59) next++;
        if (next < length) return null;
        key += text.slice(copied, offset);
        return { key, literals };
      }
      case 36: // $
        if (!isDigit(text.charCodeAt(offset + 1))) return null;
        do offset++; while (isDigit(text.charCodeAt(offset)));
        previous = AFTER_CLOSE;
        typeNext = typeName = false;
        lastMeaning = 0;
        continue;
      case 45: // -
        if (text.charCodeAt(offset + 1) === 45) return null;
        previous = AFTER_OTHER;
        break;
      case 47: // /
        if (text.charCodeAt(offset + 1) === 42) return null;
        previous = AFTER_OTHER;
        break;
      default:
        previous = AFTER_OTHER;
    }
    typeNext = typeName = false;
    lastMeaning = 0;
    offset++;
  }
  key += text.slice(copied);
  return { key, literals };
}

function wordMeaning(text: string, start: number, end: number, hash: number): number {
  const found = WORDS.get(hash);
  if (found === undefined || found.word.length !== end - start) return 0;
  return text.slice(start, end).toLowerCase() === found.word ? found.meaning : 0;
}

/**
 * Which integer type the digits are of, or `null` when they are to stay: beyond int8, and the two values whose
 * negations are the smallest int4 and int8, which are constants of another type without their sign.
 */
function integerKind(digits: string): "integer" | "bigint" | null {
  if (digits.length < 10) return "integer";
  if (digits.length > 19) return null;
  if (digits.length === 19) return digits <= "9223372036854775807" ? "bigint" : null;
  const value = Number(digits);
  if (value <= 2_147_483_647) return "integer";
  return value === 2_147_483_648 ? null : "bigint";
}

function decimalKind(digits: string): "decimal" | null {
  return digits.length <= MAX_DECIMAL_DIGITS + 1 ? "decimal" : null;
}
