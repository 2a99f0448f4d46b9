/** Signatures are written as the language has them: with bodies behind them they parse, and give the same again. */
import { strict as assert } from "node:assert";
import { PackageAnalyzer } from "../check/package_analysis.ts";
import {
  functionSignature,
  interfaceSignature,
  placedFunctionSignature,
  typeSignature,
} from "./signature.ts";

const SOURCE = `use web.audio
use web.canvas

pub type Pair[A, B] = { first: A, second: B }

pub type Shape = Circle(radius: Float) | Box(Float, Float) | Nothing

pub interface Area {
  fn area(self: Self, scale: Float) -> Float uses Draw, Log
}

pub fn Shape.grow[T: Ord + Show](self: inout Shape, by: List[T], f: fn(inout Int) -> Bool) -> Option[(T, Int)] uses Draw, Audio {
  canvas.clear(Color.black)
  audio.beep(440.0)
  None
}
`;

Deno.test("functionSignature(), typeSignature() and interfaceSignature() write what was declared", () => {
  const { program, diagnostics } = new PackageAnalyzer().analyze(new Map([["src/main.lang", SOURCE]]));
  assert.deepEqual(diagnostics.filter(({ severity }) => severity === "error"), []);
  const root = program?.root;
  const [grow] = root?.functions ?? [];
  assert.ok(root && grow);
  const signature =
    "fn Shape.grow[T: Ord + Show](self: inout Shape, by: List[T], f: fn(inout Int) -> Bool) -> Option[(T, Int)] uses Draw, Audio";
  assert.equal(functionSignature(grow), signature);
  assert.deepEqual(
    placedFunctionSignature(grow).parameters.map(({ start, end }) => signature.slice(start, end)),
    ["self: inout Shape", "by: List[T]", "f: fn(inout Int) -> Bool"],
  );
  assert.deepEqual(root.types.map(typeSignature), [
    "type Pair[A, B] = { first: A, second: B }",
    "type Shape = Circle(radius: Float) | Box(Float, Float) | Nothing",
  ]);
  assert.deepEqual(root.interfaces.map(interfaceSignature), [
    "interface Area { fn area(self: Self, scale: Float) -> Float uses Draw, Log }",
  ]);
});
