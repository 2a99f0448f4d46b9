/**
 * `to_number`: reads a text along a template, position by position. A character of the template that is no pattern
 * skips one of the text, whatever it is; blanks in front of a digit are skipped; a position without a digit reads
 * nothing.
 */
import { encodeUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Decimal } from "./decimal.ts";
import { checkNumericRange } from "./number_or_bigint.ts";
import { numberTemplate } from "./number_template.ts";
import type { NumberTemplate } from "./number_template.ts";

/** The digits after the point that dividing by a power of ten adds, whether needed or not. */
const SHIFT_SCALE = 16;

/**
 * to_number of a text; NULL with an empty template, 22P02 when the text has no digits where the template wants them.
 */
export function parseNumberTemplate(text: string, source: string): Decimal | null {
  if (source === "") return null;
  const template = numberTemplate(source);
  for (const name of ["EEEE", "RN"]) {
    if (template.has(name)) {
      throw new DatabaseError(SQLSTATE.featureNotSupported, `"${name}" not supported for input`);
    }
  }
  const reader = new Reader(template, text);
  const value = Decimal.fromString(reader.read());
  const scale = reader.fractionDigits;
  const precision = template.whole + template.shift + scale;
  checkNumericRange(value.toScaled(scale), precision, scale);
  const rounded = value.round(scale);
  if (!template.has("V")) return rounded;
  const shifted = Decimal.of(rounded.coefficient, rounded.scale + template.shift);
  return shifted.round(rounded.scale + Math.max(SHIFT_SCALE, template.shift));
}

class Reader {
  /** Digits read after the point. */
  fractionDigits = 0;
  readonly #template: NumberTemplate;
  readonly #text: string;
  #position = 0;
  #sign = " ";
  #number = "";
  #wholeDigits = 0;
  #pointRead = false;

  constructor(template: NumberTemplate, text: string) {
    this.#template = template;
    // A digit position takes a byte of UTF-8, as in PostgreSQL.
    this.#text = Array.from(encodeUtf8(text), (byte) => String.fromCharCode(byte)).join("");
  }

  /** The text of the number, sign first. */
  read(): string {
    const fill = this.#template.has("FM");
    for (const node of this.#template.nodes) {
      if (this.#position >= this.#text.length) break;
      if (node.kind === "character") {
        this.#skipCharacter();
        continue;
      }
      const character = this.#text[this.#position] ?? "";
      switch (node.name) {
        case "9":
        case "0":
        case ".":
        case "D":
          this.#digitOrPoint(node.name === "9" || node.name === "0");
          this.#position++;
          break;
        case ",":
        case "G":
          if (!fill && character === ",") this.#position++;
          break;
        case "L":
          this.#skipOther(1);
          break;
        case "TH":
          if (this.#sign !== "-" && !this.#template.has(".")) this.#skipOther(2);
          break;
        case "MI":
          this.#ownSign("-");
          break;
        case "PL":
          this.#ownSign("+");
          break;
        case "SG":
          this.#ownSign("+-");
          break;
      }
    }
    const number = this.#number.endsWith(".") ? this.#number.slice(0, -1) : this.#number;
    return this.#sign + number;
  }

  #skipCharacter(): void {
    const lead = this.#text.charCodeAt(this.#position);
    this.#position += lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  }

  /** Skips characters that cannot be part of a number. */
  #skipOther(count: number): void {
    for (let left = count; left > 0 && this.#position < this.#text.length; left--) {
      if ("0123456789.,+-".includes(this.#text[this.#position] ?? "")) return;
      this.#skipCharacter();
    }
  }

  #ownSign(signs: string): void {
    const character = this.#text[this.#position] ?? "";
    if (character !== "" && signs.includes(character)) {
      this.#sign = character;
      this.#position++;
    } else this.#skipOther(1);
  }

  /** Leaves the position at the last character read; the caller goes on to the next one. */
  #digitOrPoint(isDigit: boolean): void {
    const text = this.#text;
    if (text[this.#position] === " ") this.#position++;
    if (this.#position >= text.length) return;
    const anyDigits = (): boolean => this.#wholeDigits + this.fractionDigits > 0;
    if (this.#sign === " " && isDigit && !anyDigits()) this.#leadingSign();
    if (this.#position >= text.length) return;
    let isRead = false;
    const character = text[this.#position] ?? "";
    if (/^[0-9]$/.test(character)) {
      if (this.#pointRead && this.fractionDigits === this.#template.fraction) return;
      this.#number += character;
      if (this.#pointRead) this.fractionDigits++;
      else this.#wholeDigits++;
      isRead = true;
    } else if (this.#template.has(".") && !this.#pointRead && character === ".") {
      this.#number += ".";
      this.#pointRead = true;
      isRead = true;
    }
    if (this.#sign === " " && anyDigits()) this.#trailingSign(isRead);
  }

  #leadingSign(): void {
    const character = this.#text[this.#position];
    if (this.#template.sign === "before") {
      if (character !== "-" && character !== "+") return;
      this.#sign = character;
    } else if (character === "-" || (this.#template.has("PR") && character === "<")) this.#sign = "-";
    else if (character === "+") this.#sign = "+";
    else return;
    this.#position++;
  }

  /** The sign of S follows the last digit; that of MI, PL and SG may be where a digit was wanted. */
  #trailingSign(isRead: boolean): void {
    const next = this.#text[this.#position + 1];
    const here = this.#text[this.#position];
    if (this.#template.sign !== "none") {
      if (isRead && (next === "-" || next === "+")) {
        this.#sign = next;
        this.#position++;
      }
      return;
    }
    const hasOwnSign = this.#template.has("MI") || this.#template.has("PL") || this.#template.has("SG");
    if (!isRead && hasOwnSign && (here === "-" || here === "+")) this.#sign = here;
  }
}
