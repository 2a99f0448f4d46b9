/**
 * Names and dotted names that stand for something at the top of a module: modules, types, variants, functions,
 * constants.
 *
 * `a.b` is an {@link ast.FieldAccess} whatever `a` is; variables come before modules, and what is neither is an
 * expression's field.
 */
import type { Fix } from "../diagnostics/diagnostic.ts";
import type * as ast from "../syntax/ast.ts";
import type { InterfaceDefinition, TypeParameter, VariantDefinition } from "../types/type.ts";
import { resolve } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import type { Body } from "./body.ts";
import { resolveAlias } from "./declare.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { publishFix, unimportedHome } from "./suggestions.ts";
import type { ImportSymbol, ModuleScope, TypeEntry, ValueSymbol } from "./symbols.ts";

/** What a dotted name stands for. */
export type Static =
  | { readonly kind: "module"; readonly import: ImportSymbol }
  | { readonly kind: "type"; readonly entry: TypeEntry }
  | { readonly kind: "parameter"; readonly parameter: TypeParameter }
  | { readonly kind: "variants"; readonly variants: readonly VariantDefinition[] }
  | { readonly kind: "value"; readonly symbol: ValueSymbol }
  | {
    readonly kind: "interface";
    readonly interface: InterfaceDefinition;
    readonly name: string;
    readonly self: Type;
  }
  /** Its error has been reported, or is somebody else's. */
  | { readonly kind: "broken" };

/** Whether a name begins with a capital, as types and variants do. */
export function isCapital(name: string): boolean {
  const first = name.charCodeAt(name.startsWith("_") ? 1 : 0);
  return first >= 65 && first <= 90;
}

/** What an expression stands for at the top of modules; null when it is a value to be worked out. */
export function resolveStatic(body: Body, expression: ast.Expression): Static | null {
  if (expression.kind === "name") return resolveName(body, { text: expression.name, span: expression.span });
  if (expression.kind !== "field") return null;
  const { target } = expression;
  if (target.kind !== "name" && target.kind !== "field") return null;
  if (target.kind === "name" && !isCapital(target.name) && body.variable(target.name) !== null) return null;
  const base = resolveStatic(body, target);
  if (base === null) return null;
  return resolveMember(body, base, expression.name);
}

function resolveName(body: Body, name: ast.Name): Static | null {
  const { scope, graph } = body;
  if (!isCapital(name.text)) {
    if (body.variable(name.text) !== null) return null;
    const symbol = graph.valueNamed(scope, name.text);
    if (symbol !== null) return { kind: "value", symbol };
    const through = scope.imports.get(name.text);
    if (through !== undefined) {
      through.isUsed = true;
      return through.scope === null ? { kind: "broken" } : { kind: "module", import: through };
    }
    return scope.brokenNames.has(name.text) ? { kind: "broken" } : null;
  }
  const parameter = body.typeParameters.find((each) => each.name === name.text);
  if (parameter !== undefined) return { kind: "parameter", parameter };
  const variants = graph.variantsNamed(scope, name.text);
  const types = graph.typesNamed(scope, name.text);
  // A type with a variant of its own name: the variant where a value is meant; `Name.f` looks at both.
  if (variants.length > 0) {
    for (const { through } of variants) if (through !== null) through.isUsed = true;
    return { kind: "variants", variants: variants.map(({ item }) => item) };
  }
  const type = types[0];
  if (type !== undefined) {
    if (type.through !== null) type.through.isUsed = true;
    if (types.length > 1) {
      reportAmbiguousType(body, name, types.flatMap(({ through }) => through?.alias ?? []));
      return { kind: "broken" };
    }
    return { kind: "type", entry: type.item };
  }
  return scope.brokenNames.has(name.text) ? { kind: "broken" } : null;
}

function reportAmbiguousType(body: Body, name: ast.Name, aliases: readonly string[]): void {
  const { reporter } = body;
  reporter.report("NM0012", name.span, `\`${name.text}\` is declared in several imported modules.`, {
    fixes: aliases.map((alias) =>
      reporter.fix(`use \`${alias}.${name.text}\``, "maybe", name.span, `${alias}.${name.text}`)
    ),
  });
}

