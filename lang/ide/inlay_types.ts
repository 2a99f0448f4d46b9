/** Types and effects that are inferred, where they could be written. */
import { Variable } from "../check/symbols.ts";
import { wholeDeclaration } from "../check/declare.ts";
import { isUnit } from "../types/primitives.ts";
import { EFFECTS } from "../types/type.ts";
import type * as ast from "../syntax/ast.ts";
import { knownType } from "./describe.ts";
import type { NameIndex } from "./name_index.ts";
import type { InlayType } from "./symbol_service.ts";
import { childrenOf, type PathNode } from "./syntax_path.ts";

/** What is inferred in a module, in the order of its places, which are those of the repaired text. */
export function inlayTypesOf({ scope, table }: NameIndex): InlayType[] {
  const variables = new Map<number, Variable>();
  for (const { span, target } of table.definitions) {
    if (target instanceof Variable) variables.set(span.start, target);
  }
  const found: InlayType[] = [];
  const name = ({ span, text }: ast.Name) => {
    const variable = variables.get(span.start);
    if (variable === undefined || text === "self") return;
    const type = knownType(variable.type);
    if (type !== null) found.push({ offset: span.end, text: `: ${type}`, kind: "type" });
  };
  const pattern = (each: ast.Pattern): void => {
    if (each.kind === "binding") name(each.name);
    else if (each.kind === "tuple-pattern") each.elements.forEach(pattern);
  };
  const visit = (node: PathNode): void => {
    switch (node.kind) {
      case "let":
        if (node.type === null) pattern(node.pattern);
        break;
      case "var":
        if (node.type === null) name(node.name);
        break;
      case "for":
        pattern(node.pattern);
        break;
      case "closure":
        for (const parameter of node.parameters) if (parameter.type === null) name(parameter.name);
        break;
      default:
        break;
    }
    for (const child of childrenOf(node)) visit(child);
  };
  for (const declaration of scope.module.declarations) {
    const whole = wholeDeclaration(declaration);
    if (whole !== null) visit(whole);
  }
  for (const symbol of scope.functions) {
    const { declaration } = symbol;
    const { body } = declaration;
    if (declaration.isPublic || body === null || symbol.isBroken) continue;
    for (const parameter of declaration.parameters) if (parameter.type === null) name(parameter.name);
    const end = endOfHeading(scope.file.text, body.span.start);
    if (declaration.result === null && !isUnit(symbol.result)) {
      const type = knownType(symbol.result);
      const offset = declaration.effects === null ? end : scope.file.text.lastIndexOf("uses", end) - 1;
      if (type !== null) found.push({ offset, text: ` -> ${type}`, kind: "type" });
    }
    const effects = EFFECTS.filter((effect) => symbol.effects.has(effect));
    if (declaration.effects === null && effects.length > 0) {
      found.push({ offset: end, text: ` uses ${effects.join(", ")}`, kind: "effects" });
    }
  }
  return found.sort((left, right) => left.offset - right.offset);
}

function endOfHeading(text: string, brace: number): number {
  return text.slice(0, brace).trimEnd().length;
}
