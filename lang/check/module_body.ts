/**
 * Checks what is inside a module's declarations: bodies of functions, values of constants, tests.
 *
 * A function whose types are not all written is checked when the first call of it is met, with the types of that
 * call's arguments; what nobody calls comes last. Functions of the library are checked when somebody asks for their
 * body.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression, TypedModule, TypedTest } from "../typed/tree.ts";
import { isError, isNever, isUnit, NEVER, resolve } from "../types/primitives.ts";
import { typeText } from "../types/type_text.ts";
import { hasUnknown } from "../types/unification.ts";
import { Body, type Reason, type ReturnFrame, Session } from "./body.ts";
import { checkConstants } from "./constants.ts";
import { checkEndlessFunctions, checkEndlessTypes } from "./endless_types.ts";
import { resultOffset, settleEffects } from "./effects.ts";
import { check, DISCARDED, infer } from "./infer.ts";
import { makeParameters } from "./declare.ts";
import { checkFittings, checkInterfaceEffects, reportUnusedDeclarations } from "./module_lint.ts";
import { ConstantSymbol, EffectSources, FunctionSymbol, type ModuleScope, Variable } from "./symbols.ts";
import { SymbolTable } from "./symbol_table.ts";
import { checkExamples, checkTests } from "./module_tests.ts";
import { checkTypeSizes } from "./type_sizes.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** Makes bodies and values of a module answer when they are asked for. */
export function prepareLazily(graph: ModuleGraph, scope: ModuleScope): void {
  for (const symbol of scope.functions) {
    symbol.checkBody = () => {
      const session = newSession(graph, scope, null);
      checkFunction(session, symbol);
      session.finish();
    };
  }
  for (const symbol of scope.constants) {
    symbol.checkValue = () => {
      const session = newSession(graph, scope, null);
      checkConstantValue(session, symbol);
      session.finish();
    };
  }
}

/** A session for a module or one function of it. */
export function newSession(graph: ModuleGraph, scope: ModuleScope, symbols: SymbolTable | null): Session {
  return new Session({ graph, scope, symbols, inferBody: checkFunction });
}

/** What checking a module gives. */
export interface CheckedModule {
  readonly typed: TypedModule;
  readonly symbols: SymbolTable | null;
}

/** Checks everything in a module. */
export function checkModule(graph: ModuleGraph, scope: ModuleScope, withSymbols: boolean): CheckedModule {
  const symbols = withSymbols ? new SymbolTable() : null;
  const session = newSession(graph, scope, symbols);
  for (const symbol of scope.functions) symbol.checkBody = () => checkFunction(session, symbol);
  for (const symbol of scope.constants) symbol.checkValue = () => checkConstantValue(session, symbol);
  if (symbols !== null) defineSymbols(scope, symbols);
  checkEndlessTypes(graph, scope);
  for (const symbol of scope.constants) {
    if (symbol.valueState === "unchecked") checkConstantValue(session, symbol);
  }
  const isReady = (symbol: FunctionSymbol) => symbol.areParametersKnown && symbol.bodyState === "unchecked";
  for (const symbol of scope.functions) {
    if (isReady(symbol) && symbol.isResultKnown) checkFunction(session, symbol);
  }
  const tests = checkTests(session);
  const examples = scope.isLibrary || scope.isDependency ? null : checkExamples(session);
  for (const symbol of scope.functions) if (isReady(symbol)) checkFunction(session, symbol);
  for (const symbol of scope.functions) if (symbol.bodyState === "unchecked") checkFunction(session, symbol);
  for (const symbol of scope.functions) {
    for (const parameter of symbol.parameters) {
      if (parameter.type.kind === "variable") {
        session.mustBeKnown(parameter.type, parameter.span, `the parameter \`${parameter.name}\``);
      }
    }
  }
  session.finish();
  examples?.session.finish();
  settleEffects(scope, scope.functions);
  checkConstants(scope);
  checkTypeSizes(scope);
  checkEndlessFunctions(scope);
  checkInterfaceEffects(graph, scope);
  checkFittings(scope);
  if (!scope.isLibrary && !scope.isDependency) reportUnusedDeclarations(graph, scope);
  dropDoubtfulWarnings(scope);
  if (scope.isDependency) scope.reporter.keepOnly(({ severity }) => severity === "error");
  return { typed: typedModule(scope, [...tests, ...(examples?.tests ?? [])]), symbols };
}

