/** Tests of the choice between V8 and the automaton, and of the automaton against V8. */
import { strict as assert } from "node:assert";
import { SeededRandom } from "../../base/random.ts";
import { compileRegularExpression } from "../pattern.ts";
import { gas } from "../../base/gas.ts";
import { Automaton } from "./automaton.ts";
import { backtrackingCost } from "./backtracking_cost.ts";
import { compileProgram } from "./program.ts";
import { parseSource } from "./syntax.ts";

function automatonOf(source: string, flags = "su"): Automaton {
  return new Automaton(compileProgram(parseSource(source)), { flags, prefersShort: false });
}

Deno.test("chooseMatcher() takes the match that PostgreSQL takes", () => {
  // Answers of PostgreSQL 15's regexp_match.
  const check = (pattern: string, text: string, expected: readonly (string | undefined)[] | null) => {
    const found = compileRegularExpression(pattern).exec(text);
    assert.deepEqual(found === null ? null : [...found], expected, pattern);
  };
  check("a|ab", "ab", ["ab"]);
  check("(a|ab)c?", "abc", ["abc", "ab"]);
  check("foo|foobar|foob", "xfoobars", ["foobar"]);
  check("(?:a|b)*?c?", "abc", [""]);
  check("Y*?([0-9]{1,3})", "XY1234Z", ["Y1", "1"]);
  check("Y*([0-9]{1,3})", "XY1234Z", ["Y123", "123"]);
  check("(.*?)(\\d+)(.*)", "abc01234xyz", ["abc0", "abc", "0", ""]);
  check("(?:(.*?)(\\d+)(.*)){1,1}", "abc01234xyz", ["abc01234xyz", "abc", "01234", "xyz"]);
  check("x?(xy)?", "xy", ["xy", "xy"]);
  check("(b)|a", "a", ["a", undefined]);
  check("^(\\w+)@(\\w+)$", "me@home", ["me@home", "me", "home"]);
  check("\\mis\\M|\\mthis\\M", "this is", ["this"]);
  check("é|éa", "😀éa", ["éa"]);
  check("a|b", "ccc", null);
});

Deno.test("chooseMatcher() takes time in proportion to the text where backtracking would not end", () => {
  const letters = "a".repeat(20_000);
  const check = (pattern: string, text: string, expected: boolean) =>
    assert.equal(compileRegularExpression(pattern).test(text), expected, pattern);
  check("(a*)*b", letters, false);
  check("(a|a)*b", letters, false);
  check("^(\\w+\\s?)*$", `${letters}!`, false);
  check("(a+)+$", `${letters}!`, false);
  check(`${"a?".repeat(40)}${"a".repeat(40)}b`, letters, false);
  check("a*a*a*a*b", letters, false);
  check("(.*)(.*)(.*)(.*)(.*)x", letters, false);
  check("(?:(?:a|a)+)+$", letters, true);
});

Deno.test("chooseMatcher() refers back as PostgreSQL does, and looks around with repetitions", () => {
  // Answers of PostgreSQL 15's regexp_match.
  const check = (pattern: string, text: string, expected: readonly (string | undefined)[] | null) => {
    const found = compileRegularExpression(pattern).exec(text);
    assert.deepEqual(found === null ? null : [...found], expected, pattern);
  };
  check("(\\w+) \\1", "one two two three", ["two two", "two"]);
  check("^(?:(a)|b)\\1$", "b", null);
  check("^(?:(a)|b)+\\1$", "aba", null);
  check("^(b)?\\1*a+", "aaaa", null);
  check("^(a*)*\\1b", "aab", ["aab", "a"]);
  check("(é|😀)x\\1", "😀xé😀x😀", ["😀x😀", "😀"]);
  check("foo(?=.*bar)", "foo foobar", ["foo"]);
  check("a(?!.*b)", "abac", ["a"]);
  check("(?<=x+)y", "axxy", ["y"]);
  check("(?<!x+)y", "xy", null);
  // A pass without a character counts when it is the first.
  check("([ab]*|b)*\\1+", "", ["", ""]);
  assert.ok(compileRegularExpression("^[ab](.?)*\\1").test("aa"));
  check("^(([ab]+a+)*a?|\\2)\\2*", "a", null);
  assert.deepEqual(compileRegularExpression("(a)\\1", "i").exec("xaA")?.[0], "aA");
  const pairs = compileRegularExpression("(.)\\1");
  const all: string[] = [];
  for (let found = pairs.exec("aabbcdd"); found !== null; found = pairs.exec("aabbcdd")) all.push(found[0]);
  assert.deepEqual(all, ["aa", "bb", "dd"]);
});

Deno.test("chooseMatcher() gives up where references would be tried in too many ways", () => {
  const letters = `${"a".repeat(50)}!`;
  for (const pattern of ["^(a|aa)+\\1$", "(?=(a+)+$)b"]) {
    const error = { code: "54001", message: "regular expression is too complex for this text" };
    assert.throws(() => compileRegularExpression(pattern).exec(letters.repeat(3)), error, pattern);
  }
  // What takes long is no obstacle afterwards, nor are many rows.
  const expression = compileRegularExpression("^(a|aa)+\\1$");
  for (let row = 0; row < 10; row++) assert.ok(expression.test("aaaa") && (expression.lastIndex = 0) === 0);
});

