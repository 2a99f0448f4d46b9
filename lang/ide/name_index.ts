/**
 * All names of a module, and what each refers to: the checker's notes of its bodies, and what declarations, types and
 * paths name.
 *
 * The checker notes what needs types: variables, functions, variants, fields. Names that stand for themselves (types
 * as written, modules, names of arguments and fields of patterns) are found here, by the syntax tree and the scope of
 * the module.
 */
import { docExamples } from "../check/doc_examples.ts";
import { wholeDeclaration } from "../check/declare.ts";
import type { SymbolTable, SymbolTarget } from "../check/symbol_table.ts";
import { type FunctionSymbol, type ModuleScope, type ValueSymbol, Variable } from "../check/symbols.ts";
import type { ModuleGraph } from "../check/module_graph.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import { resolve } from "../types/primitives.ts";
import type { TypeDefinition, TypeParameter, VariantDefinition } from "../types/type.ts";
import { fieldsOf, type Target, targetKey } from "./targets.ts";

/** A name in a text. */
export interface Occurrence {
  readonly span: Span;
  readonly target: Target;
  readonly isDefinition: boolean;
  readonly isWrite: boolean;
  /** Whether it stands for a field and a variable at once: `Ball { x }`. */
  readonly isShorthand: boolean;
}

/** The names of one module, in the order of their places. */
export class NameIndex {
  readonly occurrences: readonly Occurrence[];
  readonly scope: ModuleScope;
  readonly file: SourceFile;
  readonly table: SymbolTable;
  #byKey: ReadonlyMap<string, readonly Occurrence[]> | null = null;

  constructor(scope: ModuleScope, table: SymbolTable, occurrences: readonly Occurrence[]) {
    this.scope = scope;
    this.file = scope.file;
    this.table = table;
    this.occurrences = occurrences;
  }

  /** Names that an offset touches; of a name that stands for two things both. */
  at(offset: number): readonly Occurrence[] {
    let low = 0;
    let high = this.occurrences.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.occurrences[middle]?.span.end ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    const found: Occurrence[] = [];
    for (let index = low; index < this.occurrences.length; index++) {
      const each = this.occurrences[index];
      if (each === undefined || each.span.start > offset) break;
      found.push(each);
    }
    // Between two names that touch, the one that begins is meant.
    const last = found.at(-1);
    return last === undefined ? [] : found.filter((each) => each.span.start === last.span.start);
  }

  /** Where a target is named. */
  of(key: string): readonly Occurrence[] {
    if (this.#byKey === null) {
      const byKey = new Map<string, Occurrence[]>();
      for (const occurrence of this.occurrences) {
        const own = targetKey(occurrence.target);
        const known = byKey.get(own);
        if (known === undefined) byKey.set(own, [occurrence]);
        else known.push(occurrence);
      }
      this.#byKey = byKey;
    }
    return this.#byKey.get(key) ?? [];
  }
}

/** Finds the names of a module that was checked with a table of symbols. */
export function indexNames(graph: ModuleGraph, scope: ModuleScope, table: SymbolTable): NameIndex {
  return new Collector(graph, scope, table).index();
}

class Collector {
  readonly #graph: ModuleGraph;
  readonly #scope: ModuleScope;
  readonly #table: SymbolTable;
  readonly #found = new Map<string, Occurrence>();
  /** What the checker says of a name, by its start. */
  readonly #noted = new Map<number, Target>();
  readonly #writes = new Set<number>();
  readonly #parameters = new Map<Variable, Target>();
  #typeParameters: readonly { readonly parameter: TypeParameter; readonly name: ast.Name }[] = [];

  constructor(graph: ModuleGraph, scope: ModuleScope, table: SymbolTable) {
    this.#graph = graph;
    this.#scope = scope;
    this.#table = table;
    for (const symbol of scope.functions) {
      for (const [index, parameter] of symbol.parameters.entries()) {
        this.#parameters.set(parameter, { kind: "parameter", symbol, index });
      }
    }
    for (const { span, target } of table.references) {
      const made = this.#targetOf(target);
      const narrow = made === null ? null : this.#narrowed(span, nameOfTarget(target));
      if (made !== null && narrow !== null) this.#noted.set(narrow.start, made);
    }
  }

