/**
 * Lays out the concrete tree as a document.
 *
 * Most rules need no layout of their own: their parts follow one another with the space that two neighboring tokens
 * have between them, and what stands in brackets between commas is a list. Of their own are blocks, unions,
 * operators, chains of calls, and values behind `=`.
 */
import type { CommentMap } from "./comments.ts";
import { type Concrete, ConcreteNode, firstToken, lastToken } from "./concrete_tree.ts";
import {
  brokenGroup,
  choice,
  concatenation,
  type Document,
  freshLine,
  group,
  hardLine,
  ifBroken,
  indent,
  line,
  literal,
  mustBreak,
  sequence,
  softLine,
  suffix,
  withLastBroken,
} from "./document.ts";
import { Token } from "./token.ts";

const binaryRules: ReadonlySet<string> = new Set([
  "or",
  "and",
  "comparison",
  "bit_or",
  "bit_xor",
  "bit_and",
  "shift",
  "sum",
  "product",
]);

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Lays out the declarations of one file. */
export class Layout {
  readonly #text: string;
  readonly #comments: CommentMap;
  /** Tokens whose comments have been printed apart from them. */
  readonly #printed = new Set<Token>();
  readonly #printedBehind = new Set<Token>();

  constructor(text: string, comments: CommentMap) {
    this.#text = text;
    this.#comments = comments;
  }

  /** One declaration with the comments before it. */
  declaration(tree: ConcreteNode): Document {
    return this.#item(tree);
  }

  /** The comments on lines of their own before a token. */
  commentsBefore(token: Token): Document {
    const comments = this.#comments.leading(token);
    if (comments.length === 0 || this.#printed.has(token)) return "";
    this.#printed.add(token);
    const parts: Document[] = [freshLine];
    comments.forEach((comment, index) => {
      if (index > 0 && comment.isAfterBlank) parts.push(hardLine);
      parts.push(comment.text, hardLine);
    });
    if (this.#comments.isBlankBefore(token)) parts.push(hardLine);
    return sequence(parts);
  }

  /** The comments behind the last declaration. */
  commentsAtEnd(): Document {
    return sequence(
      this.#comments.atEnd.flatMap((comment, index) => [
        index === 0 ? "" : comment.isAfterBlank ? concatenation(hardLine, hardLine) : hardLine,
        comment.text,
      ]),
    );
  }

  /** Something that has its own line, with the comments before and behind it: they break nothing inside of it. */
  #item(concrete: Concrete): Document {
    const first = firstToken(concrete);
    const last = lastToken(concrete);
    const before = first === undefined ? "" : this.commentsBefore(first);
    const after = last === undefined ? "" : this.#trailing(last);
    return concatenation(before, this.#concrete(concrete), after);
  }

  #token(token: Token): Document {
    if (!this.#comments.has(token)) return token.text;
    return concatenation(this.commentsBefore(token), token.text, this.#trailing(token));
  }

  #trailing(token: Token): Document {
    const comment = this.#comments.trailing(token);
    if (comment === undefined || this.#printedBehind.has(token)) return "";
    this.#printedBehind.add(token);
    return suffix(comment);
  }

  #concrete(concrete: Concrete): Document {
    return concrete instanceof Token ? this.#token(concrete) : this.#node(concrete);
  }

