/** The nodes of the syntax tree around a place, from the declaration to the innermost. */
import type { Span } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";

/** A node with a kind of its own, or a part of one. */
export type PathNode =
  | ast.Expression
  | ast.Statement
  | ast.Pattern
  | ast.TypeExpression
  | ast.Declaration
  | {
    readonly kind: "argument";
    readonly span: Span;
    readonly argument: ast.Argument;
    readonly call: ast.Call;
  }
  | { readonly kind: "arm"; readonly span: Span; readonly arm: ast.MatchArm; readonly match: ast.Match }
  | {
    readonly kind: "record-field";
    readonly span: Span;
    readonly name: ast.Name;
    readonly record: ast.RecordLiteral;
  }
  | {
    readonly kind: "field-pattern";
    readonly span: Span;
    readonly name: ast.Name;
    readonly pattern: ast.RecordPattern;
  };

/** The nodes around an offset, the innermost last. */
export function syntaxPath(declaration: ast.Declaration, offset: number): readonly PathNode[] {
  const path: PathNode[] = [];
  const visit = (node: PathNode): void => {
    if (node.span.start > offset || node.span.end < offset) return;
    path.push(node);
    for (const child of childrenOf(node)) {
      if (child.span.start <= offset && offset <= child.span.end) {
        // Of two that touch, the one that ends here was being written.
        visit(child);
        return;
      }
    }
  };
  visit(declaration);
  return path;
}

function parameterTypes(parameters: readonly ast.Parameter[]): ast.TypeExpression[] {
  return parameters.flatMap(({ type }) => type ?? []);
}

function present<T>(...items: readonly (T | null)[]): T[] {
  return items.flatMap((item) => item ?? []);
}

/** The parts of a node, as they stand. */
export function childrenOf(node: PathNode): readonly PathNode[] {
  switch (node.kind) {
    case "use":
    case "interface":
      return node.kind === "use"
        ? []
        : node.functions.flatMap((each) => [...parameterTypes(each.parameters), ...present(each.result)]);
    case "type":
      switch (node.body.kind) {
        case "record":
          return node.body.fields.map(({ type }) => type);
        case "union":
          return node.body.variants.flatMap(({ fields }) => fields.map(({ type }) => type));
        case "alias":
          return [node.body.type];
        case "builtin":
          return [];
      }
      break;
    case "const":
      return present<PathNode>(node.type, node.value);
    case "function":
      return [
        ...node.typeParameters.flatMap(({ bounds }) => bounds),
        ...parameterTypes(node.parameters),
        ...present<PathNode>(node.result, node.body),
      ];
    case "test":
      return [node.body];
    case "property":
      return [...parameterTypes(node.parameters), node.body];
    case "eval":
      return [node.threshold, ...node.cases.map(({ score }) => score)];
    case "broken":
      return present(node.repaired);
    case "named-type":
      return node.arguments;
    case "tuple-type":
      return node.elements;
    case "function-type":
      return [...node.parameters.map(({ type }) => type), ...present(node.result)];
    case "string":
      return node.parts.flatMap((part) => typeof part === "string" ? [] : [part]);
    case "field":
    case "propagate":
      return [node.target];
    case "call":
      return [
        node.callee,
        ...node.arguments.map((argument): PathNode => ({
          kind: "argument",
          span: argument.span,
          argument,
          call: node,
        })),
      ];
    case "argument":
      return [node.argument.value];
    case "index":
      return [node.target, node.index];
    case "unary":
      return [node.operand];
    case "binary":
      return [node.left, node.right];
    case "range":
      return [node.start, node.end];
    case "record":
      return [
        node.type,
        ...present(node.base),
        ...node.fields.flatMap(({ name, value }): PathNode[] => [
          { kind: "record-field", span: name.span, name, record: node },
          value,
        ]),
      ];
    case "list":
    case "tuple":
      return node.elements;
    case "block":
      return node.statements;
    case "if":
      return present<PathNode>(node.pattern, node.condition, node.then, node.otherwise);
    case "match":
      return [
        node.subject,
        ...node.arms.map((arm): PathNode => ({ kind: "arm", span: arm.span, arm, match: node })),
      ];
    case "arm":
      return present<PathNode>(node.arm.pattern, node.arm.guard, node.arm.body);
    case "closure":
      return [...parameterTypes(node.parameters), ...present<PathNode>(node.result, node.body)];
    case "let":
      return present<PathNode>(node.pattern, node.type, node.value, node.otherwise);
    case "var":
      return present<PathNode>(node.type, node.value);
    case "assign":
      return [node.place, node.value];
    case "while":
      return [node.condition, node.body];
    case "for":
      return [node.pattern, node.subject, node.body];
    case "return":
      return present(node.value);
    case "expression":
      return [node.expression];
    case "tuple-pattern":
      return node.elements;
    case "variant-pattern":
      return node.fields.map(({ pattern }) => pattern);
    case "record-pattern":
      return node.fields.flatMap(({ name, pattern }): PathNode[] => [
        { kind: "field-pattern", span: name.span, name, pattern: node },
        ...present(pattern),
      ]);
    case "list-pattern":
      return node.elements;
    case "alternative-pattern":
      return node.alternatives;
    default:
      return [];
  }
  return [];
}
