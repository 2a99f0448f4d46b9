/**
 * Templates of numbers: `to_char` and `to_number`.
 *
 * A template has digit positions (`9` blank when leading, `0` always shown), a decimal point (`.` or `D`), group
 * separators (`,` or `G`), signs (`S MI PL SG PR`), `L`, `V`, `EEEE`, `RN`, `TH` and literal text. Locale symbols are
 * those of the "C" locale: point, comma, and a blank as the currency. Numbers too large for their template show `#`.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Decimal } from "./decimal.ts";
import { absolute, powerOfTen } from "./mixed_integer.ts";

type ElementKind =
  | "9"
  | "0"
  | "."
  | ","
  | "S"
  | "MI"
  | "PL"
  | "SG"
  | "PR"
  | "L"
  | "V"
  | "EEEE"
  | "RN"
  | "TH"
  | "literal";

interface Element {
  readonly kind: ElementKind;
  /** The characters of a literal, or the field as written. */
  readonly text: string;
}

interface Template {
  readonly elements: readonly Element[];
  readonly fill: boolean;
  /** Digit positions before and after the point, and after `V`. */
  readonly whole: number;
  readonly fraction: number;
  readonly shift: number;
  /** How many digits before the point are shown at least, because of a `0`. */
  readonly shownWhole: number;
  /** How many digits after the point stay even with FM, because of a `0`. */
  readonly keptFraction: number;
  readonly has: (kind: ElementKind) => boolean;
}

const templates = new Map<string, Template>();
const MAXIMUM_TEMPLATES = 200;
const TOKEN = /"((?:[^"\\]|\\.)*)"?|FM|EEEE|RN|MI|PL|SG|PR|TH|[90.,DGSLV]|[^]/giy;

function parseTemplate(source: string): Template {
  const known = templates.get(source);
  if (known !== undefined) return known;
  const elements: Element[] = [];
  let fill = false;
  for (const match of source.matchAll(TOKEN)) {
    const text = match[0];
    const upper = text.toUpperCase();
    if (match[1] !== undefined) elements.push({ kind: "literal", text: match[1].replace(/\\(.)/g, "$1") });
    else if (upper === "FM") fill = true;
    else if (upper === "D") elements.push({ kind: ".", text });
    else if (upper === "G") elements.push({ kind: ",", text });
    else if (isKind(upper)) elements.push({ kind: upper, text });
    else elements.push({ kind: "literal", text });
  }
  const template = measure(elements, fill);
  if (templates.size >= MAXIMUM_TEMPLATES) templates.clear();
  templates.set(source, template);
  return template;
}

const KINDS = new Set<string>([
  "9",
  "0",
  ".",
  ",",
  "S",
  "MI",
  "PL",
  "SG",
  "PR",
  "L",
  "V",
  "EEEE",
  "RN",
  "TH",
]);

function isKind(text: string): text is Exclude<ElementKind, "literal"> {
  return KINDS.has(text);
}

function measure(elements: readonly Element[], fill: boolean): Template {
  let part: "whole" | "fraction" | "shift" = "whole";
  const counts = { whole: 0, fraction: 0, shift: 0 };
  let firstZero = -1;
  let keptFraction = 0;
  for (const { kind } of elements) {
    if (kind === ".") {
      if (part !== "whole") {
        throw new DatabaseError(
          SQLSTATE.syntaxError,
          part === "shift" ? 'cannot use "V" and decimal point together' : "multiple decimal points",
        );
      }
      part = "fraction";
    } else if (kind === "V") {
      if (part === "fraction") {
        throw new DatabaseError(SQLSTATE.syntaxError, 'cannot use "V" and decimal point together');
      }
      part = "shift";
    } else if (kind === "9" || kind === "0") {
      if (kind === "0" && part !== "fraction" && firstZero < 0) firstZero = counts.whole + counts.shift;
      counts[part]++;
      if (kind === "0" && part === "fraction") keptFraction = counts.fraction;
    }
  }
  const kinds = new Set(elements.map((element) => element.kind));
  return {
    elements,
    fill,
    ...counts,
    shownWhole: firstZero < 0 ? 0 : counts.whole + counts.shift - firstZero,
    keptFraction,
    has: (kind) => kinds.has(kind),
  };
}

