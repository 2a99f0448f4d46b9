/**
 * The library: every module is right and without warnings, its tests, properties and examples hold, and the list of
 * intrinsics is complete.
 */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "../check/package_analysis.ts";
import { PackageChecker } from "../check/package_checker.ts";
import { STANDARD_LIBRARY } from "../check/standard_library.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { INTRINSIC_FUNCTIONS } from "../interpret/intrinsics.ts";
import { ExpectationTrap, Interpreter, ProgramTrap, RecordingHost } from "../interpret/interpreter.ts";
import { Aggregate, encodeText, ListValue, type Value } from "../interpret/value.ts";
import { parse } from "../syntax/parser.ts";
import type { TypedModule, TypedProgram, TypedTest } from "../typed/tree.ts";
import type { Type } from "../types/type.ts";
import { INTRINSIC_BY_ID, INTRINSICS } from "./intrinsics.ts";
import { LIBRARY_MODULES } from "./library.ts";
import { libraryReference } from "./reference.ts";

const checker = new PackageChecker();

function told(diagnostic: Diagnostic): string {
  const { line, column } = diagnostic.file.positionOf(diagnostic.span);
  return `${diagnostic.file.path}:${line}:${column} ${diagnostic.code} ${diagnostic.message}`;
}

function moduleOf(program: TypedProgram | null, name: string): TypedModule {
  const module = program?.modules.find((each) => each.name === name);
  assert.ok(module !== undefined, `${name} is in the program`);
  return module;
}

/** Runs a test and tells a failure with its place. */
function run(program: TypedProgram, module: TypedModule, test: TypedTest, args: readonly Value[]): void {
  try {
    new Interpreter(program, new RecordingHost()).runTest(module, test, args);
  } catch (error) {
    if (!(error instanceof ProgramTrap)) throw error;
    const { line, column } = error.site.file.positionOf(error.site.span);
    const sides = error instanceof ExpectationTrap && error.sides !== null
      ? `: ${error.sides.left} ${error.sides.operator} ${error.sides.right}`
      : "";
    assert.fail(`${test.name}: ${error.site.file.path}:${line}:${column} ${error.message}${sides}`);
  }
}

/** Numbers from a seed, enough for arguments of properties. */
function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return ((state ^ state >>> 13) >>> 0) % bound;
  };
}

function argument(type: Type, next: (bound: number) => number): Value {
  const special = next(4) === 0;
  if (type.kind === "primitive" && type.name === "Int") {
    return special ? [0, 1, -1, 2147483647, -2147483648][next(5)] ?? 0 : next(2001) - 1000;
  }
  if (type.kind === "primitive" && type.name === "Float") {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setUint32(0, next(2 ** 32));
    bits.setUint32(4, next(2 ** 32));
    return special ? [0, -0, 1, 5e-324, 1.7976931348623157e308, 0.1][next(6)] ?? 0 : bits.getFloat64(0);
  }
  if (type.kind === "primitive" && type.name === "String") {
    return encodeText(
      Array.from({ length: next(12) }, () => ["a", "b", ",", " ", "é", "😀", "\n"][next(7)]).join(""),
    );
  }
  if (type.kind === "tuple") return new Aggregate(type.elements.map((element) => argument(element, next)));
  const element = type.kind === "named" && type.definition.name === "List" ? type.arguments[0] : undefined;
  assert.ok(element !== undefined, "the property's parameter has a type that can be generated");
  return new ListValue(Array.from({ length: next(30) }, () => argument(element, next)));
}

for (const { name } of LIBRARY_MODULES) {
  const { diagnostics, program } = checker.checkLibraryModule(STANDARD_LIBRARY, name);
  Deno.test(`${name} is right, and its tests and properties hold`, () => {
    assert.deepEqual(diagnostics.map(told), []);
    assert.ok(program !== null);
    const module = moduleOf(program, name);
    for (const test of module.tests) {
      const count = test.kind === "property" ? 40 : 1;
      for (let seed = 0; seed < count; seed++) {
        const next = generator(seed);
        run(program, module, test, test.parameters.map((parameter) => argument(parameter.type, next)));
      }
    }
  });
}

/** The code blocks in the documentation of a module, as tests of a package that uses it. */
function examplesOf(text: string): string[] {
  const comments = text.split("\n").map((line) => /^\s*\/\/\/ ?(.*)$/.exec(line)?.[1] ?? null);
  const examples: string[] = [];
  let open: string[] | null = null;
  for (const line of comments) {
    if (line === "```" && open !== null) {
      examples.push(open.join("\n"));
      open = null;
    } else if (line === "```") open = [];
    else if (line !== null) open?.push(`  ${line}`);
  }
  return examples;
}

Deno.test("the examples in the documentation of the library hold", () => {
  let count = 0;
  for (const { name, file, isPrelude } of LIBRARY_MODULES) {
    const examples = examplesOf(file.text);
    if (examples.length === 0) continue;
    const tests = examples.map((example, index) => `test "${name} ${index}" {\n${example}\n}\n`);
    const source = `${isPrelude ? "" : `use ${name}\n\n`}${tests.join("\n")}`;
    const { diagnostics, program } = new PackageAnalyzer().analyze(new Map([["src/main.lang", source]]));
    assert.deepEqual(diagnostics.filter((each) => each.severity === "error").map(told), [], name);
    assert.ok(program !== null);
    const module = moduleOf(program, "main");
    for (const test of module.tests) run(program, module, test, []);
    count += module.tests.length;
  }
  assert.ok(count > 50, `${count} examples`);
});

Deno.test("docs/library.md is what the modules say", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/library.md", import.meta.url));
  assert.ok(page === libraryReference(), "write it anew: deno run -A tools/library_reference.ts");
});

Deno.test("the list of intrinsics is what the modules declare and the interpreter has", () => {
  const declared = LIBRARY_MODULES.flatMap(({ name, file }) =>
    parse(file).module.declarations.flatMap((declaration) => {
      if (declaration.kind !== "function" || declaration.linkage.kind !== "intrinsic") return [];
      const text = file.text.slice(declaration.span.start, declaration.span.end);
      const owner = declaration.owner === null ? "" : `${declaration.owner.text}.`;
      return [[`${name}.${owner}${declaration.name.text}`, text.slice(text.indexOf("fn ")).trim()] as const];
    })
  );
  assert.deepEqual(
    declared.toSorted(([left], [right]) => left < right ? -1 : 1),
    INTRINSICS.map((each) => [each.id, each.signature] as const).toSorted(([left], [right]) =>
      left < right ? -1 : 1
    ),
  );
  assert.deepEqual([...INTRINSIC_FUNCTIONS.keys()].toSorted(), [...INTRINSIC_BY_ID.keys()].toSorted());
});
