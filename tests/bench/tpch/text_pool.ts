/**
 * The text that TPC-H's comments are cut from (specification, clause 4.2.2.14): sentences after its grammar, one
 * after the other. The specification's pool has 300 MB; this one is smaller, which no query notices. Earlier words of
 * a list are taken more often, so that the words of Q13's and Q16's patterns are neither rare nor everywhere.
 */
import { SeededRandom } from "../../../engine/base/random.ts";
import { WORDS } from "./distributions.ts";

const POOL_BYTES = 4 * 1024 * 1024;
const SEED = 4_221_914;

type WordClass = keyof typeof WORDS;

const SENTENCES = ["N V T", "N V P T", "N V N T", "N P V N T", "N P V P T"];
const PHRASES: Readonly<Record<string, readonly string[]>> = {
  N: ["noun", "adjective noun", "adjective, adjective noun", "adverb adjective noun"],
  V: ["verb", "auxiliary verb", "verb adverb", "auxiliary verb adverb"],
  P: ["preposition the N"],
};

let pool: Uint8Array | null = null;

/** The pool in ASCII, made at first use. */
export function textPool(): Uint8Array {
  return pool ??= makePool();
}

function makePool(): Uint8Array {
  const random = new SeededRandom(SEED);
  const sentences: string[] = [];
  for (let length = 0; length < POOL_BYTES;) {
    const sentence = `${sentenceOf(random)} `;
    sentences.push(sentence);
    length += sentence.length;
  }
  return new TextEncoder().encode(sentences.join("")).subarray(0, POOL_BYTES);
}

function sentenceOf(random: SeededRandom): string {
  const parts = pick(random, SENTENCES).split(" ");
  const end = word(random, "terminator");
  return parts.slice(0, -1).map((part) => phrase(random, part)).join(" ") + end;
}

function phrase(random: SeededRandom, kind: string): string {
  return pick(random, PHRASES[kind] ?? []).replaceAll(/\w+/g, (part) => {
    if (part === "the") return part;
    return part in PHRASES ? phrase(random, part) : word(random, part as WordClass);
  });
}

function word(random: SeededRandom, kind: WordClass): string {
  const list: readonly string[] = WORDS[kind];
  const place = Math.floor(random.float() ** 1.5 * list.length);
  return (list[place] ?? "").replaceAll("_", " ");
}

function pick(random: SeededRandom, list: readonly string[]): string {
  return list[random.below(list.length)] ?? "";
}
