/** The file form of a golden case. */
import assert from "node:assert/strict";
import { formatSnapshot, parseSnapshot } from "./snapshot.ts";

Deno.test("formatSnapshot() writes what parseSnapshot() reads", () => {
  const snapshot = {
    program: "fn main() {\n}\n",
    expected: new Map([["report", "\na\n==== b\n"], ["fix 0", ""]]),
  };
  const text = formatSnapshot(snapshot);
  assert.equal(text, "fn main() {\n}\n=== report\n\na\n==== b\n=== fix 0\n");
  assert.deepEqual(parseSnapshot(text), snapshot);
  assert.deepEqual(parseSnapshot("fn main() {\n}\n"), { program: "fn main() {\n}\n", expected: new Map() });
});

Deno.test("formatSnapshot() refuses a part that could not be read back", () => {
  for (const part of ["no line break", "a\n=== b\nc\n"]) {
    assert.throws(
      () => formatSnapshot({ program: "", expected: new Map([["x", part], ["y", "z\n"]]) }),
      /every part ends/,
    );
  }
});
