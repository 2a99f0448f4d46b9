/**
 * What a module declares: first the names (so that declarations may refer to one another), then what types and
 * signatures say.
 *
 * Modules that import each other, which only the library's core may, are declared together, step by step.
 */
import type * as ast from "../syntax/ast.ts";
import { ERROR_TYPE, PRIMITIVES, UNIT } from "../types/primitives.ts";
import type {
  DerivedInterface,
  FieldDefinition,
  InterfaceFunction,
  Type,
  TypeParameter,
  VariantDefinition,
} from "../types/type.ts";
import { Unifier } from "../types/unification.ts";
import { declaredEffects } from "./effect_names.ts";
import { claimMember, claimType, claimValue, claimVariants, reportDuplicates } from "./duplicates.ts";
import {
  type AliasSymbol,
  ConstantSymbol,
  FunctionSymbol,
  type ModuleScope,
  type TypeEntry,
  Variable,
} from "./symbols.ts";
import { boundOf, type TypeContext, typeOf } from "./type_expressions.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** Sets to what a readonly field of a definition that is still being made. */
type Unfinished<T> = { -readonly [Key in keyof T]: T[Key] };

const DERIVED: Readonly<Record<string, DerivedInterface>> = {
  Eq: "Eq",
  Ord: "Ord",
  Hash: "Hash",
  Show: "Show",
};

/** Variables of signatures that are inferred; they live until the module is checked. */
const signatureUnifier: Unifier = new Unifier();

/** The declaration itself, or what the best repair made of a broken one. */
export function wholeDeclaration(declaration: ast.Declaration): ast.Declaration | null {
  return declaration.kind === "broken" ? declaration.repaired : declaration;
}

/** First step: every name gets its symbol. */
export function declareNames(graph: ModuleGraph, scope: ModuleScope): void {
  for (const declaration of scope.module.declarations) {
    const whole = wholeDeclaration(declaration);
    if (whole === null) {
      if (declaration.kind === "broken") {
        if (declaration.name === null) scope.hasNameless = true;
        else scope.brokenNames.add(declaration.name.text);
      }
      continue;
    }
    switch (whole.kind) {
      case "type":
        declareType(graph, scope, whole);
        break;
      case "interface":
        declareInterface(scope, whole);
        break;
      case "const": {
        const symbol = new ConstantSymbol(scope, whole);
        scope.constants.push(symbol);
        if (symbol.owner === null) claimValue(scope, symbol);
        break;
      }
      case "function": {
        const symbol = new FunctionSymbol(scope, whole, declaration.kind === "broken");
        scope.functions.push(symbol);
        if (symbol.owner === null) claimValue(scope, symbol);
        break;
      }
      case "use":
        // What a broken `use` would have brought in is not known.
        if (declaration.kind === "broken") scope.hasNameless = true;
        break;
      default:
        break;
    }
  }
}

function parametersOf(declarations: readonly ast.TypeParameter[]): TypeParameter[] {
  return declarations.map((each) => ({ name: each.name.text, bounds: [] }));
}

function declareType(graph: ModuleGraph, scope: ModuleScope, declaration: ast.TypeDeclaration): void {
  const { name, body, isPublic } = declaration;
  const place = { isPublic, scope, span: name.span };
  reportDuplicates(scope, "NM0010", "type parameter", declaration.typeParameters.map((each) => each.name));
  if (body.kind === "builtin") {
    const type = PRIMITIVES.get(name.text);
    if (type !== undefined && scope.isLibrary) {
      graph.primitiveScopes.set(name.text, scope);
      claimType(scope, name, { ...place, kind: "primitive", type, name: name.text });
      return;
    }
  }
  if (body.kind === "alias") {
    const alias: AliasSymbol = {
      name,
      declaration,
      typeParameters: parametersOf(declaration.typeParameters),
      type: ERROR_TYPE,
      state: "unresolved",
    };
    claimType(scope, name, { ...place, kind: "alias", alias });
    return;
  }
  const definition = {
    name: name.text,
    module: scope.name,
    file: scope.file,
    nameSpan: name.span,
    isPublic,
    documentation: declaration.documentation?.text ?? null,
    typeParameters: parametersOf(declaration.typeParameters),
    body: { kind: "builtin" } as const,
  };
  claimType(scope, name, { ...place, kind: "definition", definition });
}

function declareInterface(scope: ModuleScope, declaration: ast.InterfaceDeclaration): void {
  const derived = scope.isLibrary && scope.name === "std.prelude"
    ? DERIVED[declaration.name.text]
    : undefined;
  claimType(scope, declaration.name, {
    kind: "interface",
    isPublic: declaration.isPublic,
    scope,
    span: declaration.name.span,
    definition: {
      name: declaration.name.text,
      module: scope.name,
      file: scope.file,
      nameSpan: declaration.name.span,
      isPublic: declaration.isPublic,
      documentation: declaration.documentation?.text ?? null,
      derived: derived ?? null,
      functions: [],
      self: { name: "Self", bounds: [] },
    },
  });
}

