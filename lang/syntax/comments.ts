/** Which comments stand at which token, and where blank lines are, for the formatter. */
import type { Comment, Token } from "./token.ts";

/** A comment before a token, and whether a blank line stands before it. */
export interface LeadingComment {
  readonly text: string;
  readonly isAfterBlank: boolean;
}

/** What stands around the tokens of a file. */
export class CommentMap {
  readonly #leading = new Map<Token, LeadingComment[]>();
  readonly #trailing = new Map<Token, string>();
  readonly #afterBlank = new Set<Token>();
  /** Tokens before which a blank line stands, not counting their comments. */
  readonly #blankBetween = new Set<Token>();
  /** What stands behind the last token. */
  readonly atEnd: readonly LeadingComment[];

  constructor(text: string, tokens: readonly Token[], comments: readonly Comment[]) {
    let next = 0;
    let end = 0;
    let previous: Token | null = null;
    const take = (limit: number): LeadingComment[] => {
      const taken: LeadingComment[] = [];
      for (; next < comments.length && (comments[next]?.start ?? 0) < limit; next++) {
        const comment = comments[next];
        if (comment === undefined) break;
        const written = comment.text.trimEnd();
        if (!comment.isFirstOfLine && previous !== null && taken.length === 0) {
          this.#trailing.set(previous, written);
        } else {
          taken.push({ text: written, isAfterBlank: hasBlankLine(text, end, comment.start) });
        }
        end = comment.end;
      }
      return taken;
    };
    for (const token of tokens) {
      const leading = next < comments.length ? take(token.start) : [];
      if (leading.length > 0) this.#leading.set(token, leading);
      if (hasBlankLine(text, end, token.start)) this.#blankBetween.add(token);
      if (leading[0]?.isAfterBlank ?? this.#blankBetween.has(token)) this.#afterBlank.add(token);
      end = token.end;
      previous = token;
    }
    this.atEnd = take(Infinity);
  }

  /** Comments on lines of their own before a token. */
  leading(token: Token): readonly LeadingComment[] {
    return this.#leading.get(token) ?? [];
  }

  /** The comment behind a token on its line. */
  trailing(token: Token): string | undefined {
    return this.#trailing.get(token);
  }

  /** Whether a blank line stands before a token and its comments. */
  isAfterBlank(token: Token): boolean {
    return this.#afterBlank.has(token);
  }

  /** Whether a blank line stands between a token and what is before it, its comments included. */
  isBlankBefore(token: Token): boolean {
    return this.#blankBetween.has(token);
  }

  /** Whether any comment stands at a token. */
  has(token: Token): boolean {
    return this.#leading.has(token) || this.#trailing.has(token);
  }
}

/** Whether a line without anything on it lies between two offsets. */
function hasBlankLine(text: string, from: number, to: number): boolean {
  let at = text.indexOf("\n", from);
  while (at >= 0 && at < to) {
    let next = at + 1;
    while (next < to && (text[next] === " " || text[next] === "\t" || text[next] === "\r")) next++;
    if (next < to && text[next] === "\n") return true;
    at = text.indexOf("\n", next);
  }
  return false;
}