/** Warnings that an error may have caused: what is broken uses nothing, and leaves much unreached. */
const DOUBTFUL: ReadonlySet<string> = new Set([
  "LI0001",
  "LI0002",
  "LI0003",
  "LI0005",
  "LI0006",
  "LI0007",
  "LI0008",
  "EF0003",
  "MX0002",
]);

function dropDoubtfulWarnings(scope: ModuleScope): void {
  const isWhole = scope.module.declarations.every((declaration) => declaration.kind !== "broken");
  if (isWhole && scope.reporter.errorCount === 0) return;
  scope.reporter.keepOnly((diagnostic) => !DOUBTFUL.has(diagnostic.code));
}

/** The module as the typed program has it. */
export function typedModule(scope: ModuleScope, tests: readonly TypedTest[]): TypedModule {
  const entries = [...scope.types.values()];
  return {
    name: scope.name,
    file: scope.file,
    isLibrary: scope.isLibrary || scope.isDependency,
    types: entries.flatMap((entry) => entry.kind === "definition" ? [entry.definition] : []),
    interfaces: entries.flatMap((entry) => entry.kind === "interface" ? [entry.definition] : []),
    functions: scope.functions,
    constants: scope.constants,
    tests,
  };
}

function defineSymbols(scope: ModuleScope, symbols: SymbolTable): void {
  for (const symbol of [...scope.functions, ...scope.constants]) symbols.define(symbol.nameSpan, symbol);
  for (const entry of scope.types.values()) {
    if (entry.kind === "definition") symbols.define(entry.span, entry.definition);
  }
}

/** Checks the body of a function, once. */
export function checkFunction(session: Session, symbol: FunctionSymbol): void {
  const { declaration } = symbol;
  if (symbol.bodyState !== "unchecked") return;
  symbol.bodyState = "checking";
  if (declaration.body === null || symbol.isBroken || declaration.linkage.kind !== "body") {
    symbol.bodyState = "checked";
    return;
  }
  const body = new Body(session, {
    typeParameters: symbol.typeParameters,
    sources: symbol.sources,
    symbol,
    parameters: symbol.parameters,
  });
  for (const parameter of symbol.parameters) {
    session.keep(parameter);
    session.symbols?.define(parameter.span, parameter);
  }
  const resultSpan = declaration.result?.span ??
    { start: declaration.name.span.start, end: resultOffset(session.scope, symbol) };
  const reason: Reason = { kind: "result", span: resultSpan, isWritten: declaration.result !== null };
  const returns: ReturnFrame = { type: symbol.result, reason, isDiscarded: false, isClosure: false };
  body.returns = returns;
  let typed: Expression;
  if (symbol.isResultKnown) {
    typed = check(body, declaration.body, isUnit(symbol.result) ? DISCARDED : symbol.result, reason);
  } else {
    // What `return` has said, if anything, is what the end must give.
    const known = resolve(symbol.result);
    typed = infer(body, declaration.body, known.kind === "variable" ? null : known, { kind: "tail" });
    const now = resolve(symbol.result);
    if (!isNever(typed.type)) {
      if (!session.unifier.unify(symbol.result, typed.type)) {
        reportResult(body, declaration, symbol);
      }
    } else if (now.kind === "variable" && now.literal === null && !isError(now)) now.link = NEVER;
  }
  for (const parameter of symbol.parameters) {
    body.reportIdle(parameter);
    noteUnusedParameter(session, symbol, parameter);
  }
  session.keep(new ResultHolder(symbol));
  symbol.body = typed;
  symbol.bodyState = "checked";
}

