/**
 * Repairs by trial for errors that nobody recognizes: each terminal that fits is put in, or takes the place of the
 * wrong token, or that is taken away.
 *
 * They are tried on the states of the automaton first, which costs nothing; only the best become edits of the text.
 */
import { advance, statesBefore } from "./automaton.ts";
import { expectationText } from "./expectation.ts";
import {
  deletion,
  type ErrorContext,
  insertion,
  type Proposal,
  type ProposedFix,
  quoted,
  replacement,
  typeOf,
} from "./error_context.ts";
import { CONTEXTUAL_TERMINALS, terminalNumber, TERMINALS } from "./token.ts";

/** How many tokens behind the edit are looked at. */
const LOOKAHEAD = 12;

/** How many edits are worth a trial on the text. */
const TRIED_EDITS = 6;

/** What is proposed, and how it is reported once it is known what helps. */
export interface GeneralProposal {
  readonly fixes: readonly ProposedFix[];
  describe(fix: ProposedFix | null): Proposal;
}

interface Candidate {
  readonly fix: ProposedFix;
  readonly score: number;
}

/**
 * What stands in for an expression that is missing: it fits everywhere, and says that it is missing when it is
 * reached.
 */
const missingExpression = 'panic("not written yet")';

const placeholders: Readonly<Record<string, string>> = {
  name: "name",
  type_name: "Type",
  text: '"name"',
};

/** How unlikely it is that just this was forgotten. */
const costs: Readonly<Record<string, number>> = {
  ",": 1,
  ")": 1,
  "]": 1,
  "}": 1,
  ":": 1.5,
  "=": 1.5,
  "=>": 1.5,
  "->": 1.6,
  "{": 1.5,
  "(": 1.6,
  "in": 1.7,
};

/** Proposes what the trials on the automaton's states find best. */
export function generalProposal(context: ErrorContext): GeneralProposal {
  const stack = statesBefore(context.tokens, context.from, context.index);
  const candidates: Candidate[] = [];
  const add = (fix: ProposedFix, progress: number, cost: number) => {
    if (progress > 0) candidates.push({ fix, score: progress - cost });
  };
  for (const terminal of context.expected) {
    const name = TERMINALS[terminal] ?? "";
    const progress = progressWith(context, stack, [terminal], context.index);
    const inserted = insertionOf(context, name);
    if (inserted !== null) add(inserted, progress, insertionCost(name));
    const replaced = replacementOf(context, name);
    if (replaced !== null) {
      add(replaced, progressWith(context, stack, [terminal], context.index + 1), insertionCost(name) + 2);
    }
  }
  if (context.expectsExpression) {
    const progress = progressWith(context, stack, [terminalNumber("name")], context.index);
    add(
      insertFix(context, missingExpression, "put an expression in", "placeholder"),
      progress,
      2.5,
    );
  }
  if (context.expects("_")) {
    const progress = progressWith(context, stack, [terminalNumber("_")], context.index);
    add(insertFix(context, "_", "put a pattern in", "placeholder"), progress, 2.5);
  }
  if (!context.isAtEnd) {
    add(
      {
        title: `remove ${quoted(context.wrong)}`,
        applicability: "maybe",
        edits: [deletion(context, context.wrong)],
      },
      progressWith(context, stack, [], context.index + 1),
      2,
    );
  }
  candidates.sort((a, b) => b.score - a.score);
  return {
    fixes: candidates.slice(0, TRIED_EDITS).map((candidate) => candidate.fix),
    describe: (fix) => describe(context, fix),
  };
}

/**
 * How many tokens from an index on fit after some terminals; more than are looked at when the declaration's end does
 * too.
 */
function progressWith(
  context: ErrorContext,
  states: readonly number[],
  terminals: readonly number[],
  from: number,
): number {
  const stack = [...states];
  for (const terminal of terminals) if (!advance(stack, terminal)) return 0;
  let count = 0;
  for (let index = from; index < context.to && count < LOOKAHEAD; index++) {
    if (!advance(stack, context.tokens[index]?.terminal ?? 0)) return count;
    count++;
  }
  if (count < LOOKAHEAD && !advance(stack, 0)) return count;
  return LOOKAHEAD + 1;
}

function insertionCost(name: string): number {
  const known = costs[name];
  if (known !== undefined) return known;
  return name in placeholders ? 2.2 : /^\w/.test(name) ? 3 : 4;
}

function insertionOf(context: ErrorContext, name: string): ProposedFix | null {
  const placeholder = placeholders[name];
  if (placeholder !== undefined) {
    // Where an expression may stand, a name is not what is missing.
    if (context.expectsExpression || context.expects("_")) return null;
    // Where a type may stand, that of nothing can.
    if (name === "type_name" && context.expects("open_paren")) {
      return insertFix(context, "()", "put a type in", "placeholder");
    }
    if (name === "name" && context.expects("type_name") && context.expects("open_paren")) return null;
    return insertFix(context, placeholder, `put ${name === "text" ? "a text" : "a name"} in`, "placeholder");
  }
  if (!isWritable(name)) return null;
  return insertFix(context, name, `put \`${name}\` in`, "maybe");
}

/** Terminals with values, and those that only their place makes what they are, are not made up. */
function isWritable(name: string): boolean {
  return !/^(integer|float|character|text\w*|interpolation\w*|\$end|return|not|true|false|_)$/.test(name) &&
    !(name in CONTEXTUAL_TERMINALS);
}

function insertFix(
  context: ErrorContext,
  text: string,
  title: string,
  applicability: ProposedFix["applicability"],
): ProposedFix {
  const before = context.at(-1);
  const hugsLeft = /^[)\],:.?([]$/.test(text) ||
    (text === "}" && typeOf(context.wrong) === "interpolation_end");
  const offset = before.text === "" ? context.wrong.start : before.end;
  const next = context.file.text[offset] ?? "\n";
  const left = hugsLeft || /^[([.]?$/.test(before.text) ? "" : " ";
  const right = /[\s)\],.]/.test(next) || text === "(" || text === "[" || text === "." ? "" : " ";
  return { title, applicability, edits: [insertion(offset, `${left}${text}${right}`)] };
}

function replacementOf(context: ErrorContext, name: string): ProposedFix | null {
  const wrong = context.wrong;
  if (context.isAtEnd || !isWritable(name) || name in placeholders) return null;
  // Only like for like: punctuation for punctuation.
  if (/^\w/.test(name) || /^[\w"']/.test(wrong.text)) return null;
  return {
    title: `write \`${name}\` for ${quoted(wrong)}`,
    applicability: "maybe",
    edits: [replacement(wrong, name)],
  };
}

function describe(context: ErrorContext, fix: ProposedFix | null): Proposal {
  const expected = expectationText(context.expected);
  const wrong = context.wrong;
  const isInserted = fix?.edits.every((edit) => edit.start === edit.end) === true;
  if (context.isAtEnd) {
    const last = context.at(-1);
    return {
      code: "SY0002",
      span: last,
      message: `The declaration ends here, but ${expected} is expected.`,
      expected,
      actual: "the end of the declaration",
      fixes: [],
    };
  }
  if (isInserted && context.expectsExpression && fix?.applicability === "placeholder") {
    return {
      code: "SY0003",
      span: wrong,
      message: `Expected an expression before ${quoted(wrong)}.`,
      expected,
      actual: quoted(wrong),
      fixes: [],
    };
  }
  return {
    code: isInserted ? "SY0004" : "SY0001",
    span: wrong,
    message: `Expected ${expected}, found ${quoted(wrong)}.`,
    expected,
    actual: quoted(wrong),
    fixes: [],
  };
}
