/**
 * The variables that are in scope at a place, as the syntax tree tells: what the statements before it and the
 * headings around it give.
 */
import type { Span } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";

function holds(span: Span, offset: number): boolean {
  return span.start <= offset && offset <= span.end;
}

/** Names of variables in scope at an offset within a declaration; the innermost last. */
export function visibleNames(declaration: ast.Declaration, offset: number): ast.Name[] {
  const found: ast.Name[] = [];
  new Walk(offset, found).declaration(declaration);
  return found;
}

class Walk {
  readonly #offset: number;
  readonly #found: ast.Name[];

  constructor(offset: number, found: ast.Name[]) {
    this.#offset = offset;
    this.#found = found;
  }

  declaration(declaration: ast.Declaration): void {
    switch (declaration.kind) {
      case "function":
        if (declaration.body !== null && holds(declaration.body.span, this.#offset)) {
          this.#parameters(declaration.parameters);
          this.#block(declaration.body);
        }
        return;
      case "test":
        return this.#block(declaration.body);
      case "property":
        if (holds(declaration.body.span, this.#offset)) {
          this.#parameters(declaration.parameters);
          this.#block(declaration.body);
        }
        return;
      case "eval":
        for (const { score } of declaration.cases) this.#expression(score);
        return;
      case "const":
        return this.#expression(declaration.value);
      default:
        return;
    }
  }

  #parameters(parameters: readonly ast.Parameter[]): void {
    for (const { name } of parameters) this.#found.push(name);
  }

  #block(block: ast.Block): void {
    if (!holds(block.span, this.#offset)) return;
    for (const statement of block.statements) {
      if (statement.span.end < this.#offset) {
        if (statement.kind === "let") this.#bind(statement.pattern);
        else if (statement.kind === "var") this.#found.push(statement.name);
      } else if (statement.span.start <= this.#offset) {
        this.#statement(statement);
      }
    }
  }

  #statement(statement: ast.Statement): void {
    switch (statement.kind) {
      case "let":
        this.#expression(statement.value);
        if (statement.otherwise !== null) this.#block(statement.otherwise);
        return;
      case "var":
        return this.#expression(statement.value);
      case "assign":
        this.#expression(statement.place);
        return this.#expression(statement.value);
      case "while":
        this.#expression(statement.condition);
        return this.#block(statement.body);
      case "for":
        this.#expression(statement.subject);
        if (!holds(statement.body.span, this.#offset)) return;
        this.#bind(statement.pattern);
        return this.#block(statement.body);
      case "return":
        if (statement.value !== null) this.#expression(statement.value);
        return;
      case "expression":
        return this.#expression(statement.expression);
      default:
        return;
    }
  }

  #bind(pattern: ast.Pattern): void {
    switch (pattern.kind) {
      case "binding":
        this.#found.push(pattern.name);
        return;
      case "tuple-pattern":
        return pattern.elements.forEach((each) => this.#bind(each));
      case "variant-pattern":
        return pattern.fields.forEach((each) => this.#bind(each.pattern));
      case "record-pattern":
        for (const { name, pattern: inner } of pattern.fields) {
          if (inner === null) this.#found.push(name);
          else this.#bind(inner);
        }
        return;
      case "list-pattern":
        pattern.elements.forEach((each) => this.#bind(each));
        if (pattern.rest) this.#found.push(pattern.rest);
        return;
      case "alternative-pattern": {
        const [first] = pattern.alternatives;
        if (first !== undefined) this.#bind(first);
        return;
      }
      default:
        return;
    }
  }

  #expressions(expressions: readonly ast.Expression[]): void {
    for (const each of expressions) this.#expression(each);
  }

  #expression(expression: ast.Expression): void {
    if (!holds(expression.span, this.#offset)) return;
    switch (expression.kind) {
      case "string":
        return this.#expressions(expression.parts.flatMap((part) => typeof part === "string" ? [] : [part]));
      case "field":
      case "propagate":
        return this.#expression(expression.target);
      case "call":
        this.#expression(expression.callee);
        return this.#expressions(expression.arguments.map(({ value }) => value));
      case "index":
        return this.#expressions([expression.target, expression.index]);
      case "unary":
        return this.#expression(expression.operand);
      case "binary":
        return this.#expressions([expression.left, expression.right]);
      case "range":
        return this.#expressions([expression.start, expression.end]);
      case "record":
        if (expression.base !== null) this.#expression(expression.base);
        return this.#expressions(expression.fields.map(({ value }) => value));
      case "list":
      case "tuple":
        return this.#expressions(expression.elements);
      case "block":
        return this.#block(expression);
      case "if":
        this.#expression(expression.condition);
        if (holds(expression.then.span, this.#offset)) {
          if (expression.pattern !== null) this.#bind(expression.pattern);
          this.#block(expression.then);
        }
        if (expression.otherwise !== null) this.#expression(expression.otherwise);
        return;
      case "match":
        this.#expression(expression.subject);
        for (const { span, pattern, guard, body } of expression.arms) {
          if (!holds(span, this.#offset) || this.#offset <= pattern.span.end) continue;
          this.#bind(pattern);
          if (guard !== null) this.#expression(guard);
          this.#expression(body);
        }
        return;
      case "closure":
        if (!holds(expression.body.span, this.#offset)) return;
        this.#parameters(expression.parameters);
        return this.#block(expression.body);
      default:
        return;
    }
  }
}