/** The type entry that a base of a dotted name has, when it is a type. */
function entryOf(body: Body, base: Static, name: string): TypeEntry | null {
  if (base.kind === "type") return base.entry;
  if (base.kind !== "variants") return null;
  return body.graph.typesNamed(body.scope, name)[0]?.item ?? null;
}

function resolveMember(body: Body, base: Static, name: ast.Name): Static | null {
  switch (base.kind) {
    case "module":
      return resolveInModule(body, base.import, name);
    case "parameter": {
      for (const bound of base.parameter.bounds) {
        if (bound.functions.some((each) => each.name === name.text)) {
          return {
            kind: "interface",
            interface: bound,
            name: name.text,
            self: { kind: "parameter", parameter: base.parameter },
          };
        }
      }
      body.reporter.report(
        "NM0015",
        name.span,
        `\`${base.parameter.name}\` has no bound with a function \`${name.text}\`.`,
        { hint: "A type parameter has only the functions of its bounds: `[T: Show]`." },
      );
      return { kind: "broken" };
    }
    case "type":
      return resolveInType(body, base.entry, name);
    case "variants": {
      const owner = base.variants[0]?.name;
      const entry = owner === undefined ? null : entryOf(body, base, owner);
      return entry === null ? null : resolveInType(body, entry, name);
    }
    case "broken":
      return base;
    default:
      return null;
  }
}

function resolveInModule(body: Body, through: ImportSymbol, name: ast.Name): Static {
  const { reporter } = body;
  const scope = through.scope;
  if (scope === null) return { kind: "broken" };
  const isType = isCapital(name.text);
  const entry = isType ? scope.types.get(name.text) : undefined;
  const variants = isType ? scope.variants.get(name.text) ?? [] : [];
  const symbol = isType ? undefined : scope.values.get(name.text);
  if (entry !== undefined && (variants.length === 0 || entry.kind === "definition")) {
    if (!entry.isPublic) reportPrivate(body, name, entry.scope, entry.span);
    return { kind: "type", entry };
  }
  if (variants.length > 0) {
    const variant = variants[0];
    if (variant !== undefined && !variant.definition.isPublic) {
      reportPrivate(body, name, scope, variant.definition.nameSpan);
    }
    return { kind: "variants", variants };
  }
  if (symbol !== undefined) {
    if (!symbol.isPublic) reportPrivate(body, name, symbol.scope, symbol.nameSpan);
    return { kind: "value", symbol };
  }
  if (scope.hasNameless || scope.brokenNames.has(name.text)) return { kind: "broken" };
  const candidates = isType
    ? [...scope.types].filter(([, each]) => each.isPublic).map(([key]) => key)
    : [...scope.values.values()].filter((each) => each.isPublic).map((each) => each.name);
  const names = nearest(name.text, candidates);
  reporter.report("NM0006", name.span, `The module \`${through.path}\` has no \`${name.text}\`.`, {
    hint: candidates.length > 0 && candidates.length <= 8
      ? `It has ${candidates.map((each) => `\`${each}\``).join(", ")}.`
      : undefined,
    fixes: names.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
  });
  return { kind: "broken" };
}

/** Reports a name that another module keeps to itself. */
export function reportPrivate(
  body: Body,
  name: ast.Name,
  home: ModuleScope,
  declared: ast.Name["span"],
): void {
  body.reporter.report("NM0007", name.span, `\`${name.text}\` is private to the module \`${home.name}\`.`, {
    labels: [{ file: home.file, span: declared, message: "declared here, without `pub`" }],
    fixes: publishFix(home.file, declared, home.isLibrary),
  });
}

