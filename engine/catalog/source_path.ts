/**
 * Paths into a JSON value, as external sources name the fields of a row, the rows of a page and the next page:
 * `owner.login`, `tags[0]`, `"first name"."a.b"`, `['x y'][2]`. A leading `$.` is allowed, for those who know JSONPath.
 *
 * Grammar: `[$] step*`, a step being `.key`, `."key"`, `[index]` or `["key"]`; the first step needs no point. A bare
 * key is any text without `.`, `[`, `]`, quotes or white space. In quotes a backslash precedes a quote or a backslash.
 */

/** One step: a key of an object or an index of an array. */
export type PathStep = string | number;

/** A path that cannot be read: why, and at which code unit. */
export class SourcePathError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const MAX_STEPS = 100;

/** The steps of a path. Raises {@link SourcePathError}. */
export function parseSourcePath(text: string): PathStep[] {
  const steps: PathStep[] = [];
  let at = text.startsWith("$") ? 1 : 0;
  let first = at === 0;
  while (at < text.length || first) {
    if (steps.length === MAX_STEPS) throw new SourcePathError(`more than ${MAX_STEPS} steps`, at);
    if (text[at] === "[") {
      const step = bracketStep(text, at);
      steps.push(step.step);
      at = step.end;
    } else {
      if (!first) {
        if (text[at] !== ".") throw new SourcePathError(`"." or "[" expected`, at);
        at++;
      }
      const step = keyStep(text, at);
      steps.push(step.step);
      at = step.end;
    }
    first = false;
  }
  return steps;
}

interface ReadStep {
  readonly step: PathStep;
  readonly end: number;
}

function keyStep(text: string, start: number): ReadStep {
  const quote = text[start];
  if (quote === '"' || quote === "'") return quotedStep(text, start);
  const match = /^[^.[\]"'\s]+/.exec(text.slice(start));
  if (match === null) {
    throw new SourcePathError(
      start >= text.length ? "a key is missing at the end" : `a key expected, not "${text[start]}"`,
      start,
    );
  }
  return { step: match[0], end: start + match[0].length };
}

function quotedStep(text: string, start: number): ReadStep {
  const quote = text[start];
  let key = "";
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at] as string;
    if (character === quote) return { step: key, end: at + 1 };
    if (character === "\\") {
      at++;
      if (at >= text.length) break;
    }
    key += text[at];
  }
  throw new SourcePathError(`the quote is not closed`, start);
}

function bracketStep(text: string, start: number): ReadStep {
  const next = text[start + 1];
  const inner: ReadStep = next === '"' || next === "'"
    ? quotedStep(text, start + 1)
    : indexStep(text, start + 1);
  if (text[inner.end] !== "]") throw new SourcePathError(`"]" expected`, inner.end);
  return { step: inner.step, end: inner.end + 1 };
}

function indexStep(text: string, start: number): ReadStep {
  const match = /^\d{1,9}/.exec(text.slice(start));
  if (match === null) {
    throw new SourcePathError("an index from 0 or a key in quotes expected", start);
  }
  return { step: Number(match[0]), end: start + match[0].length };
}

/** The path of one key. */
export function keyPath(key: string): string {
  return /^[^.[\]"'\s$][^.[\]"'\s]*$/.test(key) ? key : `"${key.replaceAll(/["\\]/g, "\\$&")}"`;
}