/** Second step: what records, unions and aliases hold, and which functions belong to types. */
export function declareTypes(graph: ModuleGraph, scope: ModuleScope): void {
  for (const declaration of scope.module.declarations) {
    const whole = wholeDeclaration(declaration);
    if (whole?.kind !== "type") continue;
    const entry = scope.types.get(whole.name.text);
    if (entry === undefined || entry.span !== whole.name.span) continue;
    if (entry.kind === "alias") resolveAlias(graph, scope, entry.alias);
    else if (entry.kind === "definition") fillDefinition(graph, scope, entry, whole);
  }
  for (const symbol of [...scope.functions, ...scope.constants]) {
    if (symbol.owner !== null) declareMember(graph, scope, symbol);
  }
}

function fillDefinition(
  graph: ModuleGraph,
  scope: ModuleScope,
  entry: Extract<TypeEntry, { kind: "definition" }>,
  declaration: ast.TypeDeclaration,
): void {
  const { definition } = entry;
  const context: TypeContext = { graph, scope, typeParameters: definition.typeParameters };
  refuseBounds(scope, declaration);
  const { body } = declaration;
  if (body.kind === "record") {
    reportDuplicates(scope, "NM0009", "field", body.fields.map((field) => field.name));
    definition.body = {
      kind: "record",
      fields: body.fields.map((field): FieldDefinition => ({
        name: field.name.text,
        type: typeOf(context, field.type),
        documentation: field.documentation?.text ?? null,
      })),
    };
  } else if (body.kind === "union") {
    reportDuplicates(scope, "NM0009", "variant", body.variants.map((variant) => variant.name));
    const variants = body.variants.map((variant, index): VariantDefinition => {
      reportDuplicates(scope, "NM0009", "field", variant.fields.flatMap((field) => field.name ?? []));
      return {
        name: variant.name.text,
        index,
        definition,
        documentation: variant.documentation?.text ?? null,
        fields: variant.fields.map((field) => ({
          name: field.name?.text ?? null,
          type: typeOf(context, field.type),
          documentation: null,
        })),
      };
    });
    definition.body = { kind: "union", variants };
    claimVariants(scope, variants);
  }
}

function refuseBounds(scope: ModuleScope, declaration: ast.TypeDeclaration): void {
  for (const parameter of declaration.typeParameters) {
    const last = parameter.bounds.at(-1);
    if (last === undefined) continue;
    const span = { start: parameter.name.span.end, end: last.span.end };
    scope.reporter.report(
      "TY0045",
      span,
      `\`${declaration.name.text}\` cannot have a bound on \`${parameter.name.text}\`.`,
      {
        hint: "Put the bound on the functions that need it.",
        fixes: [scope.reporter.fix("remove the bound", "safe", span, "")],
      },
    );
  }
}

function fillBounds(
  context: TypeContext,
  parameters: readonly TypeParameter[],
  declarations: readonly ast.TypeParameter[],
): void {
  for (const [index, declaration] of declarations.entries()) {
    const parameter: Unfinished<TypeParameter> | undefined = parameters[index];
    if (parameter === undefined || declaration.bounds.length === 0) continue;
    parameter.bounds = declaration.bounds.flatMap((bound) => boundOf(context, bound) ?? []);
  }
}

/** Works out what an alias stands for; one that stands for itself is reported. */
export function resolveAlias(graph: ModuleGraph, scope: ModuleScope, alias: AliasSymbol): void {
  if (alias.state === "resolved") return;
  if (alias.state === "resolving") {
    scope.reporter.report("TY0025", alias.name.span, `\`${alias.name.text}\` refers to itself.`, {
      hint: "A recursive type must be a record or a union.",
    });
    alias.state = "resolved";
    return;
  }
  alias.state = "resolving";
  const context: TypeContext = { graph, scope, typeParameters: alias.typeParameters };
  refuseBounds(scope, alias.declaration);
  const { body } = alias.declaration;
  const type = body.kind === "alias" ? typeOf(context, body.type) : ERROR_TYPE;
  if (alias.state === "resolving") alias.type = type;
  alias.state = "resolved";
}