/** Puts the type in for a result that was inferred. */
class ResultHolder {
  readonly #symbol: FunctionSymbol;
  constructor(symbol: FunctionSymbol) {
    this.#symbol = symbol;
  }
  get type() {
    return this.#symbol.result;
  }
  set type(type) {
    this.#symbol.result = type;
  }
}

function reportResult(
  body: Body,
  declaration: ast.FunctionDeclaration,
  symbol: FunctionSymbol,
): void {
  const block = declaration.body;
  if (block === null) return;
  const last = block.statements.at(-1);
  if (last?.kind === "expression") check(body, last.expression, symbol.result, null);
  else {
    body.reporter.report(
      "TY0026",
      { start: block.span.end - 1, end: block.span.end },
      "This function must end with a value, because it returns one elsewhere.",
    );
  }
}

const ENTRY_POINTS: ReadonlySet<string> = new Set(["main", "init", "step", "draw"]);

/** Whether the host calls the function by its name. */
export function isEntryPoint(symbol: FunctionSymbol): boolean {
  return symbol.scope.name === "main" && symbol.owner === null && ENTRY_POINTS.has(symbol.name);
}

function noteUnusedParameter(session: Session, symbol: FunctionSymbol, parameter: Variable): void {
  const { name, span } = parameter;
  if (parameter.readCount > 0 || parameter.writeCount > 0 || name.startsWith("_") || name === "self") return;
  if (isEntryPoint(symbol) || session.scope.isLibrary) return;
  session.reporter.report(
    "LI0007",
    span,
    `The parameter \`${name}\` of \`${symbol.displayName}\` is never used.`,
    {
      hint: "Prefix the name with `_` if this is intended.",
      fixes: [session.reporter.fix(`rename it to \`_${name}\``, "maybe", span, `_${name}`)],
    },
  );
}

/** Checks the value of a constant, once. */
export function checkConstantValue(session: Session, symbol: ConstantSymbol): void {
  const { declaration } = symbol;
  if (symbol.valueState === "checking") {
    session.reporter.report("TY0032", declaration.name.span, `\`${symbol.displayName}\` depends on itself.`);
    return;
  }
  if (symbol.valueState === "checked") return;
  symbol.valueState = "checking";
  const body = new Body(session, { sources: symbol.sources });
  if (declaration.type !== null) {
    symbol.value = check(body, declaration.value, symbol.type, {
      kind: "annotation",
      span: declaration.type.span,
    });
  } else {
    const value = infer(body, declaration.value, null);
    session.unifier.unify(symbol.type, value.type);
    session.keep(symbol);
    symbol.value = value;
    if (declaration.isPublic) reportUntypedConstant(session, symbol, value);
  }
  symbol.valueState = "checked";
}

function reportUntypedConstant(session: Session, symbol: ConstantSymbol, value: Expression): void {
  session.finishers.push(() => {
    if (isError(value.type) || hasUnknown(value.type)) return;
    const { reporter } = session;
    const { span } = symbol.declaration.name;
    const text = typeText(value.type);
    reporter.report(
      "TY0039",
      span,
      `The exported constant \`${symbol.displayName}\` needs a type annotation.`,
      {
        fixes: [reporter.insert(`write \`: ${text}\``, "safe", span.end, `: ${text}`)],
      },
    );
  });
}

/** Makes the symbols of an unchanged signature ready for a changed body. */
export function resetForBodies(scope: ModuleScope): void {
  for (const symbol of scope.functions) {
    symbol.bodyState = "unchecked";
    symbol.body = null;
    symbol.isUsed = false;
    clearSources(symbol.sources);
    symbol.parameters = makeParameters(
      symbol.declaration,
      symbol.parameters.map((parameter) => parameter.type),
    );
  }
  for (const symbol of scope.constants) {
    symbol.valueState = "unchecked";
    symbol.isUsed = false;
    clearSources(symbol.sources);
  }
}

function clearSources(sources: EffectSources): void {
  sources.calls.clear();
  sources.constants.clear();
  sources.direct.clear();
  sources.functions.clear();
}