/** to_char of a number. */
export function formatNumberTemplate(value: Decimal, source: string): string {
  const template = parseTemplate(source);
  if (template.has("RN")) return formatRoman(value, template, source);
  if (template.has("EEEE")) return formatExponent(value, template);
  if (!value.isFinite) return formatSpecial(value, template);
  const shifted = template.shift > 0
    ? value.multiply(Decimal.fromInteger(powerOfTen(template.shift)))
    : value;
  const rounded = shifted.round(template.fraction);
  const digits = String(absolute(rounded.coefficient)).padStart(template.fraction + 1, "0");
  const whole = digits.slice(0, digits.length - template.fraction);
  const positions = template.whole + template.shift;
  const overflow = whole.length > positions && !(whole === "0" && positions === 0);
  return layOut(
    template,
    overflow ? "#".repeat(positions) : whole,
    overflow ? "#".repeat(template.fraction) : digits.slice(digits.length - template.fraction),
    rounded.sign < 0,
  );
}

function formatSpecial(value: Decimal, template: Template): string {
  const text = value.isNaN ? "NaN" : "Infinity";
  const positions = template.whole + template.shift;
  if (text.length > positions) {
    return layOut(template, "#".repeat(positions), "#".repeat(template.fraction), value.sign < 0);
  }
  // The text takes the digits' places; there is nothing after the point.
  return layOut({ ...template, fraction: 0, keptFraction: 0 }, text, "", value.sign < 0);
}

interface Cell {
  text: string;
  /** Whether it shows part of the number, before which the sign stands. */
  shown: boolean;
}

function layOut(template: Template, whole: string, fraction: string, negative: boolean): string {
  const positions = template.whole + template.shift;
  const hasPoint = template.has(".");
  // A zero before the point is not shown by 9s when digits follow the point.
  let fractionShown = template.fraction;
  if (template.fill) {
    while (fractionShown > template.keptFraction && fraction[fractionShown - 1] === "0") fractionShown--;
  }
  const significant = whole === "0" && hasPoint && fractionShown > 0 ? 0 : whole.length;
  const shownWhole = Math.max(significant, template.shownWhole);
  const cells: Cell[] = [];
  let index = 0;
  let inFraction = false;
  let started = false;
  const hasDigitsBefore = (): boolean => positions - index < shownWhole || (index > 0 && started);
  let leadingSign = false;
  for (const [at, element] of template.elements.entries()) {
    switch (element.kind) {
      case "9":
      case "0":
        if (inFraction) {
          const place = index - positions;
          if (place < fractionShown) cells.push({ text: fraction[place] ?? "0", shown: true });
        } else if (positions - index <= shownWhole) {
          const place = whole.length - (positions - index);
          cells.push({ text: place < 0 ? "0" : whole[place] ?? "0", shown: true });
          started = true;
        } else if (!template.fill) cells.push({ text: " ", shown: false });
        index++;
        break;
      case ".":
        inFraction = true;
        if (template.fraction > 0) cells.push({ text: ".", shown: true });
        break;
      case ",":
        if (hasDigitsBefore() && started) cells.push({ text: ",", shown: true });
        else if (!template.fill) cells.push({ text: " ", shown: false });
        break;
      case "S":
        if (isLeadingSign(template.elements, at)) leadingSign = true;
        else cells.push({ text: negative ? "-" : "+", shown: false });
        break;
      case "MI":
        if (negative) cells.push({ text: "-", shown: false });
        else if (!template.fill) cells.push({ text: " ", shown: false });
        break;
      case "PL":
        if (!negative) cells.push({ text: "+", shown: false });
        else if (!template.fill) cells.push({ text: " ", shown: false });
        break;
      case "SG":
        cells.push({ text: negative ? "-" : "+", shown: false });
        break;
      case "L":
        cells.push({ text: " ", shown: false });
        break;
      case "TH":
        if (!negative && template.fraction === 0 && /^\d+$/.test(whole)) {
          cells.push({ text: ordinalSuffix(whole, element.text), shown: false });
        }
        break;
      case "literal":
        cells.push({ text: element.text, shown: false });
        break;
      default:
        break;
    }
  }
  return placeSign(template, cells, negative, leadingSign);
}

function isLeadingSign(elements: readonly Element[], at: number): boolean {
  return elements.slice(at).some(({ kind }) => kind === "9" || kind === "0");
}

function placeSign(template: Template, cells: Cell[], negative: boolean, leadingSign: boolean): string {
  const hasOwnSign = template.has("MI") || template.has("PL") || template.has("SG") ||
    (template.has("S") && !leadingSign);
  const first = Math.max(cells.findIndex((cell) => cell.shown), 0);
  const text = (from: number, to?: number): string => cells.slice(from, to).map((cell) => cell.text).join("");
  if (template.has("PR")) {
    if (negative) return `${text(0, first)}<${text(first)}>`;
    return template.fill ? text(0) : `${text(0, first)} ${text(first)} `;
  }
  // PL and MI replace the sign of the other side only: a minus without MI still floats before the number.
  if (template.has("PL") && !template.has("MI") && !template.has("SG")) {
    return `${text(0, first)}${negative ? "-" : template.fill ? "" : " "}${text(first)}`;
  }
  if (hasOwnSign) return text(0);
  const sign = negative ? "-" : leadingSign ? "+" : template.fill ? "" : " ";
  return text(0, first) + sign + text(first);
}

