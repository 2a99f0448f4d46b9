/**
 * Releases: what Binaryen makes of our modules is right, small, and the same each time.
 */
import assert from "node:assert/strict";
import { compile } from "../compiler/compile.ts";
import binaryen from "binaryen";
import { locate, optimizeLocated, optimizeModule } from "./release.ts";
import { checkSource, RunningModule } from "./testing.ts";

const SOURCE = `
type Shape = Circle(radius: Float) | Box(width: Float, height: Float) | Group(parts: List[Shape])

fn Shape.area(self: Shape) -> Float {
  match self {
    Circle(radius) => 3.0 * radius * radius
    Box(width, height) => width * height
    Group(parts) => parts.fold(0.0, fn(sum, part) { sum + part.area() })
  }
}

pub fn areas(n: Int) -> Float {
  var shapes: List[Shape] = []
  for i in 0..n { shapes.push(if i % 2 == 0 { Circle(i.to_float()) } else { Box(1.0, i.to_float()) }) }
  Group([Group(shapes), Circle(1.0)]).area()
}

pub fn words(n: Int) -> Int {
  var counts: Map[String, Int] = Map.empty()
  for i in 0..n { counts["w{i % 7}"] = counts.get_or("w{i % 7}", 0) + i }
  counts["w3"]
}

pub fn outside(n: Int) -> Int { 1 + [1, 2, 3][n] }
`;

Deno.test("a release gives the same answers, leaves the heap as it was, and traps where the debug build traps", async () => {
  const { program, exports } = checkSource(SOURCE);
  const compiled = compile(program, { target: "core", exports });
  const bytes = await optimizeModule(compiled.bytes, { isSmall: false });
  const debug = new RunningModule(compiled);
  const release = new RunningModule({ ...compiled, bytes });
  for (const name of ["areas", "words"]) {
    assert.equal(release.call(name, 40), debug.call(name, 40));
    assert.equal(release.heapBytes, 0);
  }
  assert.equal(release.trapOf("outside", 3), debug.trapOf("outside", 3));
  assert.match(String(debug.trapOf("outside", 3)), /^index 24:/);
  assert.ok(bytes.length < compiled.bytes.length);
});

Deno.test("a release is the same bytes each time", async () => {
  const once = async () => {
    const { program, exports } = checkSource(SOURCE);
    return await optimizeModule(compile(program, { target: "core", exports }).bytes, { isSmall: true });
  };
  assert.deepEqual(await once(), await once());
});

/** Segments of a source map: offset in the code, file, line and column, each from 0; null for code of no place. */
function segmentsOf(map: string): { readonly offset: number; readonly place: string | null }[] {
  const { sources, mappings } = JSON.parse(map);
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const last = [0, 0, 0, 0];
  return String(mappings).split(",").map((segment) => {
    let [field, value, shift] = [0, 0, 0];
    for (const character of segment) {
      const digit = digits.indexOf(character);
      value |= (digit & 31) << shift;
      shift += 5;
      if (digit >= 32) continue;
      last[field] = (last[field] ?? 0) + ((value & 1) === 0 ? value >> 1 : -(value >> 1));
      [field, value, shift] = [field + 1, 0, 0];
    }
    const [offset = 0, source = 0, line = 0, column = 0] = last;
    return { offset, place: field === 1 ? null : `${sources[source]}:${line + 1}:${column + 1}` };
  });
}

/** Where the engine says that a call trapped, by a source map. */
function placeOfTrap(
  bytes: Uint8Array<ArrayBuffer>,
  map: string,
  name: string,
  argument: number,
): string | null {
  const running = new RunningModule({ bytes });
  let trace = "";
  try {
    running.call(name, argument);
  } catch (error) {
    trace = error instanceof WebAssembly.RuntimeError ? error.stack ?? "" : "";
  }
  const offset = Number.parseInt(/wasm-function\[\d+\]:0x([0-9a-f]+)/.exec(trace)?.[1] ?? "", 16);
  return segmentsOf(map).findLast((segment) => segment.offset <= offset)?.place ?? null;
}

Deno.test("the source maps of debug build and release lead from a trap's place in the code to its place in the source", async () => {
  const { program, exports } = checkSource(SOURCE);
  const compiled = compile(program, { target: "core", exports });
  const debugMap = compiled.sourceMap("main.wasm");
  assert.equal(placeOfTrap(compiled.bytes, debugMap, "outside", 3), "src/main.lang:24:37");
  for (const isSmall of [false, true]) {
    const { bytes, sourceMap } = await optimizeLocated(compiled, { isSmall }, "main.wasm");
    assert.equal(placeOfTrap(bytes, sourceMap, "outside", 3), "src/main.lang:24:37");
    assert.equal(JSON.parse(sourceMap).file, "main.wasm");
    // What is mapped changes nothing.
    assert.deepEqual(bytes, await optimizeModule(compiled.bytes, { isSmall }));
    const lines = new Set(segmentsOf(sourceMap).map(({ place }) => place?.replace(/:\d+$/, "")));
    for (const line of [14, 20, 24]) assert.ok(lines.has(`src/main.lang:${line}`), `line ${line} is mapped`);
  }
});

Deno.test("every function's places are handed to the optimizer", () => {
  const { program, exports } = checkSource(SOURCE);
  for (const hasGas of [false, true]) {
    const compiled = compile(program, { target: "core", exports, hasGas });
    const module = binaryen.readBinary(compiled.bytes);
    assert.equal(locate(binaryen, module, compiled), 0);
    module.dispose();
  }
});