  index(): NameIndex {
    const { module, functions, constants } = this.#scope;
    const symbols = new Map<ast.Declaration, ValueSymbol>();
    for (const symbol of [...functions, ...constants]) symbols.set(symbol.declaration, symbol);
    for (const declaration of module.declarations) {
      const whole = wholeDeclaration(declaration);
      if (whole !== null) this.#declaration(whole, symbols.get(whole) ?? null);
    }
    for (const { body } of docExamples(module).examples) this.#block(body);
    for (const { span, target } of this.#table.definitions) {
      const made = this.#targetOf(target);
      if (made !== null) this.#add(span, made, { isDefinition: true });
    }
    for (const { span, target } of this.#table.references) {
      const made = this.#targetOf(target);
      const narrow = made === null ? null : this.#narrowed(span, nameOfTarget(target));
      if (made !== null && narrow !== null) this.#add(narrow, made);
    }
    const occurrences = [...this.#found.values()].map((each) =>
      this.#writes.has(each.span.start) ? { ...each, isWrite: true } : each
    ).sort((left, right) => left.span.start - right.span.start || left.span.end - right.span.end);
    return new NameIndex(this.#scope, this.#table, occurrences);
  }

  #targetOf(target: SymbolTarget): Target | null {
    if (target instanceof Variable) {
      return target.origin === "compiler"
        ? null
        : this.#parameters.get(target) ?? { kind: "local", variable: target, file: this.#scope.file };
    }
    if ("kind" in target) {
      switch (target.kind) {
        case "function":
        case "constant":
          return { kind: "value", symbol: target };
        case "field":
          return { kind: "field", definition: target.definition, index: target.index };
        case "interface-function":
          return target;
      }
    }
    if ("definition" in target) return { kind: "variant", variant: target };
    const entry = this.#graph.scopes.get(target.module)?.types.get(target.name);
    return entry === undefined ? null : { kind: "type", entry, name: target.name };
  }

  /** The end of a path that is the name itself; null where something else stands, as for `a[i]`, which calls `at`. */
  #narrowed(span: Span, name: string): Span | null {
    const start = span.end - name.length;
    if (start < span.start || !this.#scope.file.text.startsWith(name, start)) return null;
    return { start, end: span.end };
  }