  #node(node: ConcreteNode): Document {
    if (binaryRules.has(node.rule)) return this.#binary(node);
    switch (node.rule) {
      case "block":
        return this.#block(node);
      case "interface":
      case "eval":
      case "match":
        return this.#lines(node);
      case "type_declaration":
        return this.#typeDeclaration(node);
      case "statement":
      case "simple_statement":
      case "constant":
        return this.#withValue(node);
      case "match_arm":
      case "eval_case":
        return this.#withValue(node);
      case "if":
        return this.#if(node);
      case "postfix":
        return this.#postfix(node);
      case "string":
        return this.#verbatim(node);
      default:
        return this.#sequence(node.children);
    }
  }

  // Parts in a row

  /** Parts with the space between them that their tokens ask for; what stands in brackets is a list. */
  #sequence(children: readonly Concrete[]): Document {
    const parts: Document[] = [];
    for (let index = 0; index < children.length; index++) {
      const child = children[index];
      if (child === undefined) break;
      const before = children[index - 1];
      if (before !== undefined) parts.push(spaceBetween(lastToken(before), firstToken(child)));
      const close = child instanceof Token ? closers[child.text] : undefined;
      if (child instanceof Token && close !== undefined && isBracket(child)) {
        const end = children.findIndex((other, at) =>
          at > index && other instanceof Token && other.text === close && isBracket(other)
        );
        if (end > index) {
          parts.push(this.#list(children.slice(index, end + 1)));
          index = end;
          continue;
        }
      }
      parts.push(this.#concrete(child));
    }
    return sequence(parts);
  }

  /** Brackets around elements and commas. */
  #list(children: readonly Concrete[]): Document {
    const open = children[0];
    const close = children.at(-1);
    if (!(open instanceof Token) || !(close instanceof Token)) return this.#sequence(children);
    const items: { document: Document; concrete: Concrete; isAfterBlank: boolean }[] = [];
    let comma: Token | null = null;
    for (const child of children.slice(1, -1)) {
      if (child instanceof Token && child.text === ",") {
        comma = child;
        const last = items.at(-1);
        if (last !== undefined && this.#comments.has(child)) {
          // A comma in its place or not: its comments stay.
          last.document = concatenation(last.document, this.commentsBefore(child), this.#trailing(child));
        }
        continue;
      }
      const first = firstToken(child);
      items.push({
        document: this.#item(child),
        concrete: child,
        isAfterBlank: first !== undefined && this.#comments.isAfterBlank(first) && items.length > 0,
      });
    }
    const dangling = this.commentsBefore(close);
    const opening = concatenation(open.text === "" ? "" : this.#token(open));
    const closing = concatenation(close.text, this.#trailing(close));
    if (items.length === 0) {
      if (dangling === "") return concatenation(opening, closing);
      return concatenation(opening, indent(withoutLastLine(dangling)), hardLine, closing);
    }
    const edge = open.text === "{" ? line : softLine;
    const hasRest = /^\.\./.test(firstToken(items.at(-1)?.concrete ?? open)?.text ?? "");
    // With a comma, an expression in parentheses would be something else.
    const isParenthesized = open.type === "open_paren" && items.length === 1;
    const end = (hasRest || isParenthesized) && comma === null ? "" : ifBroken(",", "");
    const separated = items.flatMap((item, index) =>
      index === 0
        ? [item.document]
        : [",", line, ...(item.isAfterBlank ? [blankIfBroken] : []), item.document]
    );
    const inside = [edge, sequence(separated), end];
    const tail = dangling === "" ? [] : [hardLine, withoutLastLine(dangling)];
    const isExpanded = open.text === "{" && this.#isFirstOfLine(children[1]);
    const last = items.at(-1);
    const parts = [opening, indent(...inside, ...tail), edge, closing];
    if (isExpanded || last === undefined || dangling !== "" || open.text === "{") {
      return isExpanded || dangling !== "" ? brokenGroup(...parts) : group(...parts);
    }
    if (items.length > 6 && items.every((item) => isShort(item.concrete))) {
      return this.#filled(opening, items.map((item) => item.document), closing);
    }
    if (
      !isHugged(last.concrete, items.length === 1) ||
      items.slice(0, -1).some((item) => mustBreak(item.document))
    ) {
      return group(...parts);
    }
    const head = items.slice(0, -1).flatMap((item) => [item.document, ", "]);
    return choice(
      concatenation(opening, sequence(head), last.document, closing),
      concatenation(opening, sequence(head), withLastBroken(last.document), closing),
      brokenGroup(...parts),
    );
  }

  /** Short elements, as many on a line as fit. */
  #filled(opening: Document, items: readonly Document[], closing: Document): Document {
    const separated = items.map((item, index) => index === 0 ? item : group(",", line, item));
    return group(opening, indent(softLine, sequence(separated), ifBroken(",", "")), softLine, closing);
  }

  #isFirstOfLine(concrete: Concrete | undefined): boolean {
    return concrete !== undefined && firstToken(concrete)?.isFirstOfLine === true;
  }

  // Blocks

  /** `{ … }` of statements. */
  #block(node: ConcreteNode): Document {
    const statements = node.children.slice(1, -1);
    const open = node.children[0];
    const close = node.children.at(-1);
    if (!(open instanceof Token) || !(close instanceof Token)) return this.#sequence(node.children);
    const dangling = this.commentsBefore(close);
    const closing = concatenation(close.text, this.#trailing(close));
    const [only] = statements;
    if (only === undefined && dangling === "" && this.#comments.trailing(open) === undefined) {
      return concatenation(this.#token(open), closing);
    }
    const opening = this.#token(open);
    const isShort = dangling === "" && !statements.some((statement) => this.#isFirstOfLine(statement));
    const parts = [
      opening,
      indent(
        line,
        sequence(this.#separated(statements, isShort ? line : hardLine)),
        ...(dangling === "" ? [] : [
          statements.length === 0 ? "" : hardLine,
          this.#comments.isAfterBlank(close) && statements.length > 0 ? hardLine : "",
          withoutLastLine(dangling),
        ]),
      ),
      line,
      closing,
    ];
    return isShort ? group(...parts) : brokenGroup(...parts);
  }

  /** One to a line, with the blank lines that were between them. */
  #separated(items: readonly Concrete[], separator: Document = hardLine): Document[] {
    return items.flatMap((item, index) => {
      const first = firstToken(item);
      const isApart = index > 0 && first !== undefined && this.#comments.isAfterBlank(first);
      return [index === 0 ? "" : separator, isApart ? hardLine : "", this.#item(item)];
    });
  }

  /** A head and, in braces, one part to a line: `match`, `interface`, `eval`. */
  #lines(node: ConcreteNode): Document {
    const at = node.children.findIndex((child) => child instanceof Token && child.text === "{");
    const open = node.children[at];
    const close = node.children.at(-1);
    if (!(open instanceof Token) || !(close instanceof Token)) return this.#sequence(node.children);
    const head = this.#sequence(node.children.slice(0, at));
    const items = node.children.slice(at + 1, -1);
    const dangling = this.commentsBefore(close);
    const closing = concatenation(close.text, this.#trailing(close));
    if (items.length === 0 && dangling === "") return concatenation(head, " ", this.#token(open), closing);
    return concatenation(
      head,
      " ",
      this.#token(open),
      indent(
        hardLine,
        sequence(this.#separated(items)),
        ...(dangling === "" ? [] : [
          items.length === 0 ? "" : hardLine,
          this.#comments.isAfterBlank(close) && items.length > 0 ? hardLine : "",
          withoutLastLine(dangling),
        ]),
      ),
      hardLine,
      closing,
    );
  }

  /** `if … { … } else { … }`: all blocks on one line, or none. */
  #if(node: ConcreteNode): Document {
    const parts: Document[] = [];
    const isBroken = this.#addIf(node, parts);
    return isBroken ? brokenGroup(...parts) : group(...parts);
  }

  /** Adds the parts of an `if` and what hangs on it; whether they have to be on several lines. */
  #addIf(node: ConcreteNode, parts: Document[]): boolean {
    let isBroken = false;
    const head: Concrete[] = [];
    for (const child of node.children) {
      if (!(child instanceof ConcreteNode) || (child.rule !== "block" && child.rule !== "else")) {
        head.push(child);
        continue;
      }
      if (child.rule === "block") {
        if (head.length > 0) parts.push(group(this.#sequence(head)), " ");
        isBroken = this.#addBlock(child, parts) || isBroken;
        continue;
      }
      const [keyword, rest] = child.children;
      if (keyword !== undefined) parts.push(" ", this.#concrete(keyword), " ");
      if (!(rest instanceof ConcreteNode)) continue;
      const isInner = rest.rule === "if" ? this.#addIf(rest, parts) : this.#addBlock(rest, parts);
      isBroken = isInner || isBroken;
    }
    return isBroken;
  }

  #addBlock(block: ConcreteNode, parts: Document[]): boolean {
    const document = this.#block(block);
    const statements = block.children.slice(1, -1);
    if (statements.length === 0) {
      parts.push(document);
      return mustBreak(document);
    }
    // The lines of the block are those of the whole `if`, so it has no group of its own.
    parts.push(typeof document === "string" ? document : concatenation(...document.parts));
    return mustBreak(document);
  }

  // Declarations and statements

  #typeDeclaration(node: ConcreteNode): Document {
    const body = node.children.at(-1);
    const inner = body instanceof ConcreteNode ? body.children[0] : undefined;
    if (!(inner instanceof ConcreteNode) || inner.rule !== "union") return this.#sequence(node.children);
    const head = this.#sequence(node.children.slice(0, -1));
    const bars = inner.children.filter((child) => child instanceof Token && child.text === "|");
    const variants = inner.children.filter((child) => !(child instanceof Token && child.text === "|"));
    const first = inner.children[0];
    const isExpanded = this.#isFirstOfLine(first) ||
      bars.some((bar) => bar instanceof Token && this.#comments.leading(bar).length > 0);
    const offset = variants.length - bars.length;
    // Many names are kept in the lines in which they were grouped.
    const isGrouped = variants.length > 6 &&
      variants.every((variant) => firstToken(variant) === lastToken(variant)) &&
      inner.children.every((child) => child instanceof ConcreteNode || !this.#comments.has(child)) &&
      bars.slice(1).some((bar) => !this.#isFirstOfLine(bar)) &&
      bars.slice(1).some((bar) => this.#isFirstOfLine(bar));
    const parts = variants.flatMap((variant, index) => {
      const bar = bars[index - offset];
      const token = firstToken(variant);
      const comments = [
        bar instanceof Token ? this.commentsBefore(bar) : "",
        token === undefined ? "" : this.commentsBefore(token),
      ];
      const after = bar instanceof Token ? this.#trailing(bar) : "";
      const mark = index === 0 ? ifBroken("| ", "") : "| ";
      if (isGrouped && index > 0 && !this.#isFirstOfLine(bar)) {
        return [group(line, mark, this.#item(variant))];
      }
      return [line, ...comments, mark, this.#item(variant), after];
    });
    return concatenation(
      head,
      isExpanded ? brokenGroup(indent(sequence(parts))) : group(indent(sequence(parts))),
    );
  }

  /** What has a value behind `=` or `=>`, which goes on a line of its own when it does not fit. */
  #withValue(node: ConcreteNode): Document {
    const equals = node.children.findIndex((child) =>
      child instanceof Token && /^(=|=>|[-+*/%]=|[-+*]%=)$/.test(child.text)
    );
    const value = node.children[equals + 1];
    if (equals < 0 || value === undefined) return this.#sequence(node.children);
    const head = this.#sequence(node.children.slice(0, equals + 1));
    const rest = node.children.slice(equals + 2);
    const tail = rest.length === 0 ? "" : concatenation(" ", this.#sequence(rest));
    const document = this.#concrete(value);
    if (value instanceof ConcreteNode && (binaryRules.has(value.rule) || value.rule === "range")) {
      return concatenation(head, group(indent(line, document)), tail);
    }
    if (!(value instanceof ConcreteNode) || value.rule === "primary" && !isBlockLike(value)) {
      return concatenation(head, group(indent(line, document)), tail);
    }
    return concatenation(head, " ", document, tail);
  }

  // Expressions

  /** `a + b + c`: when it does not fit, each operand of one strength on its own line, behind the operator. */
  #binary(node: ConcreteNode): Document {
    const operands: Concrete[] = [];
    const operators: Token[] = [];
    let left: Concrete | undefined = node;
    while (left instanceof ConcreteNode && left.rule === node.rule) {
      const [first, operator, right]: readonly (Concrete | undefined)[] = left.children;
      if (!(operator instanceof Token) || first === undefined || right === undefined) break;
      operands.unshift(right);
      operators.unshift(operator);
      left = first;
    }
    if (left === undefined || operators.length === 0) return this.#sequence(node.children);
    const first = this.#concrete(left);
    const rest = operands.flatMap((operand, index) => {
      const operator = operators[index];
      return operator === undefined ? [] : [" ", this.#token(operator), line, this.#concrete(operand)];
    });
    return group(first, indent(...rest));
  }

  /** A value and what stands behind it: fields, calls, elements. */
  #postfix(node: ConcreteNode): Document {
    const links: ConcreteNode[] = [];
    let base: Concrete | undefined = node;
    while (base instanceof ConcreteNode && base.rule === "postfix") {
      links.unshift(base);
      base = base.children[0];
    }
    if (base === undefined) return this.#sequence(node.children);
    const first = this.#concrete(base);
    const segments: Document[][] = [];
    const start: Document[] = [first];
    let calls = 0;
    let hasComments = false;
    for (const link of links) {
      const parts = link.children.slice(1);
      const token = parts[0];
      const document = token instanceof Token && token.text === "{"
        ? concatenation(" ", this.#sequence(parts))
        : this.#sequence(parts);
      if (token instanceof Token && token.text === ".") {
        // `1 .0` is no fraction.
        const isPart = link === links[0] && lastToken(base)?.type === "integer" &&
          lastToken(link)?.type === "integer";
        if (isPart) start.push(" ");
        if (this.#comments.leading(token).length > 0) hasComments = true;
        segments.push([document]);
      } else (segments.at(-1) ?? start).push(document);
      if (token instanceof Token && token.text === "(" && segments.length > 0) calls++;
    }
    const whole = concatenation(...start, ...segments.flat());
    if (calls < 2 && !hasComments) return whole;
    const isShortStart = links.length > 0 && base instanceof ConcreteNode && isName(base) &&
      start.length === 1;
    const kept = isShortStart && (segments[0]?.length ?? 0) === 1 ? 1 : 0;
    const chain = concatenation(
      ...start,
      ...segments.slice(0, kept).flat(),
      indent(...segments.slice(kept).flatMap((segment) => [softLine, ...segment])),
    );
    if (hasComments) return brokenGroup(chain);
    const breaksEarly = segments.slice(0, -1).some((segment) => segment.some(mustBreak)) ||
      start.some(mustBreak);
    if (breaksEarly) return brokenGroup(chain);
    return choice(whole, brokenGroup(chain));
  }

  /** The source as it stands, since nothing in a text may move. */
  #verbatim(node: ConcreteNode): Document {
    const first = firstToken(node);
    const last = lastToken(node);
    if (first === undefined || last === undefined) return "";
    return concatenation(
      this.commentsBefore(first),
      literal(this.#text.slice(first.start, last.end)),
      this.#trailing(last),
    );
  }
}

/** A new line when the list around it is broken; it stands behind another. */
const blankIfBroken: Document = softLine;

/** Comments without the new line behind the last, which what follows brings. */
function withoutLastLine(comments: Document): Document {
  if (typeof comments === "string") return comments;
  let end = comments.parts.length;
  while (end > 0 && comments.parts[end - 1] === hardLine) end--;
  return sequence(comments.parts.slice(0, end));
}

function isBracket(token: Token): boolean {
  return !/^interpolation_/.test(token.type);
}

/** Whether an element may be short enough to stand with others on a line. */
function isShort(concrete: Concrete): boolean {
  const inner = concrete instanceof ConcreteNode && concrete.rule === "unary"
    ? concrete.children[1]
    : concrete;
  if (inner instanceof ConcreteNode && inner.rule === "string") {
    return inner.children.length === 1 && (firstToken(inner)?.text.length ?? 0) <= 12;
  }
  return inner instanceof Token || (inner instanceof ConcreteNode && inner.rule === "primary" &&
    inner.children.length === 1);
}

/** Whether the last argument may begin on the line of the call and go on below. */
function isHugged(concrete: Concrete, isOnly: boolean): boolean {
  const value = concrete instanceof ConcreteNode && concrete.rule === "argument"
    ? concrete.children.at(-1)
    : concrete;
  if (!(value instanceof ConcreteNode)) return false;
  if (isBlockLike(value)) return true;
  if (!isOnly) return false;
  const first = firstToken(value);
  return value.rule === "primary" && first !== undefined && /^[([]$/.test(first.text) &&
      value.children.length > 2 ||
    value.rule === "postfix" && value.children.some((child) => child instanceof Token && child.text === "{");
}

/** A function value, a block, a `match`. */
function isBlockLike(value: ConcreteNode): boolean {
  if (/^(block|if|match|string)$/.test(value.rule)) return true;
  if (value.rule !== "primary") return false;
  const [first] = value.children;
  return first instanceof Token
    ? first.text === "fn" || /^[([]$/.test(first.text)
    : isBlockLike(first ?? value);
}

function isName(node: ConcreteNode): boolean {
  const [only] = node.children;
  return node.children.length === 1 && only instanceof Token && only.text.length <= 8 &&
    /^\w/.test(only.text);
}

const noSpaceBefore = new Set([",", ")", "]", ".", ":", "?", "(", "[", "..", "..=", "interpolation_end"]);
const noSpaceAfter = new Set([
  "(",
  "[",
  "open_paren",
  "open_bracket",
  ".",
  "&",
  "negate",
  "..",
  "..=",
  "interpolation_start",
]);

function spaceBetween(left: Token | undefined, right: Token | undefined): Document {
  if (left === undefined || right === undefined) return "";
  if (right.type === "(" && left.type === "text") return " ";
  if (noSpaceBefore.has(right.type) || noSpaceAfter.has(left.type)) {
    // `..` in a list of patterns and `..base` begin something.
    return /^\.\./.test(right.type) && (left.type === ",") ? " " : "";
  }
  if (left.type === "fn" && right.type === "open_paren") return "";
  return " ";
}