function declareMember(
  graph: ModuleGraph,
  scope: ModuleScope,
  symbol: FunctionSymbol | ConstantSymbol,
): void {
  const owner = symbol.declaration.owner;
  if (owner === null) return;
  const own = scope.types.get(owner.text);
  if (own !== undefined) {
    if (own.kind === "alias") {
      // Methods of an alias of a type in this module are the type's.
      const type = own.alias.type;
      const isOwn = type.kind === "named" && type.definition.module === scope.name;
      if (isOwn) claimMember(scope, type.definition.name, symbol);
      else reportForeignOwner(scope, owner, own);
      return;
    }
    claimMember(scope, owner.text, symbol);
    return;
  }
  const foreign = graph.typesNamed(scope, owner.text)[0]?.item;
  if (foreign !== undefined) reportForeignOwner(scope, owner, foreign);
  else if (!scope.brokenNames.has(owner.text)) {
    // Reports that there is no such type, with what may be meant.
    typeOf({ graph, scope, typeParameters: [] }, {
      kind: "named-type",
      span: owner.span,
      module: null,
      name: owner,
      arguments: [],
    });
  }
}

function reportForeignOwner(scope: ModuleScope, owner: ast.Name, entry: TypeEntry): void {
  scope.reporter.report(
    "NM0017",
    owner.span,
    `\`${owner.text}\` belongs to the module \`${entry.scope.name}\`. The functions of a type must be declared in the module of the type.`,
    {
      labels: entry.span.end > 0 && !entry.scope.isLibrary
        ? [{ file: entry.scope.file, span: entry.span, message: "the type is declared here" }]
        : [],
      hint: "Declare a plain function with the value as its first parameter.",
      fixes: [
        scope.reporter.fix("make it a plain function", "maybe", {
          start: owner.span.start,
          end: owner.span.end + 1,
        }, ""),
      ],
    },
  );
}

/** Third step: what functions take and give, and the types of constants. */
export function declareSignatures(graph: ModuleGraph, scope: ModuleScope): void {
  for (const entry of scope.types.values()) {
    if (entry.kind === "interface" && entry.scope === scope) fillInterface(graph, scope, entry);
  }
  for (const symbol of scope.functions) declareFunction(graph, scope, symbol);
  for (const symbol of scope.constants) {
    const { type } = symbol.declaration;
    if (type !== null) symbol.type = typeOf({ graph, scope, typeParameters: [] }, type);
    else {
      symbol.isTypeKnown = false;
      symbol.type = signatureUnifier.fresh();
    }
  }
}

function fillInterface(
  graph: ModuleGraph,
  scope: ModuleScope,
  entry: Extract<TypeEntry, { kind: "interface" }>,
): void {
  const declaration = scope.module.declarations.map(wholeDeclaration).find((each) =>
    each?.kind === "interface" && each.name.span === entry.span
  );
  if (declaration?.kind !== "interface") return;
  const definition: Unfinished<typeof entry.definition> = entry.definition;
  reportDuplicates(scope, "NM0009", "function", declaration.functions.map((each) => each.name));
  definition.functions = declaration.functions.map((each): InterfaceFunction => {
    const typeParameters = [definition.self, ...parametersOf(each.typeParameters)];
    const context: TypeContext = { graph, scope, typeParameters };
    if (each.typeParameters.length > 0) {
      scope.reporter.report(
        "TY0037",
        each.name.span,
        "A function of an interface cannot have type parameters of its own.",
        {
          hint: "Declare a plain generic function with the interface as a bound.",
        },
      );
    }
    return {
      name: each.name.text,
      parameters: each.parameters.map((parameter, index) => ({
        name: parameter.name.text,
        isInout: parameter.isInout,
        type: parameter.type !== null
          ? typeOf(context, parameter.type)
          : index === 0 && parameter.name.text === "self"
          ? { kind: "parameter", parameter: definition.self }
          : reportMissingType(scope, parameter),
      })),
      result: each.result === null ? UNIT : typeOf(context, each.result),
      effects: declaredEffects(scope, each) ?? [],
    };
  });
}

function reportMissingType(scope: ModuleScope, parameter: ast.Parameter): Type {
  scope.reporter.report(
    "TY0015",
    parameter.span,
    `The parameter \`${parameter.name.text}\` needs a type annotation.`,
    {
      hint: `Write \`${parameter.name.text}: Int\`, with the type of the parameter.`,
    },
  );
  return ERROR_TYPE;
}

/** The type that `self` has when none is written: the owner, when that takes no types. */
function ownerType(graph: ModuleGraph, scope: ModuleScope, symbol: FunctionSymbol): Type | null {
  const owner = symbol.owner;
  if (owner === null) return null;
  const entry = scope.types.get(owner);
  if (entry?.kind === "primitive") return entry.type;
  if (entry?.kind === "alias") {
    resolveAlias(graph, scope, entry.alias);
    return entry.alias.typeParameters.length === 0 ? entry.alias.type : null;
  }
  if (entry?.kind !== "definition") return null;
  const { definition } = entry;
  const own = definition.typeParameters.length;
  if (own === 0) return { kind: "named", definition, arguments: [] };
  if (symbol.typeParameters.length < own) return null;
  return {
    kind: "named",
    definition,
    arguments: symbol.typeParameters.slice(0, own).map((parameter) => ({ kind: "parameter", parameter })),
  };
}

