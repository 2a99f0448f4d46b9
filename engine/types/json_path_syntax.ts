/**
 * The syntax tree of SQL/JSON path expressions (the type `jsonpath`) and its canonical text, which is PostgreSQL's:
 * keys quoted, parentheses only where precedence needs them. See ISO/IEC 9075-2:2016, section 9.39.
 */
import type { Decimal } from "./decimal.ts";
import { quoteJson } from "./json.ts";

/** Operators that take two numbers. */
export type PathArithmetic = "+" | "-" | "*" | "/" | "%";
/** Operators that compare two sequences. */
export type PathComparison = "==" | "!=" | "<" | "<=" | ">" | ">=";
/** Item methods without an argument. */
export type PathMethod = "type" | "size" | "abs" | "floor" | "ceiling" | "double" | "keyvalue";

/** One subscript: an index, or a range when `to` is there. */
export interface PathSubscript {
  readonly from: PathNode;
  readonly to: PathNode | null;
}

/** A step that follows another one, or what a path begins with. */
export type PathStep =
  | { readonly kind: "root" }
  | { readonly kind: "current" }
  | { readonly kind: "last" }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "literal"; readonly value: null | boolean | string | Decimal }
  | { readonly kind: "key"; readonly name: string }
  | { readonly kind: "any_key" }
  | { readonly kind: "any_element" }
  | { readonly kind: "subscripts"; readonly subscripts: readonly PathSubscript[] }
  /** `.**{first to last}`; null stands for the word `last`, the deepest level. */
  | { readonly kind: "descend"; readonly first: number | null; readonly last: number | null }
  | { readonly kind: "filter"; readonly predicate: PathNode }
  | { readonly kind: "method"; readonly method: PathMethod }
  | { readonly kind: "datetime"; readonly template: string | null }
  | {
    readonly kind: "arithmetic";
    readonly operator: PathArithmetic;
    readonly left: PathNode;
    readonly right: PathNode;
  }
  | { readonly kind: "sign"; readonly operator: "+" | "-"; readonly operand: PathNode }
  | PathPredicate;

/** A step whose result is true, false or unknown. */
export type PathPredicate =
  | { readonly kind: "and" | "or"; readonly left: PathNode; readonly right: PathNode }
  | { readonly kind: "not" | "is_unknown" | "exists"; readonly operand: PathNode }
  | {
    readonly kind: "comparison";
    readonly operator: PathComparison;
    readonly left: PathNode;
    readonly right: PathNode;
  }
  | { readonly kind: "starts_with"; readonly left: PathNode; readonly right: PathNode }
  | {
    readonly kind: "like_regex";
    readonly operand: PathNode;
    readonly pattern: string;
    readonly flags: string;
  };

/** A path: steps from left to right, at least one. */
export type PathNode = readonly PathStep[];

/** A whole expression. */
export interface JsonPath {
  readonly strict: boolean;
  readonly expression: PathNode;
}

/** Whether a step is a predicate. */
export function isPathPredicate(step: PathStep): step is PathPredicate {
  switch (step.kind) {
    case "and":
    case "or":
    case "not":
    case "is_unknown":
    case "exists":
    case "comparison":
    case "starts_with":
    case "like_regex":
      return true;
    default:
      return false;
  }
}

const UNARY_PRIORITY = 5;
const MAX_PRIORITY = 6;

function priorityOf(node: PathNode): number {
  const step = node[0];
  switch (step?.kind) {
    case "or":
      return 0;
    case "and":
      return 1;
    case "comparison":
    case "starts_with":
      return 2;
    case "arithmetic":
      return step.operator === "+" || step.operator === "-" ? 3 : 4;
    case "sign":
      return UNARY_PRIORITY;
    default:
      return MAX_PRIORITY;
  }
}

/** The canonical text. */
export function formatJsonPath(path: JsonPath): string {
  return `${path.strict ? "strict " : ""}${formatNode(path.expression, true)}`;
}

function formatNode(node: PathNode, brackets: boolean): string {
  return node.map((step, index) => formatStep(step, brackets || node.length > 1, index > 0)).join("");
}

function formatStep(step: PathStep, brackets: boolean, follows: boolean): string {
  const enclosed = (text: string) => brackets ? `(${text})` : text;
  const priority = priorityOf([step]);
  const operand = (node: PathNode) => formatNode(node, priorityOf(node) <= priority);
  switch (step.kind) {
    case "root":
      return "$";
    case "current":
      return "@";
    case "last":
      return "last";
    case "variable":
      return `$${quoteJson(step.name)}`;
    case "literal":
      return typeof step.value === "string" ? quoteJson(step.value) : String(step.value);
    case "key":
      return `.${quoteJson(step.name)}`;
    case "any_key":
      return ".*";
    case "any_element":
      return "[*]";
    case "subscripts":
      return `[${
        step.subscripts.map(({ from, to }) =>
          to === null ? formatNode(from, false) : `${formatNode(from, false)} to ${formatNode(to, false)}`
        ).join(",")
      }]`;
    case "descend":
      return `${follows ? "." : ""}**${formatLevels(step.first, step.last)}`;
    case "filter":
      return `?(${formatNode(step.predicate, false)})`;
    case "method":
      return `.${step.method}()`;
    case "datetime":
      return `.datetime(${step.template === null ? "" : quoteJson(step.template)})`;
    case "arithmetic":
      return enclosed(`${operand(step.left)} ${step.operator} ${operand(step.right)}`);
    case "sign":
      return enclosed(`${step.operator}${operand(step.operand)}`);
    case "and":
    case "or":
      return enclosed(`${operand(step.left)} ${step.kind === "and" ? "&&" : "||"} ${operand(step.right)}`);
    case "comparison":
      return enclosed(`${operand(step.left)} ${step.operator} ${operand(step.right)}`);
    case "starts_with":
      return enclosed(`${operand(step.left)} starts with ${operand(step.right)}`);
    case "like_regex": {
      const flags = step.flags === "" ? "" : ` flag "${step.flags}"`;
      return enclosed(`${operand(step.operand)} like_regex ${quoteJson(step.pattern)}${flags}`);
    }
    case "not":
      return `!(${formatNode(step.operand, false)})`;
    case "is_unknown":
      return `(${formatNode(step.operand, false)}) is unknown`;
    case "exists":
      return `exists (${formatNode(step.operand, false)})`;
  }
}

function formatLevels(first: number | null, last: number | null): string {
  if (first === 0 && last === null) return "";
  const level = (each: number | null) => each === null ? "last" : String(each);
  return first === last ? `{${level(first)}}` : `{${level(first)} to ${level(last)}}`;
}
