/**
 * Items of a completion that depend on what stands around the place: members, types, patterns, fields, arguments,
 * expressions.
 */
import { misfit } from "../check/conformance.ts";
import { resolveAlias } from "../check/declare.ts";
import { STANDARD_LIBRARY } from "../check/standard_library.ts";
import {
  type FunctionSymbol,
  type ModuleScope,
  type TypeEntry,
  type ValueSymbol,
  Variable,
} from "../check/symbols.ts";
import type { ModuleGraph } from "../check/module_graph.ts";
import type { Edit } from "../diagnostics/diagnostic.ts";
import type { Span } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import { resolve } from "../types/primitives.ts";
import type { Type, VariantDefinition } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import { typeText } from "../types/type_text.ts";
import { describe } from "./describe.ts";
import type { Occurrence } from "./name_index.ts";
import { STATEMENT_SNIPPETS, STATEMENT_WORDS } from "./snippets.ts";
import type { CompletionItem } from "./symbol_service.ts";
import { fieldsOf, type Target, targetKind, targetType } from "./targets.ts";
import type { Trial } from "./trial.ts";
import { visibleNames } from "./visible_names.ts";
import { type CompletionInput, declarationItems, libraryModules, plain, RANK } from "./completion_items.ts";

/** Where the expression begins that the name that was put in belongs to. */
function wordStart({ path, offset }: Trial): number {
  const node = path.at(-1);
  return node?.kind === "name" || node?.kind === "field" ? node.span.start : offset - 1;
}

/** What calling gives, of a function. */
function resultOf(type: Type): Type {
  const at = resolve(type);
  return at.kind === "function" ? at.result : at;
}

/** Whether two types are of one kind, whatever their arguments. */
function isAlike(left: Type, right: Type): boolean {
  const [one, other] = [resolve(left), resolve(right)];
  if (one.kind === "primitive") return other.kind === "primitive" && one.name === other.name;
  if (one.kind === "named") return other.kind === "named" && one.definition === other.definition;
  return false;
}

/** Collects what could be written at one place. */
export class CompletionWriter {
  readonly #input: CompletionInput;
  readonly #trial: Trial;
  readonly #graph: ModuleGraph;
  readonly #scope: ModuleScope;
  readonly #found: CompletionItem[] = [];
  /** The type of the value that is wanted at the place; null when any will do. */
  readonly #wanted: Type | null;
  /** Whether parentheses stand behind the place already. */
  readonly #isCalled: boolean;

  constructor(input: CompletionInput, trial: Trial, word: Span) {
    this.#input = input;
    this.#trial = trial;
    this.#graph = trial.graph;
    this.#scope = trial.index.scope;
    this.#wanted = trial.index.table.wanted.get(wordStart(trial)) ?? null;
    this.#isCalled = /^\s*\(/.test(input.parsed.module.file.text.slice(word.end, word.end + 20));
  }

  /** All items; `line` is what stands before the place on its line. */
  items(line: string): readonly CompletionItem[] {
    const { path, declaration } = this.#trial;
    const node = path.at(-1);
    if (/\bfn\s+\w*$/.test(line)) this.#ownersOf();
    else if (node === undefined || declaration === null) return declarationItems(line);
    else {
      switch (node.kind) {
        case "field":
          this.#member(node);
          break;
        case "named-type":
          this.#types(node.module);
          break;
        case "variant-pattern":
        case "binding":
          this.#patterns();
          break;
        case "record-field":
          this.#recordFields(node.record);
          break;
        case "field-pattern":
          this.#patternFields(node.pattern);
          break;
        case "argument":
          this.#arguments(node.call);
          break;
        case "name":
        case "block":
        case "expression":
        case "arm":
          this.#expression(node.kind === "name" ? node : null);
          break;
        default:
          if (line.trim() === "" || /\w$/.test(line)) this.#expression(null);
          break;
      }
    }
    return this.#found;
  }