function ordinalSuffix(whole: string, written: string): string {
  const tens = whole.length > 1 && whole[whole.length - 2] === "1";
  const last = whole[whole.length - 1];
  const suffix = tens ? "th" : last === "1" ? "st" : last === "2" ? "nd" : last === "3" ? "rd" : "th";
  return written === "TH" ? suffix.toUpperCase() : suffix;
}

function formatExponent(value: Decimal, template: Template): string {
  const plus = template.has("S") ? "+" : " ";
  if (!value.isFinite) return ` ${"#".repeat(template.whole)}.${"#".repeat(template.fraction)}####`;
  if (value.isZero) {
    const zeros = template.fraction > 0 ? `.${"0".repeat(template.fraction)}` : "";
    return `${template.fill ? plus.trim() : plus}0${zeros}e+00`;
  }
  const digits = String(absolute(value.coefficient));
  let exponent = digits.length - 1 - value.scale;
  let mantissa = Decimal.fromString(`${digits}e${1 - digits.length}`).round(template.fraction);
  if (mantissa.compare(Decimal.fromInteger(10)) >= 0) {
    exponent++;
    mantissa = Decimal.ONE.round(template.fraction);
  }
  const size = String(Math.abs(exponent)).padStart(2, "0");
  const sign = value.sign < 0 ? "-" : template.fill ? plus.trim() : plus;
  return `${sign}${mantissa.toString()}e${exponent < 0 ? "-" : "+"}${size}`;
}

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, "M"],
  [900, "CM"],
  [500, "D"],
  [400, "CD"],
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];

function formatRoman(value: Decimal, template: Template, source: string): string {
  let rest = value.isFinite ? Number(value.round(0).coefficient) : 0;
  if (rest < 1 || rest > 3999) return "#".repeat(15);
  let text = "";
  for (const [size, letters] of ROMAN) {
    while (rest >= size) {
      text += letters;
      rest -= size;
    }
  }
  if (source.includes("rn")) text = text.toLowerCase();
  return template.fill ? text : text.padStart(15);
}

/** to_number of a text; 22P02 when it has no digits where the template wants them. */
export function parseNumberTemplate(text: string, source: string): Decimal {
  const template = parseTemplate(source);
  if (template.has("RN") || template.has("EEEE")) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `"${template.has("RN") ? "RN" : "EEEE"}" not supported for input`,
    );
  }
  let position = 0;
  let negative = false;
  let digits = "";
  let fractionDigits = 0;
  let inFraction = false;
  const skipBlanks = (): void => {
    while (text[position] === " ") position++;
  };
  const readSign = (): void => {
    skipBlanks();
    const character = text[position];
    if (character === "-" || character === "<") negative = true;
    if (character === "-" || character === "+" || character === "<" || character === ">") position++;
  };
  for (const element of template.elements) {
    if (position >= text.length) break;
    switch (element.kind) {
      case "9":
      case "0":
        if (digits === "") readSign();
        if (text[position] === "." && !inFraction && template.has(".")) break;
        if (/^[0-9]$/.test(text[position] ?? "")) {
          digits += text[position];
          position++;
          if (inFraction) fractionDigits++;
        }
        break;
      case ".":
        if (text[position] === ".") position++;
        inFraction = true;
        break;
      case ",":
        if (digits === "") readSign();
        if (text[position] === ",") position++;
        break;
      case "S":
      case "MI":
      case "PL":
      case "SG":
      case "PR":
        readSign();
        break;
      case "TH":
        position += 2;
        break;
      case "L":
      case "literal":
        if (!/^[0-9.,+-]$/.test(text[position] ?? "")) position += element.text.length;
        break;
      default:
        break;
    }
  }
  if (/^\s*-/.test(text.slice(position)) && (template.has("S") || template.has("MI"))) negative = true;
  if (digits === "") {
    throw new DatabaseError(
      SQLSTATE.invalidTextRepresentation,
      `invalid input syntax for type numeric: "${text}"`,
    );
  }
  const exponent = fractionDigits + template.shift;
  return Decimal.fromString(`${negative ? "-" : ""}${digits}e-${exponent}`);
}
