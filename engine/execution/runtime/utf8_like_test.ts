/** LIKE on bytes gives what LIKE on texts gives. */
import { strictEqual } from "node:assert/strict";
import { encodeUtf8 } from "../../base/bytes.ts";
import { SeededRandom } from "../../base/random.ts";
import { likeUtf8, utf8Pattern } from "./utf8_like.ts";

/** LIKE by a regular expression. */
function reference(pattern: string): (text: string) => boolean {
  const source = pattern.replaceAll(/\\([\s\S])|%|_|[\s\S]/g, (each, escaped?: string) => {
    if (escaped === undefined && each === "%") return "[^]*";
    if (escaped === undefined && each === "_") return "[^]";
    const literal = escaped ?? each;
    return /[\\^$.*+?()[\]{}|/-]/.test(literal) ? `\\${literal}` : literal;
  });
  const expression = new RegExp(`^${source}$`, "u");
  return (text) => expression.test(text);
}

function check(pattern: string, text: string): void {
  const onText = reference(pattern);
  const inside = encodeUtf8(`aé${text}%b`);
  const start = encodeUtf8("aé").length;
  const end = start + encodeUtf8(text).length;
  strictEqual(
    likeUtf8(utf8Pattern(pattern, onText), inside, start, end),
    onText(text),
    `${text} like ${pattern}`,
  );
}

Deno.test("likeUtf8() agrees with a regular expression on chosen patterns", () => {
  const texts = [
    "",
    "a",
    "ab",
    "aab",
    "abab",
    "special deposits requests",
    "request",
    "äöä",
    "\u{1F600}x",
    "a%b",
    "a_b",
    "aba",
  ];
  const patterns = [
    "",
    "%",
    "%%",
    "a",
    "a%",
    "%a",
    "%ab%",
    "ab%ab",
    "aba%aba",
    "%special%requests%",
    "ä%ä",
    "%x",
    "a\\%b",
    "a_b",
  ];
  for (const text of texts) for (const pattern of patterns) check(pattern, text);
});

Deno.test("likeUtf8() agrees with a regular expression on chance", () => {
  const random = new SeededRandom(11);
  const pick = (letters: readonly string[], longest: number) =>
    Array.from({ length: random.below(longest) }, () => letters[random.below(letters.length)] ?? "").join("");
  for (let round = 0; round < 20_000; round++) {
    check(pick(["a", "b", "é", "%", "%", "\\%", "_"], 8), pick(["a", "b", "é", "%"], 12));
  }
});