  #add(
    span: Span,
    target: Target,
    options: { readonly isDefinition?: boolean; readonly isShorthand?: boolean } = {},
  ): void {
    if (span.start >= span.end) return;
    const key = `${span.start} ${targetKey(target)}`;
    const known = this.#found.get(key);
    this.#found.set(key, {
      span,
      target,
      isDefinition: (options.isDefinition ?? false) || known?.isDefinition === true,
      isWrite: false,
      isShorthand: (options.isShorthand ?? false) || known?.isShorthand === true,
    });
  }

  #declaration(declaration: ast.Declaration, symbol: ValueSymbol | null): void {
    this.#typeParameters = [];
    switch (declaration.kind) {
      case "use":
        return this.#use(declaration);
      case "type":
        return this.#type(declaration);
      case "interface":
        return this.#interface(declaration);
      case "const":
        this.#owner(declaration.owner);
        if (symbol !== null) {
          this.#add(declaration.name.span, { kind: "value", symbol }, { isDefinition: true });
        }
        if (declaration.type !== null) this.#typeExpression(declaration.type);
        return this.#expression(declaration.value);
      case "function": {
        this.#owner(declaration.owner);
        if (symbol?.kind === "function") this.#heading(declaration, symbol);
        if (declaration.body !== null) this.#block(declaration.body);
        return;
      }
      case "test":
        return this.#block(declaration.body);
      case "property":
        for (const { type } of declaration.parameters) if (type !== null) this.#typeExpression(type);
        return this.#block(declaration.body);
      case "eval":
        this.#expression(declaration.threshold);
        for (const { score } of declaration.cases) this.#expression(score);
        return;
      case "broken":
        return;
    }
  }

  #use(declaration: ast.UseDeclaration): void {
    const first = declaration.path[0];
    const last = declaration.path.at(-1);
    if (first === undefined || last === undefined) return;
    const path = declaration.path.map((name) => name.text).join(".");
    this.#add({ start: first.span.start, end: last.span.end }, { kind: "module", path });
    const { alias } = declaration;
    if (alias !== null) {
      this.#add(alias.span, { kind: "alias", path, name: alias, file: this.#scope.file }, {
        isDefinition: true,
      });
    }
  }

  #type(declaration: ast.TypeDeclaration): void {
    const entry = this.#scope.types.get(declaration.name.text);
    if (entry === undefined || entry.span.start !== declaration.name.span.start) return;
    this.#add(declaration.name.span, { kind: "type", entry, name: declaration.name.text }, {
      isDefinition: true,
    });
    const parameters = entry.kind === "definition"
      ? entry.definition.typeParameters
      : entry.kind === "alias"
      ? entry.alias.typeParameters
      : [];
    this.#declareTypeParameters(declaration.typeParameters, parameters);
    const { body } = declaration;
    const definition = entry.kind === "definition" ? entry.definition : null;
    switch (body.kind) {
      case "record":
        for (const [index, field] of body.fields.entries()) {
          if (definition !== null) {
            this.#add(field.name.span, { kind: "field", definition, index }, { isDefinition: true });
          }
          this.#typeExpression(field.type);
        }
        return;
      case "union":
        for (const [index, each] of body.variants.entries()) {
          const variant = definition?.body.kind === "union" ? definition.body.variants[index] : undefined;
          if (variant !== undefined) {
            this.#add(each.name.span, { kind: "variant", variant }, { isDefinition: true });
          }
          for (const [position, field] of each.fields.entries()) {
            if (field.name !== null && variant !== undefined) {
              this.#add(field.name.span, { kind: "variant-field", variant, index: position }, {
                isDefinition: true,
              });
            }
            this.#typeExpression(field.type);
          }
        }
        return;
      case "alias":
        return this.#typeExpression(body.type);
      case "builtin":
        return;
    }
  }

  #interface(declaration: ast.InterfaceDeclaration): void {
    const entry = this.#scope.types.get(declaration.name.text);
    if (entry?.kind !== "interface" || entry.span.start !== declaration.name.span.start) return;
    this.#add(declaration.name.span, { kind: "type", entry, name: declaration.name.text }, {
      isDefinition: true,
    });
    for (const each of declaration.functions) {
      this.#add(
        each.name.span,
        { kind: "interface-function", interface: entry.definition, name: each.name.text },
        { isDefinition: true },
      );
      for (const { type } of each.parameters) if (type !== null) this.#typeExpression(type);
      if (each.result !== null) this.#typeExpression(each.result);
    }
  }

  #heading(declaration: ast.FunctionDeclaration, symbol: FunctionSymbol): void {
    this.#add(declaration.name.span, { kind: "value", symbol }, { isDefinition: true });
    this.#declareTypeParameters(declaration.typeParameters, symbol.typeParameters);
    for (const [index, parameter] of declaration.parameters.entries()) {
      this.#add(parameter.name.span, { kind: "parameter", symbol, index }, { isDefinition: true });
      if (parameter.type !== null) this.#typeExpression(parameter.type);
    }
    if (declaration.result !== null) this.#typeExpression(declaration.result);
  }

  #declareTypeParameters(declared: readonly ast.TypeParameter[], parameters: readonly TypeParameter[]): void {
    this.#typeParameters = declared.flatMap(({ name }, index) => {
      const parameter = parameters[index];
      return parameter === undefined ? [] : [{ parameter, name }];
    });
    for (const { parameter, name } of this.#typeParameters) {
      this.#add(name.span, { kind: "type-parameter", parameter, name, file: this.#scope.file }, {
        isDefinition: true,
      });
    }
    for (const { bounds } of declared) for (const bound of bounds) this.#typeExpression(bound);
  }

  #owner(owner: ast.Name | null): void {
    if (owner !== null) this.#typeName(null, owner);
  }

  #typeExpression(expression: ast.TypeExpression): void {
    switch (expression.kind) {
      case "named-type":
        this.#typeName(expression.module, expression.name);
        for (const each of expression.arguments) this.#typeExpression(each);
        return;
      case "tuple-type":
        for (const each of expression.elements) this.#typeExpression(each);
        return;
      case "function-type":
        for (const { type } of expression.parameters) this.#typeExpression(type);
        if (expression.result !== null) this.#typeExpression(expression.result);
        return;
    }
  }

  #typeName(module: ast.Name | null, name: ast.Name): void {
    if (module !== null) {
      this.#moduleName(module);
      const entry = this.#scope.imports.get(module.text)?.scope?.types.get(name.text);
      if (entry !== undefined) this.#add(name.span, { kind: "type", entry, name: name.text });
      return;
    }
    const own = this.#typeParameters.find((each) => each.name.text === name.text);
    if (own !== undefined) {
      this.#add(name.span, { kind: "type-parameter", ...own, file: this.#scope.file });
      return;
    }
    const entry = this.#graph.typesNamed(this.#scope, name.text)[0]?.item;
    if (entry !== undefined) this.#add(name.span, { kind: "type", entry, name: name.text });
  }

  #moduleName(name: ast.Name): void {
    const through = this.#scope.imports.get(name.text);
    if (through === undefined) {
      // In examples of its own documentation a module goes by its name.
      if (name.text !== this.#scope.name.split(".").at(-1)) return;
      this.#add(name.span, { kind: "module", path: this.#scope.name });
      return;
    }
    const { alias } = through.declaration;
    this.#add(
      name.span,
      alias === null
        ? { kind: "module", path: through.path }
        : { kind: "alias", path: through.path, name: alias, file: this.#scope.file },
    );
  }

  #block(block: ast.Block): void {
    for (const statement of block.statements) this.#statement(statement);
  }

  #statement(statement: ast.Statement): void {
    switch (statement.kind) {
      case "let":
        this.#pattern(statement.pattern);
        if (statement.type !== null) this.#typeExpression(statement.type);
        this.#expression(statement.value);
        if (statement.otherwise !== null) this.#block(statement.otherwise);
        return;
      case "var":
        if (statement.type !== null) this.#typeExpression(statement.type);
        return this.#expression(statement.value);
      case "assign":
        this.#written(statement.place);
        this.#expression(statement.place);
        return this.#expression(statement.value);
      case "while":
        this.#expression(statement.condition);
        return this.#block(statement.body);
      case "for":
        this.#pattern(statement.pattern);
        if (statement.isInout) this.#written(statement.subject);
        this.#expression(statement.subject);
        return this.#block(statement.body);
      case "return":
        if (statement.value !== null) this.#expression(statement.value);
        return;
      case "expression":
        return this.#expression(statement.expression);
      case "break":
      case "continue":
        return;
    }
  }

  #written(place: ast.Expression): void {
    if (place.kind === "name") this.#writes.add(place.span.start);
    else if (place.kind === "field") this.#writes.add(place.name.span.start);
    else if (place.kind === "index") this.#written(place.target);
  }

  #expression(expression: ast.Expression): void {
    switch (expression.kind) {
      case "integer":
      case "float":
      case "boolean":
      case "character":
        return;
      case "string":
        for (const part of expression.parts) if (typeof part !== "string") this.#expression(part);
        return;
      case "name":
        return this.#name({ text: expression.name, span: expression.span });
      case "field":
        this.#expression(expression.target);
        if (!this.#noted.has(expression.name.span.start)) this.#member(expression);
        return;
      case "call":
        return this.#call(expression);
      case "index":
        this.#expression(expression.target);
        return this.#expression(expression.index);
      case "propagate":
        return this.#expression(expression.target);
      case "unary":
        return this.#expression(expression.operand);
      case "binary":
        this.#expression(expression.left);
        return this.#expression(expression.right);
      case "range":
        this.#expression(expression.start);
        return this.#expression(expression.end);
      case "record":
        this.#expression(expression.type);
        if (expression.base !== null) this.#expression(expression.base);
        for (const { value } of expression.fields) this.#expression(value);
        return;
      case "list":
      case "tuple":
        for (const each of expression.elements) this.#expression(each);
        return;
      case "block":
        return this.#block(expression);
      case "if":
        if (expression.pattern !== null) this.#pattern(expression.pattern);
        this.#expression(expression.condition);
        this.#block(expression.then);
        if (expression.otherwise !== null) this.#expression(expression.otherwise);
        return;
      case "match":
        this.#expression(expression.subject);
        for (const { pattern, guard, body } of expression.arms) {
          this.#pattern(pattern);
          if (guard !== null) this.#expression(guard);
          this.#expression(body);
        }
        return;
      case "closure":
        for (const { type } of expression.parameters) if (type !== null) this.#typeExpression(type);
        if (expression.result !== null) this.#typeExpression(expression.result);
        return this.#block(expression.body);
    }
  }

  /** A name of which the checker says nothing: a module, a type, or a function that the compiler knows itself. */
  #name(name: ast.Name): void {
    if (this.#noted.has(name.span.start)) return;
    if (/^_?[A-Z]/.test(name.text)) return this.#typeName(null, name);
    if (name.text === "panic" || name.text === "expect" || name.text === "expect_snapshot") return;
    this.#moduleName(name);
  }

  /** A type behind a module's name. */
  #member({ target, name }: ast.FieldAccess): void {
    if (target.kind !== "name") return;
    const entry = this.#scope.imports.get(target.name)?.scope?.types.get(name.text);
    if (entry !== undefined) this.#add(name.span, { kind: "type", entry, name: name.text });
  }

  #call({ callee, arguments: given }: ast.Call): void {
    this.#expression(callee);
    const called = callee.kind === "field"
      ? this.#noted.get(callee.name.span.start)
      : callee.kind === "name"
      ? this.#noted.get(callee.span.start)
      : undefined;
    for (const argument of given) {
      if (argument.isInout) this.#written(argument.value);
      this.#expression(argument.value);
      const { name } = argument;
      if (name === null || called === undefined) continue;
      if (called.kind === "value" && called.symbol.kind === "function") {
        const index = called.symbol.parameters.findIndex((each) => each.name === name.text);
        if (index >= 0) this.#add(name.span, { kind: "parameter", symbol: called.symbol, index });
      } else if (called.kind === "variant") this.#variantField(called.variant, name);
    }
  }

  #variantField(variant: VariantDefinition, name: ast.Name): void {
    const index = variant.fields.findIndex((each) => each.name === name.text);
    if (index >= 0) this.#add(name.span, { kind: "variant-field", variant, index });
  }

  #pattern(pattern: ast.Pattern): void {
    switch (pattern.kind) {
      case "tuple-pattern":
        for (const each of pattern.elements) this.#pattern(each);
        return;
      case "variant-pattern": {
        const last = pattern.path.at(-1);
        const target = last === undefined ? undefined : this.#noted.get(last.span.start);
        this.#path(pattern.path);
        for (const field of pattern.fields) {
          if (field.name !== null && target?.kind === "variant") {
            this.#variantField(target.variant, field.name);
          }
          this.#pattern(field.pattern);
        }
        return;
      }
      case "record-pattern": {
        const definition = this.#recordOf(pattern.path);
        this.#path(pattern.path);
        const last = pattern.path.at(-1);
        if (last !== undefined) {
          this.#typeName(pattern.path.length > 1 ? pattern.path[0] ?? null : null, last);
        }
        for (const field of pattern.fields) {
          const index = definition === null
            ? -1
            : fieldsOf(definition).findIndex((each) => each.name === field.name.text);
          if (definition !== null && index >= 0) {
            this.#add(field.name.span, { kind: "field", definition, index }, {
              isShorthand: field.pattern === null,
            });
          }
          if (field.pattern !== null) this.#pattern(field.pattern);
          else this.#shorthand(field.name);
        }
        return;
      }
      case "list-pattern":
        for (const each of pattern.elements) this.#pattern(each);
        return;
      case "alternative-pattern":
        for (const each of pattern.alternatives) this.#pattern(each);
        return;
      case "binding":
        return this.#shared(pattern.name);
      default:
        return;
    }
  }

  /** Marks the variable of a field that is named by itself. */
  #shorthand(name: ast.Name): void {
    for (const { span, target } of this.#table.definitions) {
      if (span.start !== name.span.start) continue;
      const made = this.#targetOf(target);
      if (made !== null) this.#add(span, made, { isDefinition: true, isShorthand: true });
    }
  }

  /** The names of a pattern's later alternatives are the variables of the first. */
  #shared(name: ast.Name): void {
    const target = this.#noted.get(name.span.start);
    if (target !== undefined) this.#add(name.span, target);
  }

  #path(path: readonly ast.Name[]): void {
    for (const [index, name] of path.entries()) {
      if (index === path.length - 1 && path.length > 0) break;
      if (/^[a-z]/.test(name.text)) this.#moduleName(name);
      else this.#typeName(index === 0 ? null : path[index - 1] ?? null, name);
    }
  }

  #recordOf(path: readonly ast.Name[]): TypeDefinition | null {
    const last = path.at(-1);
    if (last === undefined) return null;
    const module = path.length > 1 ? path[0] : undefined;
    const entry = module === undefined
      ? this.#graph.typesNamed(this.#scope, last.text)[0]?.item
      : this.#scope.imports.get(module.text)?.scope?.types.get(last.text);
    if (entry?.kind === "definition") return entry.definition;
    const aliased = entry?.kind === "alias" ? resolve(entry.alias.type) : null;
    return aliased?.kind === "named" ? aliased.definition : null;
  }
}

function nameOfTarget(target: SymbolTarget): string {
  if (target instanceof Variable) return target.name;
  if ("kind" in target && target.kind === "field") {
    return fieldsOf(target.definition)[target.index]?.name ?? "";
  }
  return "name" in target ? target.name : "";
}