function resolveInType(body: Body, entry: TypeEntry, name: ast.Name): Static {
  const { reporter, graph } = body;
  if (entry.kind === "broken") return { kind: "broken" };
  if (entry.kind === "alias") resolveAlias(graph, entry.scope, entry.alias);
  const type = entry.kind === "alias" ? resolve(entry.alias.type) : null;
  const definition = entry.kind === "definition"
    ? entry.definition
    : type?.kind === "named"
    ? type.definition
    : null;
  const label = entry.kind === "primitive"
    ? entry.name
    : entry.kind === "alias"
    ? entry.alias.name.text
    : entry.definition.name;
  if (isCapital(name.text)) {
    const variants = definition?.body.kind === "union" ? definition.body.variants : [];
    const variant = variants.find((each) => each.name === name.text);
    if (variant !== undefined) return { kind: "variants", variants: [variant] };
    const names = nearest(name.text, variants.map((each) => each.name));
    reporter.report("NM0003", name.span, `\`${label}\` has no variant \`${name.text}\`.`, {
      hint: variants.length > 0 && variants.length <= 8
        ? `Its variants are ${variants.map((each) => `\`${each.name}\``).join(", ")}.`
        : undefined,
      fixes: names.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
    });
    return { kind: "broken" };
  }
  const members = graph.membersOfEntry(entry);
  const symbol = members?.get(name.text);
  if (symbol !== undefined) {
    if (!symbol.isPublic && symbol.scope !== body.scope) {
      reportPrivate(body, name, symbol.scope, symbol.nameSpan);
    }
    return { kind: "value", symbol };
  }
  const offered = [...members?.values() ?? []].filter((each) =>
    (each.isPublic || each.scope === body.scope) && !(each.kind === "function" && each.isMethod)
  ).map((each) => each.name);
  const foreign = MAKERS.get(name.text)?.filter((each) => offered.includes(each)) ?? [];
  const names = foreign.length > 0 ? foreign : nearest(name.text, members?.keys() ?? []);
  reporter.report("NM0015", name.span, `\`${label}\` has no function or constant \`${name.text}\`.`, {
    hint: names.length > 0 || offered.length === 0 || offered.length > 8
      ? undefined
      : `It has ${offered.map((each) => `\`${label}.${each}\``).join(", ")}.`,
    fixes: names.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
  });
  return { kind: "broken" };
}

/** Functions that make a value in other languages, and what they are called here. */
const MAKERS: ReadonlyMap<string, readonly string[]> = new Map([
  ...makers("new create make default init with_capacity", ["empty", "seeded"]),
  ...makers("of from with from_iter from_array", ["from_list"]),
]);

function makers(names: string, here: readonly string[]): [string, readonly string[]][] {
  return names.split(" ").map((name) => [name, here]);
}

/** Reports a name that stands for nothing, with what may be meant. */
export function reportUnknownName(body: Body, name: ast.Name, more: readonly Fix[] = []): void {
  const { reporter, scope, graph } = body;
  if (scope.hasNameless) return;
  if (isCapital(name.text)) {
    reportUnknownVariant(body, name);
    return;
  }
  const foreign = FOREIGN_NAMES[name.text];
  const candidates = [
    ...body.variables.map((variable) => variable.name).filter((each) => each !== "_"),
    ...scope.values.keys(),
    ...scope.imports.keys(),
    ...[...(graph.scopes.get("std.prelude")?.values.values() ?? [])].filter((each) => each.isPublic)
      .map((each) => each.name),
    "panic",
    "expect",
  ];
  const homes = foreign === undefined ? unimportedHome(graph, scope, name, ["module", "value"]) : [];
  const similar = foreign?.replacement !== undefined ? [foreign.replacement] : nearest(name.text, candidates);
  // What there is by just that name is meant rather than what is only like it.
  const fixes: Fix[] = [
    ...homes,
    ...similar.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
  ];
  const owner = body.symbol?.owner ?? null;
  const self = owner === null ? null : body.variable("self");
  const selfType = self === null ? null : resolve(self.type);
  const hasField = selfType?.kind === "named" && selfType.definition.body.kind === "record" &&
    selfType.definition.body.fields.some((field) => field.name === name.text);
  if (hasField) {
    fixes.unshift(reporter.fix(`use \`self.${name.text}\``, "safe", name.span, `self.${name.text}`));
  }
  reporter.report("NM0001", name.span, `Cannot find \`${name.text}\` in this scope.`, {
    hint: foreign?.hint ?? definedLater(body, name) ??
      (name.text === "self" ? "`self` is the first parameter of a method." : undefined),
    fixes: [...fixes, ...more],
  });
}

