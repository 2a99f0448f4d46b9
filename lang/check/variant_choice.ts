/** Which variant a name means that several types have. */
import type * as ast from "../syntax/ast.ts";
import { resolve } from "../types/primitives.ts";
import type { Type, VariantDefinition } from "../types/type.ts";
import type { Body } from "./body.ts";

/** Chooses among variants of one name: the wanted type's, or the only one; null after a report. */
export function chooseVariant(
  body: Body,
  variants: readonly VariantDefinition[],
  expected: Type | null,
  span: ast.Expression["span"],
): VariantDefinition | null {
  const first = variants[0];
  if (first === undefined) return null;
  if (variants.length === 1) return first;
  const want = expected === null ? null : resolve(expected);
  if (want?.kind === "named") {
    const fitting = variants.find((variant) => variant.definition === want.definition);
    if (fitting !== undefined) return fitting;
  }
  const { reporter } = body;
  const owners = variants.map((variant) => `\`${variant.definition.name}\``).join(" and ");
  reporter.report("NM0012", span, `\`${first.name}\` is a variant of ${owners}.`, {
    labels: variants.map((variant) => ({
      file: variant.definition.file,
      span: variant.definition.nameSpan,
      message: "one is of this type",
    })),
    fixes: variants.map((variant) => {
      const text = qualifiedVariant(body, variant);
      return reporter.fix(`use \`${text}\``, "maybe", span, text);
    }),
  });
  return null;
}

function qualifiedVariant(body: Body, variant: VariantDefinition): string {
  const { definition } = variant;
  const sameName = body.graph.typesNamed(body.scope, definition.name);
  if (sameName.length <= 1) return `${definition.name}.${variant.name}`;
  const through = [...body.scope.imports.values()].find((each) => each.scope?.name === definition.module);
  return `${through?.alias ?? definition.module}.${definition.name}.${variant.name}`;
}
