/**
 * Releases: what Binaryen makes of our modules is right, small, and the same each time.
 */
import assert from "node:assert/strict";
import { compile } from "./compile.ts";
import { optimiseModule } from "./release.ts";
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

pub fn outside(n: Int) -> Int { [1, 2, 3][n] }
`;

Deno.test("a release gives the same answers, leaves the heap as it was, and traps where the debug build traps", async () => {
  const { program, exports } = checkSource(SOURCE);
  const compiled = compile(program, { target: "core", exports });
  const bytes = await optimiseModule(compiled.bytes, { isSmall: false });
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
    return await optimiseModule(compile(program, { target: "core", exports }).bytes, { isSmall: true });
  };
  assert.deepEqual(await once(), await once());
});

Deno.test("Binaryen finds modules valid", async () => {
  const { default: binaryen } = await import("binaryen");
  const { program, exports } = checkSource(SOURCE);
  for (const hasGas of [false, true]) {
    const { bytes } = compile(program, { target: "core", exports, hasGas });
    const module = binaryen.readBinary(bytes);
    module.setFeatures(binaryen.Features.All);
    assert.equal(module.validate(), 1);
    module.dispose();
  }
});