/** A name that a `let` or `var` around or below gives has no value yet. */
function definedLater(body: Body, name: ast.Name): string | undefined {
  const { text } = body.reporter.file;
  const line = text.slice(text.lastIndexOf("\n", name.span.start) + 1, name.span.start);
  const isOwn = [...line.matchAll(/\b(?:let|var) (\w+)/g)].some(([, own]) => own === name.text);
  return isOwn ? `\`${name.text}\` can be used only after this declaration.` : undefined;
}

const FOREIGN_NAMES: Readonly<Record<string, { readonly hint: string; readonly replacement?: string }>> = {
  null: {
    hint: "There is no null. Use an `Option` for an optional value: `Some(value)` or `None`.",
    replacement: "None",
  },
  nil: {
    hint: "There is no nil. Use an `Option` for an optional value: `Some(value)` or `None`.",
    replacement: "None",
  },
  undefined: {
    hint: "Use an `Option` for an optional value: `Some(value)` or `None`.",
    replacement: "None",
  },
  none: { hint: "Use an `Option` for an optional value.", replacement: "None" },
  this: { hint: "The receiver of a method is its first parameter, `self`.", replacement: "self" },
  println: { hint: "`print` writes a line.", replacement: "print" },
  printf: { hint: "`print` writes a line; interpolate values with braces.", replacement: "print" },
  console: { hint: "`print` writes a line." },
  fmt: { hint: "`print` writes a line; interpolate values with braces." },
  io: { hint: "`print` writes a line." },
  range: { hint: "A range is written `0..n`, which excludes `n`, or `1..=n`, which includes it." },
  int: { hint: "Parse a string with `text.parse_int()`; convert a number with `x.to_int()`." },
  float: { hint: "Parse a string with `text.parse_float()`; convert a number with `n.to_float()`." },
  str: { hint: 'A value stands in a text between braces: `"{value}"`.' },
  pass: { hint: "Use an empty block: `{}`." },
  todo: { hint: 'What is not written yet is `panic("…")`.', replacement: 'panic("not written yet")' },
  defer: { hint: "There is no `defer`: nothing runs implicitly at the end of a block." },
  assert: { hint: "Use `expect` in a test.", replacement: "expect" },
  len: { hint: "The length is a method: `xs.len()`." },
  throw: { hint: 'There are no exceptions: return a `Result`, or end with `panic("…")`.' },
};

/** Reports a capitalized name that is neither variant nor type. */
export function reportUnknownVariant(body: Body, name: ast.Name): void {
  const { reporter, scope, graph } = body;
  if (scope.hasNameless) return;
  const names = new Set<string>([...scope.variants.keys(), ...scope.types.keys()]);
  for (const other of [...graph.core, ...[...scope.imports.values()].flatMap((each) => each.scope ?? [])]) {
    for (const [key, variants] of other.variants) {
      if (variants.some((each) => each.definition.isPublic)) names.add(key);
    }
    for (const [key, entry] of other.types) if (entry.isPublic) names.add(key);
  }
  const foreign: Readonly<Record<string, string>> = {
    Just: "Some",
    Nothing: "None",
    Null: "None",
    True: "true",
    False: "false",
    Error: "Err",
    Success: "Ok",
  };
  const replacement = foreign[name.text];
  const similar = replacement === undefined ? nearest(name.text, names) : [replacement];
  reporter.report("NM0003", name.span, `Cannot find the type or variant \`${name.text}\` in this scope.`, {
    fixes: [
      ...(replacement === undefined ? unimportedHome(graph, scope, name, ["type", "variant"]) : []),
      ...similar.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
    ],
  });
}
