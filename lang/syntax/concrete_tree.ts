/**
 * The tree that the formatter works on: every token, under the rule of the grammar that took it.
 *
 * It is built by the same automaton as the syntax tree. Rules that the grammar's repetitions, groups and macros make
 * have no nodes of their own: their parts stand in the node around them. Rules with one part are that part.
 */
import { type Builders, buildersOf } from "./automaton.ts";
import { Token } from "./token.ts";

/** What a rule took, in order. */
export class ConcreteNode {
  readonly rule: string;
  readonly children: readonly (ConcreteNode | Token)[];

  constructor(rule: string, children: readonly (ConcreteNode | Token)[]) {
    this.rule = rule;
    this.children = children;
  }
}

/** A node or a token. */
export type Concrete = ConcreteNode | Token;

let builders: Builders | null = null;

/** Builds the concrete tree. */
export function concreteBuilders(): Builders {
  builders ??= buildersOf((rule) => {
    if (typeof rule.maker === "string") return rule.maker;
    if (rule.name.includes("$")) return (parts) => parts;
    return (parts) => new ConcreteNode(rule.name, flattened(parts));
  });
  return builders;
}

function flattened(parts: readonly unknown[]): Concrete[] {
  const children: Concrete[] = [];
  const add = (part: unknown) => {
    if (part instanceof ConcreteNode || part instanceof Token) children.push(part);
    else if (Array.isArray(part)) part.forEach(add);
  };
  parts.forEach(add);
  return children;
}

/** The first token. */
export function firstToken(concrete: Concrete): Token | undefined {
  let found: Concrete | undefined = concrete;
  while (found instanceof ConcreteNode) found = found.children[0];
  return found;
}

/** The last token. */
export function lastToken(concrete: Concrete): Token | undefined {
  let found: Concrete | undefined = concrete;
  while (found instanceof ConcreteNode) found = found.children.at(-1);
  return found;
}
