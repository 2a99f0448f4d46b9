/**
 * Character encodings by PostgreSQL's names and numbers, and conversion from and to UTF-8.
 *
 * Converted are UTF-8 itself and the encodings with one byte a character; those with several are known by name and
 * refused. The byte 0 is refused everywhere, as a text cannot hold it.
 */
import { decodeUtf8Strict, encodeUtf8 } from "../../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";

/** PostgreSQL's encodings in the order of their numbers, and for those with one byte what the decoder calls them. */
const ENCODINGS: readonly (readonly [name: string, label?: string])[] = [
  ["SQL_ASCII"],
  ["EUC_JP"],
  ["EUC_CN"],
  ["EUC_KR"],
  ["EUC_TW"],
  ["EUC_JIS_2004"],
  ["UTF8"],
  ["MULE_INTERNAL"],
  ["LATIN1", "windows-1252"],
  ["LATIN2", "iso-8859-2"],
  ["LATIN3", "iso-8859-3"],
  ["LATIN4", "iso-8859-4"],
  ["LATIN5", "windows-1254"],
  ["LATIN6", "iso-8859-10"],
  ["LATIN7", "iso-8859-13"],
  ["LATIN8", "iso-8859-14"],
  ["LATIN9", "iso-8859-15"],
  ["LATIN10", "iso-8859-16"],
  ["WIN1256", "windows-1256"],
  ["WIN1258", "windows-1258"],
  ["WIN866", "ibm866"],
  ["WIN874", "windows-874"],
  ["KOI8R", "koi8-r"],
  ["WIN1251", "windows-1251"],
  ["WIN1252", "windows-1252"],
  ["ISO_8859_5", "iso-8859-5"],
  ["ISO_8859_6", "iso-8859-6"],
  ["ISO_8859_7", "iso-8859-7"],
  ["ISO_8859_8", "iso-8859-8"],
  ["WIN1250", "windows-1250"],
  ["WIN1253", "windows-1253"],
  ["WIN1254", "windows-1254"],
  ["WIN1255", "windows-1255"],
  ["WIN1257", "windows-1257"],
  ["KOI8U", "koi8-u"],
  ["SJIS"],
  ["BIG5"],
  ["GBK"],
  ["UHC"],
  ["GB18030"],
  ["JOHAB"],
  ["SHIFT_JIS_2004"],
];

/** Other names, without anything but letters and digits. */
const ALIASES: Readonly<Record<string, string>> = {
  abc: "WIN1258",
  alt: "WIN866",
  iso88591: "LATIN1",
  iso88592: "LATIN2",
  iso88593: "LATIN3",
  iso88594: "LATIN4",
  iso88599: "LATIN5",
  iso885910: "LATIN6",
  iso885913: "LATIN7",
  iso885914: "LATIN8",
  iso885915: "LATIN9",
  iso885916: "LATIN10",
  koi8: "KOI8R",
  mskanji: "SJIS",
  shiftjis: "SJIS",
  tcvn: "WIN1258",
  tcvn5712: "WIN1258",
  unicode: "UTF8",
  vscii: "WIN1258",
  win: "WIN1251",
  win932: "SJIS",
  win936: "GBK",
  win949: "UHC",
  win950: "BIG5",
  windows866: "WIN866",
  windows874: "WIN874",
  windows932: "SJIS",
  windows936: "GBK",
  windows949: "UHC",
  windows950: "BIG5",
  windows1250: "WIN1250",
  windows1251: "WIN1251",
  windows1252: "WIN1252",
  windows1253: "WIN1253",
  windows1254: "WIN1254",
  windows1255: "WIN1255",
  windows1256: "WIN1256",
  windows1257: "WIN1257",
  windows1258: "WIN1258",
};

const UTF8 = 6;
const SQL_ASCII = 0;

const numbers = new Map(ENCODINGS.map(([name], number) => [plainName(name), number]));

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** The number of an encoding's name; -1 when there is none. */
export function encodingNumber(name: string): number {
  const plain = plainName(name);
  return numbers.get(plainName(ALIASES[plain] ?? plain)) ?? -1;
}

/** The name of an encoding's number; empty when there is none. */
export function encodingName(number: number): string {
  return ENCODINGS[number]?.[0] ?? "";
}

/** `convert_from`: bytes in an encoding as text. */
export function textOfBytes(bytes: Uint8Array, encoding: string): string {
  const number = encodingNumber(encoding);
  if (number < 0) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `invalid source encoding name "${encoding}"`);
  }
  if (bytes.includes(0)) throw invalidBytes(number === SQL_ASCII ? "UTF8" : encodingName(number), 0);
  if (number === UTF8 || number === SQL_ASCII) {
    const decoded = decodeUtf8Strict(bytes);
    if (decoded === undefined) throw invalidBytes("UTF8");
    return decoded;
  }
  const characters = charactersOf(number);
  let text = "";
  for (const byte of bytes) {
    const character = characters[byte];
    if (character === undefined) throw untranslatable(Uint8Array.of(byte), encodingName(number), "UTF8");
    text += character;
  }
  return text;
}

/** `convert_to`: a text as bytes in an encoding. */
export function bytesOfText(text: string, encoding: string): Uint8Array {
  const number = encodingNumber(encoding);
  if (number < 0) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `invalid destination encoding name "${encoding}"`,
    );
  }
  if (number === UTF8 || number === SQL_ASCII) return encodeUtf8(text);
  const characters = charactersOf(number);
  return Uint8Array.from([...text], (character) => {
    const byte = characters.indexOf(character);
    if (byte < 0) throw untranslatable(encodeUtf8(character), "UTF8", encodingName(number));
    return byte;
  });
}

const tables = new Map<number, readonly (string | undefined)[]>();

/** The characters of the bytes of an encoding with one byte a character. */
function charactersOf(number: number): readonly (string | undefined)[] {
  let table = tables.get(number);
  if (table !== undefined) return table;
  const [name = "", label] = ENCODINGS[number] ?? [];
  if (label === undefined) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `conversion between encoding "${name}" and "UTF8" is not supported`,
    );
  }
  const decoder = new TextDecoder(label);
  const keepsControls = /^(LATIN|ISO)/.test(name);
  table = Array.from({ length: 256 }, (_, byte) => {
    if (byte === 0) return undefined;
    if (keepsControls && byte < 0xa0) return String.fromCharCode(byte);
    const character = decoder.decode(Uint8Array.of(byte));
    // The decoder gives bytes without a character the control of the same number.
    const isMissing = character === "\ufffd" ||
      (byte >= 0x80 && byte < 0xa0 && character.charCodeAt(0) === byte);
    return isMissing ? undefined : character;
  });
  tables.set(number, table);
  return table;
}

function invalidBytes(encoding: string, byte?: number): DatabaseError {
  const detail = byte === undefined ? "" : `: 0x${hex(byte)}`;
  return new DatabaseError(
    SQLSTATE.characterNotInRepertoire,
    `invalid byte sequence for encoding "${encoding}"${detail}`,
  );
}

function untranslatable(bytes: Uint8Array, from: string, to: string): DatabaseError {
  const sequence = Array.from(bytes, (byte) => `0x${hex(byte)}`).join(" ");
  return new DatabaseError(
    SQLSTATE.untranslatableCharacter,
    `character with byte sequence ${sequence} in encoding "${from}" has no equivalent in encoding "${to}"`,
  );
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