  /** Less, when a value of the type is wanted at the place. */
  #ranked(type: Type | null, rank: number): number {
    return type !== null && this.#wanted !== null && isAlike(resultOf(type), this.#wanted)
      ? RANK.wanted
      : rank;
  }

  #push(target: Target, label: string, rank: number, text = label): void {
    const { signature, type, documentation } = describe(this.#graph, target);
    const kind = targetKind(target);
    const detail = kind === "function" || kind === "method" || kind === "type" || kind === "record" ||
        kind === "union" || kind === "interface" || kind === "module" || kind === "variant"
      ? signature
      : type ?? signature;
    const isValue = target.kind === "value" || target.kind === "variant";
    const own = isValue ? this.#ranked(targetType(target), rank) : rank;
    this.#found.push(plain(label, kind, own, detail, documentation, text));
  }

  /** A call to fill in. */
  #callText(symbol: ValueSymbol, isOnValue: boolean): string {
    if (symbol.kind !== "function" || this.#isCalled) return symbol.name;
    const parameters = isOnValue ? symbol.parameters.slice(1) : symbol.parameters;
    const parts = parameters.map(({ name, kind }, index) =>
      `${kind === "inout" ? "&" : ""}\${${index + 1}:${name}}`
    );
    return `${symbol.name}(${parts.join(", ")})`;
  }

  #variantText({ name, fields }: VariantDefinition): string {
    if (fields.length === 0 || this.#isCalled) return name;
    return `${name}(${fields.map((field, index) => `\${${index + 1}:${field.name ?? "value"}}`).join(", ")})`;
  }

  #value(symbol: ValueSymbol, rank: number, isOnValue = false): void {
    this.#push({ kind: "value", symbol }, symbol.name, rank, this.#callText(symbol, isOnValue));
  }

  #isSeen(symbol: ValueSymbol): boolean {
    return symbol.isPublic || symbol.scope.name === this.#scope.name;
  }

  /** The names that start at a place. */
  #noted(start: number): readonly Occurrence[] {
    return this.#trial.index.occurrences.filter((each) => each.span.start === start);
  }

  /** The type of what ends and begins at a span; null when it is not known. */
  #typeAt(span: Span): Type | null {
    const { types } = this.#trial.index.table;
    const found = types.findLast((each) => each.span.start === span.start && each.span.end === span.end);
    const type = found === undefined ? null : resolve(found.type);
    return type === null || type.kind === "variable" && type.literal === null ? null : type;
  }

  #member({ target }: ast.FieldAccess): void {
    if (target.kind === "name" || target.kind === "field") {
      const span = target.kind === "name" ? target.span : target.name.span;
      for (const { target: named } of this.#noted(span.start)) {
        if (named.kind === "module" || named.kind === "alias") return this.#ofModule(named.path);
        if (named.kind === "type") return this.#ofType(named.entry);
        if (named.kind === "type-parameter") {
          for (const bound of named.parameter.bounds) {
            for (const { name } of bound.functions) {
              this.#push({ kind: "interface-function", interface: bound, name }, name, RANK.member);
            }
          }
          return;
        }
      }
    }
    const type = this.#typeAt(target.span);
    if (type !== null) this.#ofValue(type);
  }

  #ofModule(path: string): void {
    const scope = this.#graph.scopes.get(path);
    if (scope === undefined) return;
    for (const symbol of scope.values.values()) {
      if (this.#isSeen(symbol)) this.#value(symbol, RANK.member);
    }
    for (const [name, entry] of scope.types) {
      if (entry.isPublic) this.#push({ kind: "type", entry, name }, name, RANK.type);
    }
  }

  #ofType(entry: TypeEntry): void {
    if (entry.kind === "alias") resolveAlias(this.#graph, entry.scope, entry.alias);
    const aliased = entry.kind === "alias" ? resolve(entry.alias.type) : null;
    const definition = entry.kind === "definition"
      ? entry.definition
      : aliased?.kind === "named"
      ? aliased.definition
      : null;
    if (definition?.body.kind === "union") {
      for (const variant of definition.body.variants) {
        this.#push({ kind: "variant", variant }, variant.name, RANK.wanted, this.#variantText(variant));
      }
    }
    for (const symbol of this.#graph.membersOfEntry(entry)?.values() ?? []) {
      if (!this.#isSeen(symbol)) continue;
      const isMethod = symbol.kind === "function" && symbol.isMethod;
      this.#value(symbol, isMethod ? RANK.derived : RANK.member);
    }
  }

  #ofValue(type: Type): void {
    if (type.kind === "tuple") {
      for (const [index, element] of type.elements.entries()) {
        this.#found.push(plain(String(index), "field", RANK.wanted, typeText(element)));
      }
    }
    if (type.kind === "named") {
      const { definition } = type;
      for (const [index, field] of fieldsOf(definition).entries()) {
        if (field.name === null) continue;
        const own = substitute(field.type, definition.typeParameters, type.arguments);
        const { documentation } = describe(this.#graph, { kind: "field", definition, index });
        const rank = this.#wanted === null ? RANK.wanted : this.#ranked(own, RANK.field);
        this.#found.push(plain(field.name, "field", rank, typeText(own), documentation));
      }
    }
    for (const symbol of this.#graph.membersOf(type)?.values() ?? []) {
      if (symbol.kind === "function" && symbol.isMethod && this.#isSeen(symbol)) {
        this.#value(symbol, RANK.member, true);
      }
    }
    const bounds = type.kind === "parameter"
      ? type.parameter.bounds
      : ["Show", "Ord", "Eq", "Hash"].flatMap((name) => {
        const each = this.#graph.coreInterface(name);
        return each === null || misfit(this.#graph, type, each) !== null ? [] : [each];
      });
    for (const bound of bounds) {
      for (const { name, parameters } of bound.functions) {
        if (parameters[0]?.name !== "self") continue;
        const rest = parameters.slice(1).map((each, index) => `\${${index + 1}:${each.name}}`);
        this.#push(
          { kind: "interface-function", interface: bound, name },
          name,
          type.kind === "parameter" ? RANK.member : RANK.derived,
          this.#isCalled ? name : `${name}(${rest.join(", ")})`,
        );
      }
    }
  }

  #ownersOf(): void {
    for (const [name, entry] of this.#scope.types) {
      this.#push({ kind: "type", entry, name }, name, RANK.type, `${name}.`);
    }
  }

  #types(module: ast.Name | null): void {
    if (module !== null) {
      const scope = this.#scope.imports.get(module.text)?.scope;
      for (const [name, entry] of scope?.types ?? []) {
        if (entry.isPublic) this.#push({ kind: "type", entry, name }, name, RANK.type);
      }
      return;
    }
    for (const { name, bounds } of this.#typeParameters()) {
      const detail = bounds.length === 0 ? "type parameter" : bounds.map((bound) => bound.name).join(" + ");
      this.#found.push(plain(name, "type_parameter", RANK.wanted, detail));
    }
    this.#typeNames(true);
    this.#modules();
  }

  #typeParameters(): FunctionSymbol["typeParameters"] {
    const { declaration } = this.#trial;
    return this.#scope.functions.find((each) => each.declaration === declaration)?.typeParameters ?? [];
  }

  /** Types in scope, and, where wanted, those of modules that are not imported. */
  #typeNames(withMissing: boolean): void {
    for (const [name, entry] of this.#scope.types) this.#push({ kind: "type", entry, name }, name, RANK.own);
    for (const through of this.#scope.imports.values()) {
      for (const [name, entry] of through.scope?.types ?? []) {
        if (entry.isPublic) this.#push({ kind: "type", entry, name }, name, RANK.type);
      }
    }
    for (const core of this.#graph.core) {
      for (const [name, entry] of core.types) {
        if (entry.isPublic) this.#push({ kind: "type", entry, name }, name, RANK.core);
      }
    }
    if (!withMissing) return;
    for (const [path, module] of this.#missingModules()) {
      for (const declaration of module.declarations) {
        if (declaration.kind !== "type" || !declaration.isPublic) continue;
        this.#found.push({
          ...plain(
            declaration.name.text,
            "type",
            RANK.missing,
            `use ${path}`,
            declaration.documentation?.text ?? null,
          ),
          edits: [this.#importOf(path)],
        });
      }
    }
  }

  /** Modules that could be imported and are not. */
  #missingModules(): [string, ast.Module][] {
    const imported = new Set([...this.#scope.imports.values()].map(({ path }) => path));
    const own = this.#input.modules.filter((name) => name !== this.#scope.name && name !== "main");
    return [...own, ...libraryModules()].flatMap((path): [string, ast.Module][] => {
      if (imported.has(path)) return [];
      const module = STANDARD_LIBRARY.module(path) ?? this.#graph.scopes.get(path)?.module;
      return module === undefined ? [] : [[path, module]];
    });
  }

  /** The edit that writes a `use`, in its place among the others. */
  #importOf(path: string): Edit {
    const { file, uses } = this.#input.imports;
    const before = uses.findLast((each) => each.path.map((name) => name.text).join(".") < path);
    const first = uses[0];
    if (before !== undefined) {
      return { file, span: { start: before.span.end, end: before.span.end }, text: `\nuse ${path}` };
    }
    if (first !== undefined) {
      return { file, span: { start: first.span.start, end: first.span.start }, text: `use ${path}\n` };
    }
    const introduction = /^(?:\/\/!.*\n)*\n?/.exec(file.text)?.[0].length ?? 0;
    return { file, span: { start: introduction, end: introduction }, text: `use ${path}\n\n` };
  }

  #modules(): void {
    for (const { alias, path, scope } of this.#scope.imports.values()) {
      if (scope !== null) this.#push({ kind: "module", path }, alias, RANK.module);
    }
  }

  #patterns(): void {
    const subject = this.#subject();
    if (subject?.kind === "named" && subject.definition.body.kind === "union") {
      for (const variant of subject.definition.body.variants) {
        this.#push({ kind: "variant", variant }, variant.name, RANK.wanted, this.#variantText(variant));
      }
      this.#found.push(plain("_", "keyword", RANK.word, "anything else"));
      return;
    }
    if (subject?.kind === "named" && subject.definition.body.kind === "record") {
      const { name } = subject.definition;
      const fields = fieldsOf(subject.definition).flatMap((field) => field.name ?? []);
      this.#found.push(
        plain(name, "record", RANK.wanted, typeText(subject), null, `${name} { ${fields.join(", ")} }`),
      );
    }
    if (subject?.kind === "primitive" && subject.name === "Bool") {
      for (const word of ["true", "false"]) this.#found.push(plain(word, "keyword", RANK.wanted, "Bool"));
    }
    this.#variants();
    this.#found.push(plain("_", "keyword", RANK.word, "anything else"));
  }

  /** The type of what a pattern at the place looks at, where it is a whole pattern. */
  #subject(): Type | null {
    const { path } = this.#trial;
    let at = path.length - 2;
    if (path[at]?.kind === "alternative-pattern") at--;
    const around = path[at];
    switch (around?.kind) {
      case "arm":
        return this.#typeAt(around.match.subject.span);
      case "if":
        return this.#typeAt(around.condition.span);
      case "let":
        return this.#typeAt(around.value.span);
      default:
        return null;
    }
  }

  #variants(): void {
    const scopes = [
      { scope: this.#scope, isOwn: true },
      ...[...this.#scope.imports.values()].flatMap(({ scope }) =>
        scope === null ? [] : [{ scope, isOwn: false }]
      ),
      ...this.#graph.core.map((scope) => ({ scope, isOwn: false })),
    ];
    for (const { scope, isOwn } of scopes) {
      for (const variants of scope.variants.values()) {
        for (const variant of variants) {
          if (!isOwn && !variant.definition.isPublic) continue;
          this.#push({ kind: "variant", variant }, variant.name, RANK.variant, this.#variantText(variant));
        }
      }
    }
  }

  #recordFields(record: ast.RecordLiteral): void {
    const span = record.type.kind === "field" ? record.type.name.span : record.type.span;
    const given = new Set(record.fields.map(({ name }) => name.text));
    for (const { target } of this.#noted(span.start)) {
      if (target.kind !== "type" || target.entry.kind !== "definition") continue;
      const { definition } = target.entry;
      for (const [index, { name }] of fieldsOf(definition).entries()) {
        if (name === null || given.has(name)) continue;
        this.#push({ kind: "field", definition, index }, name, RANK.wanted, `${name}: \${1}`);
      }
    }
  }

  #patternFields(pattern: ast.RecordPattern): void {
    const last = pattern.path.at(-1);
    const given = new Set(pattern.fields.map(({ name }) => name.text));
    for (const { target } of last === undefined ? [] : this.#noted(last.span.start)) {
      if (target.kind !== "type" || target.entry.kind !== "definition") continue;
      const { definition } = target.entry;
      for (const [index, { name }] of fieldsOf(definition).entries()) {
        if (name !== null && !given.has(name)) {
          this.#push({ kind: "field", definition, index }, name, RANK.wanted);
        }
      }
    }
  }

  /** Names of parameters that are not given yet. */
  #arguments({ callee, arguments: given }: ast.Call): void {
    const span = callee.kind === "field" ? callee.name.span : callee.span;
    const names = new Set(given.flatMap(({ name }) => name?.text ?? []));
    for (const { target } of this.#noted(span.start)) {
      if (target.kind === "value" && target.symbol.kind === "function") {
        const { symbol } = target;
        for (const [index, { name }] of symbol.parameters.entries()) {
          if (name === "self" || names.has(name)) continue;
          this.#push({ kind: "parameter", symbol, index }, `${name}:`, RANK.derived, `${name}: \${1}`);
        }
      } else if (target.kind === "variant") {
        for (const [index, { name }] of target.variant.fields.entries()) {
          if (name === null || names.has(name)) continue;
          this.#push(
            { kind: "variant-field", variant: target.variant, index },
            `${name}:`,
            RANK.derived,
            `${name}: \${1}`,
          );
        }
      }
    }
  }

  #expression(name: ast.NameExpression | null): void {
    const { declaration, offset, path, index } = this.#trial;
    const variables = new Map<number, Variable>();
    for (const { span, target } of index.table.definitions) {
      if (target instanceof Variable) variables.set(span.start, target);
    }
    for (const { text, span } of declaration === null ? [] : visibleNames(declaration, offset).toReversed()) {
      const variable = variables.get(span.start);
      if (text === "_") continue;
      this.#found.push(
        plain(
          text,
          "variable",
          this.#ranked(variable?.type ?? null, RANK.local),
          variable === undefined ? "" : typeText(variable.type),
        ),
      );
    }
    const around = path.at(-2);
    if (name !== null && around?.kind === "argument") this.#arguments(around.call);
    for (const symbol of this.#scope.values.values()) this.#value(symbol, RANK.own);
    this.#modules();
    this.#typeNames(name !== null);
    this.#variants();
    for (const symbol of this.#graph.scopes.get("std.prelude")?.values.values() ?? []) {
      if (symbol.isPublic) this.#value(symbol, RANK.core);
    }
    for (const [label, text, detail] of KNOWN) {
      this.#found.push(plain(label, "function", RANK.core, detail, null, this.#isCalled ? label : text));
    }
    for (const word of STATEMENT_WORDS) this.#found.push(plain(word, "keyword", RANK.word, "keyword"));
    for (const { label, detail, text } of STATEMENT_SNIPPETS) {
      this.#found.push(plain(label, "snippet", RANK.snippet, detail, null, text));
    }
    for (const [path] of this.#missingModules()) {
      const label = path.split(".").at(-1) ?? path;
      if (this.#scope.imports.has(label)) continue;
      this.#found.push({
        ...plain(label, "module", RANK.missing, `use ${path}`),
        edits: [this.#importOf(path)],
      });
    }
  }
}

/** Functions that the compiler knows itself. */
const KNOWN = [
  ["panic", 'panic("${1}")', "fn panic(message: String) -> Never"],
  ["expect", "expect(${1})", "fn expect(condition: Bool)"],
  [
    "expect_snapshot",
    'expect_snapshot(${1:value}, "${2}")',
    "fn expect_snapshot[T: Show](value: T, expected: String)",
  ],
] as const;
