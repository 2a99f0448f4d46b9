/**
 * Entry points: the functions of `src/main.lang` that the host of a target calls, and what they must be like.
 */
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { TypedFunction, TypedModule, TypedProgram } from "../typed/tree.ts";
import { isPrimitive, isUnit, resolve } from "../types/primitives.ts";
import { type Effect, EFFECTS, type Type } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import { columnTypeOf, isExported } from "./column_types.ts";
import { type Details, Reporter } from "./report.ts";

/** What a package is built for. */
export type Target = "wasm32-web" | "wasm32-wasi" | "wasm32-db";

/** The entry points that were found, and what is wrong with them. */
export interface EntryPoints {
  readonly functions: readonly TypedFunction[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Effects whose imports a target's host does not have. */
const ABSENT: Readonly<Record<Target, readonly Effect[]>> = {
  "wasm32-web": [],
  "wasm32-wasi": ["Draw", "Audio"],
  "wasm32-db": EFFECTS,
};

/** Finds the functions that the target's host calls, and checks their signatures and effects. */
export function findEntryPoints(program: TypedProgram, target: Target): EntryPoints {
  const { root } = program;
  if (root === null) return { functions: [], diagnostics: [] };
  const reporter = new Reporter(root.file);
  const functions = target === "wasm32-web"
    ? webFunctions(root, reporter)
    : target === "wasm32-wasi"
    ? commandFunctions(root, reporter)
    : databaseFunctions(root, reporter);
  for (const entry of functions) checkEffects(reporter, entry, target);
  return { functions, diagnostics: reporter.diagnostics };
}

function named(root: TypedModule, name: string): TypedFunction | null {
  return root.functions.find((each) => each.owner === null && each.name === name) ?? null;
}

const START = { start: 0, end: 0 };

function missing(reporter: Reporter, name: string, signature: string): void {
  reporter.report(
    "TY0043",
    START,
    `\`${reporter.file.path}\` has no function \`${name}\`, which the host must call.`,
    {
      hint: `Write \`${signature} { … }\`.`,
    },
  );
}

function wrong(
  reporter: Reporter,
  entry: TypedFunction,
  signature: string,
  details: Pick<Details, "hint" | "fixes"> = {},
): void {
  reporter.report(
    "TY0042",
    entry.nameSpan,
    `The entry point \`${entry.name}\` must be \`${signature}\`, but it is \`${signatureText(entry)}\`.`,
    details,
  );
}

/** A `main` that gives nothing: it says with its result that all went well. */
function withExitCode(reporter: Reporter, { nameSpan, body, result }: TypedFunction): Details {
  if (body === null || !isUnit(result)) return {};
  const { text } = reporter.file;
  const heading = text.slice(nameSpan.end, body.span.start);
  const behind = nameSpan.end + heading.replace(/\s*(?:\buses\b.*)?$/s, "").length;
  const close = body.span.end - 1;
  const line = text.lastIndexOf("\n", close) + 1;
  const indentation = text.slice(line, close);
  const isAlone = /^\s*$/.test(indentation);
  const isEmpty = /\{\s*$/.test(text.slice(0, close));
  return {
    hint: "The result is the exit code; 0 means success.",
    fixes: [{
      title: "return the exit code 0",
      applicability: "safe",
      edits: [
        reporter.edit({ start: behind, end: behind }, " -> Int"),
        isAlone
          ? reporter.edit({ start: line, end: line }, `${indentation}  0\n`)
          : reporter.edit({ start: close, end: close }, isEmpty ? " 0 " : "0 "),
      ],
    }],
  };
}

function signatureText(entry: TypedFunction): string {
  const parameters = entry.parameters.map((parameter) =>
    `${parameter.name}: ${parameter.kind === "inout" ? "inout " : ""}${typeText(parameter.type)}`
  );
  const result = isUnit(entry.result) ? "" : ` -> ${typeText(entry.result)}`;
  return `fn ${entry.name}(${parameters.join(", ")})${result}`;
}

function commandFunctions(root: TypedModule, reporter: Reporter): TypedFunction[] {
  const main = named(root, "main");
  const signature = "fn main() -> Int";
  if (main === null) {
    missing(reporter, "main", signature);
    return [];
  }
  const [first] = main.parameters;
  const takesArguments = first !== undefined && first.kind === "parameter" && isListOfStrings(first.type);
  const areTaken = main.typeParameters.length === 0 &&
    (main.parameters.length === 0 || main.parameters.length === 1 && takesArguments);
  if (!areTaken || !isPrimitive(main.result, "Int")) {
    const details = areTaken ? withExitCode(reporter, main) : {};
    wrong(reporter, main, "fn main() -> Int` or `fn main(args: List[String]) -> Int", details);
  }
  return [main];
}

function isListOfStrings(type: Type): boolean {
  const at = resolve(type);
  return at.kind === "named" && at.definition.name === "List" && isPrimitive(at.arguments[0] ?? at, "String");
}

function isSame(left: Type, right: Type): boolean {
  return typeText(left, true) === typeText(right, true);
}

function webFunctions(root: TypedModule, reporter: Reporter): TypedFunction[] {
  const [init, step, draw] = [named(root, "init"), named(root, "step"), named(root, "draw")];
  if (init === null) missing(reporter, "init", "pub fn init(seed: Int) -> State");
  if (step === null) missing(reporter, "step", "pub fn step(state: inout State, input: Input)");
  if (draw === null) missing(reporter, "draw", "pub fn draw(state: State) uses Draw");
  if (init === null) return [];
  const state = init.result;
  const stateText = typeText(state);
  const [seed] = init.parameters;
  const initFits = init.parameters.length <= 1 && init.typeParameters.length === 0 && !isUnit(state) &&
    (seed === undefined || seed.kind === "parameter" && isPrimitive(seed.type, "Int"));
  if (!initFits) wrong(reporter, init, `fn init(seed: Int) -> ${isUnit(state) ? "State" : stateText}`);
  if (step !== null) {
    const [first, second] = step.parameters;
    const fits = first !== undefined && first.kind === "inout" && isSame(first.type, state) &&
      isUnit(step.result) &&
      step.parameters.length <= 2 &&
      (second === undefined || second.kind === "parameter" && isInput(second.type));
    if (!fits) wrong(reporter, step, `fn step(state: inout ${stateText}, input: Input)`);
  }
  if (draw !== null) {
    const [first] = draw.parameters;
    const fits = first !== undefined && first.kind === "parameter" && isSame(first.type, state) &&
      isUnit(draw.result) &&
      draw.parameters.length === 1;
    if (!fits) wrong(reporter, draw, `fn draw(state: ${stateText})`);
  }
  return [init, step, draw].flatMap((each) => each ?? []);
}

function isInput(type: Type): boolean {
  const at = resolve(type);
  return at.kind === "named" && at.definition.module === "web.input" && at.definition.name === "Input";
}

/** What a module for a database exports beside the functions of the program. */
export const RESERVED_EXPORTS: ReadonlySet<string> = new Set([
  "memory",
  "allocate",
  "heap_bytes",
  "heap_top",
  "gas_left",
  "trap_site",
  "trap_text",
  "trap_other",
  "trap_index",
  "trap_length",
]);

function checkName(reporter: Reporter, { name, owner, nameSpan }: TypedFunction): void {
  if (owner !== null || !RESERVED_EXPORTS.has(name)) return;
  const { file } = reporter;
  const other = `${name}_value`;
  const calls = [...file.text.matchAll(new RegExp(`(?<![\\w.])${name}(?=\\()`, "g"))].map(({ index }) => ({
    start: index,
    end: index + name.length,
  })).filter(({ start }) => start !== nameSpan.start);
  reporter.report(
    "TY0047",
    nameSpan,
    `The name \`${name}\` is reserved for an export of the compiled module.`,
    {
      fixes: [{
        title: `Rename the function to \`${other}\``,
        applicability: "maybe",
        edits: [nameSpan, ...calls].map((span) => reporter.edit(span, other)),
      }],
    },
  );
}

function databaseFunctions(root: TypedModule, reporter: Reporter): TypedFunction[] {
  const candidates = root.functions.filter((each) => isExported(root, each));
  const functions = candidates.filter((each) =>
    each.typeParameters.length === 0 && columnTypeOf(each.result) !== null &&
    each.parameters.every(({ kind, type }) => kind === "parameter" && columnTypeOf(type) !== null)
  );
  for (const each of functions) checkName(reporter, each);
  if (functions.length > 0) return functions;
  const [first] = candidates;
  if (first === undefined) missing(reporter, "of its own", "pub fn price(count: Int) -> Float");
  else {wrong(
      reporter,
      first,
      "a function over numbers, `Bool`, `String`, `Bytes`, lists of numbers and options of these",
    );}
  return [];
}

function checkEffects(reporter: Reporter, entry: TypedFunction, target: Target): void {
  const absent = ABSENT[target].filter((effect) => entry.effects.has(effect));
  if (absent.length === 0) return;
  const names = absent.map((effect) => `\`${effect}\``).join(" and ");
  reporter.report(
    "EF0007",
    entry.nameSpan,
    `\`${entry.name}\` uses ${names}, which \`${target}\` does not have.`,
    {
      hint: target === "wasm32-db"
        ? "A database function must return the same result for the same arguments on every node."
        : undefined,
    },
  );
}
