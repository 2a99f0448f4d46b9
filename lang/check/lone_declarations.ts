/**
 * Checks declarations by themselves, among all else as it was checked last: what an editor asks about the function
 * that somebody is writing costs no more than that function.
 *
 * Nothing of the module that they belong to changes, and what is wrong in them is told to nobody.
 */
import type * as ast from "../syntax/ast.ts";
import { declareSignatures, wholeDeclaration } from "./declare.ts";
import { checkConstantValue, checkFunction, newSession } from "./module_body.ts";
import { checkTests } from "./module_tests.ts";
import { Reporter } from "./report.ts";
import { ConstantSymbol, FunctionSymbol, ModuleScope } from "./symbols.ts";
import { SymbolTable } from "./symbol_table.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** What checking them gives. */
export interface LoneDeclarations {
  /** Sees all that their module sees, and has the functions and constants among them. */
  readonly scope: ModuleScope;
  readonly symbols: SymbolTable;
}

/**
 * Checks the functions, constants and tests of a piece of a module. Types and interfaces are those that the module
 * had.
 */
export function checkLoneDeclarations(
  graph: ModuleGraph,
  home: ModuleScope,
  piece: ast.Module,
): LoneDeclarations {
  const scope = new ModuleScope(home.name, home.isLibrary, piece, new Reporter(piece.file));
  scope.isDependency = home.isDependency;
  scope.link = home.link;
  copy(home.types, scope.types);
  copy(home.variants, scope.variants);
  copy(home.values, scope.values);
  copy(home.members, scope.members);
  copy(home.imports, scope.imports);
  for (const name of home.brokenNames) scope.brokenNames.add(name);
  scope.hasNameless = home.hasNameless;
  for (const declaration of piece.declarations) {
    const whole = wholeDeclaration(declaration);
    const symbol = whole?.kind === "function"
      ? new FunctionSymbol(scope, whole, declaration.kind === "broken")
      : whole?.kind === "const"
      ? new ConstantSymbol(scope, whole)
      : null;
    if (symbol === null) continue;
    if (symbol.kind === "function") scope.functions.push(symbol);
    else scope.constants.push(symbol);
    if (symbol.owner === null) scope.values.set(symbol.name, symbol);
  }
  declareSignatures(graph, scope);
  for (const symbol of scope.functions) takeInferred(symbol, home);
  const symbols = new SymbolTable();
  const session = newSession(graph, scope, symbols);
  for (const symbol of [...scope.functions, ...scope.constants]) symbols.define(symbol.nameSpan, symbol);
  for (const symbol of scope.constants) symbol.checkValue = () => checkConstantValue(session, symbol);
  for (const symbol of scope.functions) symbol.checkBody = () => checkFunction(session, symbol);
  for (const symbol of scope.constants) checkConstantValue(session, symbol);
  for (const symbol of scope.functions) checkFunction(session, symbol);
  checkTests(session);
  session.finish();
  return { scope, symbols };
}

/** What the rest of the module tells of a function: types of parameters by its calls, effects by what it calls. */
function takeInferred(symbol: FunctionSymbol, home: ModuleScope): void {
  const known = home.functions.find((each) => each.displayName === symbol.displayName);
  if (known === undefined) return;
  if (symbol.declaredEffects === null) symbol.effects = known.effects;
  if (symbol.areParametersKnown) return;
  for (const [index, parameter] of symbol.parameters.entries()) {
    const type = known.parameters[index]?.type;
    if (type !== undefined && parameter.type.kind === "variable") parameter.type = type;
  }
}

function copy<Key, Value>(from: ReadonlyMap<Key, Value>, to: Map<Key, Value>): void {
  for (const [key, value] of from) to.set(key, value);
}