Deno.test("backtrackingCost() is small for what V8 serves well", () => {
  const cost = (source: string) => backtrackingCost(parseSource(source).root);
  assert.deepEqual(cost("abc"), { power: 1, doublings: 0, isAnchored: false });
  assert.deepEqual(cost("^a.*b$"), { power: 1, doublings: 0, isAnchored: true });
  assert.deepEqual(cost("^(?:a|b)c?"), { power: 0, doublings: 2, isAnchored: true });
  assert.deepEqual(cost("x[0-9]+"), { power: 1, doublings: 0, isAnchored: false });
  assert.deepEqual(cost("[a-z]+\\d{3}"), { power: 2, doublings: 0, isAnchored: false });
  assert.equal(cost("(a*)*").power, Infinity);
  assert.equal(cost("(?:a|b)+").power, Infinity);
});

Deno.test("parseSource() calls irregular what only backtracking serves", () => {
  for (const source of ["(a)\\1", "(?=a*)b", "(?<!(a|b+))c"]) {
    assert.ok(!parseSource(source).isRegular, source);
  }
  assert.ok(parseSource("(?<!\\w)(?=\\w)[\\]a-z]\\u{1F600}").isRegular);
});

Deno.test("compileProgram() refuses counts that multiply", () => {
  assert.throws(() => automatonOf("((a{255}){255}){255}"), /too complex/);
});

Deno.test("StateCache finds what following all ways finds", () => {
  const conditions = [
    "^",
    "$",
    "\\b",
    "\\B",
    "(?<!\\w)(?=\\w)",
    "(?<=\\w)(?!\\w)",
    "(?<![\\s\\S])",
    "(?![\\s\\S])",
  ];
  const atoms = ["é", "😀", "[^a]", "(?:)", "(?=b)", "\\w", "\\n", ...conditions, ...conditions];
  for (let seed = 1; seed <= 4000; seed++) {
    const random = new SeededRandom(seed);
    const pick = <T>(items: readonly T[]): T => items[random.between(0, items.length - 1)] as T;
    let source = "";
    for (let parts = random.between(1, 3); parts > 0; parts--) {
      source += pick([pick(atoms), expression(random, 2), `(?:${expression(random, 1)}|${pick(atoms)})`]);
    }
    const text = Array.from({ length: random.between(0, 12) }, () => pick([..."aaabbbcA é\n😀"])).join("");
    const flags = pick(["su", "siu", "smu", "u"]), prefersShort = random.between(0, 1) === 0;
    const automaton = new Automaton(compileProgram(parseSource(source)), { flags, prefersShort });
    const label = `seed ${seed}: ${JSON.stringify([source, text, flags, prefersShort])}`;
    const all = (): unknown[] => {
      const found: unknown[] = [];
      automaton.lastIndex = 0;
      for (let match = automaton.exec(text); match !== null; match = automaton.exec(text)) {
        found.push([match.index, ...match]);
        if (match[0] === "") {
          automaton.lastIndex += (text.codePointAt(automaton.lastIndex) ?? 0) > 0xffff ? 2 : 1;
        }
        if (automaton.lastIndex > text.length) break;
      }
      automaton.lastIndex = 0;
      return [...found, automaton.test(text)];
    };
    assert.deepEqual(all(), gas.run({ what: "test" }, all), label);
  }
});

Deno.test("StateCache forgets states, and gives up where too many come up", () => {
  const random = new SeededRandom(1);
  const text = Array.from({ length: 30_000 }, () => "ab"[random.between(0, 1)]).join("");
  for (const [count, more] of [[10, "{0,40}"], [20, ""]] as const) {
    const automaton = automatonOf(`(?:a|b)*a(?:a|b){${count}}${more === "" ? "" : `(?:a|b)${more}`}c`);
    for (const end of ["ac", "ad"]) {
      const expected = end === "ac" && (more !== "" || `${text}a`.at(-count - 1) === "a");
      assert.equal(automaton.test(text + end), expected, `${count}${end}`);
    }
  }
});

/** A random expression over a and b in which V8's first match is the longest. */
function expression(random: SeededRandom, depth: number): string {
  const atom = (): string => {
    const kind = random.between(0, depth > 0 ? 6 : 3);
    if (kind < 2) return "a";
    if (kind < 3) return "b";
    if (kind < 4) return random.between(0, 1) === 0 ? "[ab]" : ".";
    if (kind < 5) return `(${expression(random, depth - 1)})`;
    return `(?:${expression(random, depth - 1)}|${expression(random, depth - 1)})`;
  };
  let source = "";
  for (let count = random.between(1, 3); count > 0; count--) {
    source += atom() + (["", "", "*", "+", "?", "{1,2}", "*?"][random.between(0, 6)] ?? "");
  }
  return random.between(0, 8) === 0 ? `^${source}` : random.between(0, 8) === 0 ? `${source}$` : source;
}

Deno.test("Automaton finds a match where V8 does, and no shorter one", () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const random = new SeededRandom(seed);
    const source = expression(random, 2);
    const text = Array.from({ length: random.between(0, 8) }, () => "abc"[random.between(0, 2)]).join("");
    const native = new RegExp(source, "gsu").exec(text), found = automatonOf(source).exec(text);
    const label = `seed ${seed}: ${source} on ${text}`;
    assert.equal(found === null, native === null, label);
    if (found === null || native === null) continue;
    assert.equal(found.index, native.index, label);
    assert.ok(found[0].length >= native[0].length, label);
    // The longest match from there: what V8 finds when it must end at a given place.
    for (let end = text.length; end > found.index + found[0].length; end--) {
      const exact: RegExp = new RegExp(
        `(?<=^.{${found.index}})(?:${source.replaceAll("$", "(?![^])")})(?=.{${text.length - end}}$)`,
        "su",
      );
      const other: RegExpExecArray | null = exact.exec(text);
      assert.ok(other === null || other.index !== found.index, label);
    }
  }
});
