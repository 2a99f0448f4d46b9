/** What is mutated and what is not, and that mutants are noticed. */
import assert from "node:assert/strict";
import { projectRoot, sourceFiles } from "../../tools/project.ts";
import { equivalentMutants } from "./equivalent.ts";
import { filesOf, layers, modulesOf } from "./layers.ts";
import { mutantsOf, mutate, sameMutant } from "./mutants.ts";
import { plantedTrials } from "./planted.ts";
import { runTrials, type Trial } from "./run_mutants.ts";
import { sampleOf } from "./sample.ts";

function changed(source: string, file = "engine/sql/functions/example.ts"): string[] {
  return mutantsOf(file, source).map((mutant) => mutate(source, mutant));
}

Deno.test("mutantsOf() breaks comparisons, logic, signs, constants and branches of code", () => {
  assert.deepEqual(changed("f(a < b);"), ["f(a <= b);"]);
  assert.deepEqual(changed("const x = !a && b !== null;"), [
    "const x = a && b !== null;",
    "const x = !a || b !== null;",
    "const x = !a && b === null;",
  ]);
  assert.deepEqual(changed("const x = -a + 2 ** 53n;"), [
    "const x = a + 2 ** 53n;",
    "const x = -a - 2 ** 53n;",
    "const x = -a + 1 ** 53n;",
    "const x = -a + 3 ** 53n;",
    "const x = -a + 2 ** 52n;",
    "const x = -a + 2 ** 54n;",
  ]);
  assert.deepEqual(changed("{\n  if (isEmpty(a)) return;\n  b.add(a);\n}"), [
    "{\n  if (true) return;\n  b.add(a);\n}",
    "{\n  if (false) return;\n  b.add(a);\n}",
    "{\n  if (isEmpty(a)) return;\n  ;\n}",
  ]);
});

Deno.test("mutantsOf() breaks the code in templates and strings where code is generated", () => {
  const source = "x.emit(`if (${a} < ${b}) ${c} += 1;`, `${d} !== 0`);";
  assert.deepEqual(changed(source), [
    "x.emit(`if (true || ${a} < ${b}) ${c} += 1;`, `${d} !== 0`);",
    "x.emit(`if (false && ${a} < ${b}) ${c} += 1;`, `${d} !== 0`);",
    "x.emit(`if (${a} <= ${b}) ${c} += 1;`, `${d} !== 0`);",
    "x.emit(`if (${a} < ${b}) ${c} += 0;`, `${d} !== 0`);",
    "x.emit(`if (${a} < ${b}) ${c} += 2;`, `${d} !== 0`);",
    "x.emit(`if (${a} < ${b}) ${c} += 1;`, `${d} === 0`);",
    "x.emit(`if (${a} < ${b}) ${c} += 1;`, `${d} !== 1`);",
  ]);
  assert.deepEqual(changed(source, "engine/types/example.ts"), []);
});

Deno.test("mutantsOf() leaves comments, types, regular expressions, assertions and errors alone", () => {
  for (
    const source of [
      "/* a < b */ // a < b",
      "type A = 0 | 1;\ninterface B { readonly c: true }",
      "f(/a < 1/.exec(b));",
      "assert(a < 1, `${a} < 1`);",
      "throw new DatabaseError(x, `${a} < ${1 + 1}`);",
      'import { a } from "./a < b.ts";',
      "new Map<string, number>();",
      'f(`a ${"x"} b`);',
    ]
  ) assert.deepEqual(changed(source), [], source);
});

Deno.test("sampleOf() draws the same mutants when other lines change, and no equivalent ones", async () => {
  const paths = await sourceFiles(projectRoot);
  for (const layer of layers) {
    assert.ok(filesOf(layer, paths).length > 0 && modulesOf(layer, paths).length > 0, layer.name);
    const options = { root: projectRoot, paths, seed: 1, count: 20 };
    const drawn = sampleOf(layer, { ...options, equivalent: [] });
    assert.equal(new Set(drawn.map(({ id }) => id)).size, 20);
    const [first] = drawn;
    assert.ok(first !== undefined);
    const without = sampleOf(layer, { ...options, equivalent: [first] });
    assert.deepEqual(without.slice(0, 10).map(({ id }) => id), drawn.slice(1, 11).map(({ id }) => id));
  }
});

Deno.test("equivalent mutants are found in the sources, each with a reason", () => {
  const sources = new Map<string, ReturnType<typeof mutantsOf>>();
  const isThere = (each: typeof equivalentMutants[number]) => {
    const known = sources.get(each.file) ??
      mutantsOf(each.file, Deno.readTextFileSync(`${projectRoot}/${each.file}`));
    sources.set(each.file, known);
    return known.some((mutant) => sameMutant(mutant, each));
  };
  for (const { reason, text } of equivalentMutants) assert.ok(reason.length > 10, text);
  // An entry whose line has changed says nothing any more, and does no harm.
  const stale = equivalentMutants.filter((each) => !isThere(each));
  for (const { file, text } of stale) console.log(`no longer there: ${file}: ${text}`);
  assert.ok(stale.length <= equivalentMutants.length / 2, `${stale.length} are no longer there`);
});

Deno.test("planted bugs and plain mutants are noticed", async () => {
  const paths = await sourceFiles(projectRoot);
  const trials: Trial[] = plantedTrials(projectRoot);
  for (
    const [name, file, text, kind] of [
      ["ranges", "engine/sql/functions/integer_range.ts", "inner.low >= outer.low", "logic"],
      ["values", "engine/types/decimal.ts", "other.coefficient === 0) throw divisionByZero", "equality"],
    ] as const
  ) {
    const layer = layers.find((each) => each.name === name);
    const source = Deno.readTextFileSync(`${projectRoot}/${file}`);
    const mutant = mutantsOf(file, source).find((each) => each.text.includes(text) && each.kind === kind);
    assert.ok(layer !== undefined && mutant !== undefined, file);
    trials.push({ id: mutant.id, layer, file, files: new Map([[file, mutate(source, mutant)]]) });
  }
  const results = await runTrials(trials, {
    root: projectRoot,
    paths,
    workers: 1,
    tests: [
      { module: "engine/sql/functions/integer_range_test.ts", name: null },
      { module: "engine/storage/access/vector_shape_test.ts", name: null },
      { module: "engine/types/decimal_test.ts", name: null },
      { module: "tests/slt/logic_test.ts", name: "logic tests of storage_bounds.slt" },
    ],
    report: () => {},
    log: (line) => console.log(line),
  });
  const survivors = results.filter(({ outcome }) => outcome === "survived");
  assert.deepEqual(survivors.map(({ id }) => id), []);
});