function declareFunction(graph: ModuleGraph, scope: ModuleScope, symbol: FunctionSymbol): void {
  const { declaration } = symbol;
  symbol.typeParameters = parametersOf(declaration.typeParameters);
  const context: TypeContext = { graph, scope, typeParameters: symbol.typeParameters };
  reportDuplicates(scope, "NM0010", "type parameter", declaration.typeParameters.map((each) => each.name));
  fillBounds(context, symbol.typeParameters, declaration.typeParameters);
  reportDuplicates(scope, "NM0010", "parameter", declaration.parameters.map((parameter) => parameter.name));
  const types = declaration.parameters.map((parameter, index): Type => {
    if (parameter.type !== null) return typeOf(context, parameter.type);
    if (index === 0 && parameter.name.text === "self") {
      const type = ownerType(graph, scope, symbol);
      if (type !== null) return type;
      // That the owner is no type of this module has been told.
      if (symbol.owner !== null && !scope.types.has(symbol.owner)) return ERROR_TYPE;
    }
    if (declaration.isPublic || declaration.linkage.kind !== "body") {
      return reportMissingType(scope, parameter);
    }
    symbol.areParametersKnown = false;
    return signatureUnifier.fresh();
  });
  symbol.parameters = makeParameters(declaration, types);
  if (declaration.result !== null) symbol.result = typeOf(context, declaration.result);
  else if (declaration.isPublic || declaration.linkage.kind !== "body" || scope.isLibrary) {
    symbol.result = UNIT;
  } else {
    symbol.isResultKnown = false;
    symbol.result = signatureUnifier.fresh();
  }
  checkSelf(scope, symbol);
  symbol.declaredEffects = declaredEffects(scope, declaration) ??
    (declaration.isPublic || declaration.linkage.kind !== "body" || scope.isLibrary ? [] : null);
  if (symbol.declaredEffects !== null) symbol.effects = new Set(symbol.declaredEffects);
}

/** Parameters as variables of the body; their ids are their positions. */
export function makeParameters(declaration: ast.FunctionDeclaration, types: readonly Type[]): Variable[] {
  return declaration.parameters.map((parameter, index) =>
    new Variable({
      id: index,
      name: parameter.name.text,
      type: types[index] ?? ERROR_TYPE,
      kind: parameter.isInout ? "inout" : "parameter",
      span: parameter.name.span,
      depth: 0,
      origin: index === 0 && parameter.name.text === "self" ? "self" : "parameter",
    })
  );
}

function checkSelf(scope: ModuleScope, symbol: FunctionSymbol): void {
  const { parameters } = symbol.declaration;
  const self = parameters.find((parameter) => parameter.name.text === "self");
  if (self === undefined) return;
  if (symbol.owner === null || parameters[0] !== self) {
    scope.reporter.report(
      "NM0018",
      self.name.span,
      symbol.owner === null
        ? "`self` is the receiver of a method, but this function is not a method."
        : "`self` must be the first parameter of a method.",
      {
        hint: symbol.owner === null
          ? `Name the function after its type: \`fn Ball.${symbol.name}(self: Ball)\`.`
          : undefined,
      },
    );
    return;
  }
  const type = symbol.parameters[0]?.type ?? ERROR_TYPE;
  const entry = scope.types.get(symbol.owner);
  const isRight = type.kind === "variable" || entry === undefined || entry.kind === "broken" ||
    entry.kind === "primitive" && type === entry.type ||
    entry.kind === "definition" && type.kind === "named" && type.definition === entry.definition ||
    entry.kind === "alias";
  if (isRight || self.type === null) return;
  scope.reporter.report(
    "TY0038",
    self.type.span,
    `The type of \`self\` in a method of \`${symbol.owner}\` must be \`${symbol.owner}\`.`,
    {
      fixes: entry.kind === "definition" && entry.definition.typeParameters.length === 0
        ? [scope.reporter.fix(`write \`${symbol.owner}\``, "safe", self.type.span, symbol.owner)]
        : [],
    },
  );
}

/** Makes the inferred parts of signatures unknown again. */
export function redeclareInferred(graph: ModuleGraph, scope: ModuleScope): void {
  for (const symbol of scope.functions) {
    if (symbol.areParametersKnown && symbol.isResultKnown) {
      if (symbol.declaredEffects === null) symbol.effects = new Set();
      continue;
    }
    symbol.areParametersKnown = true;
    symbol.isResultKnown = true;
    declareFunction(graph, scope, symbol);
  }
  for (const symbol of scope.constants) if (!symbol.isTypeKnown) symbol.type = signatureUnifier.fresh();
}
