/** Errors of `lang` itself, forced: a code with a page, a report in a file, and no trace on the terminal. */
import { match, ok, strictEqual, throws } from "node:assert/strict";
import { explain, renderExplanation } from "../../../lang/commands/explain.ts";
import { Workspace } from "../../../lang/commands/workspace.ts";
import { InternalError } from "../../../lang/diagnostics/internal_error.ts";
import { WasmProgram } from "../../../lang/host/wasm_program.ts";
import { MemoryFiles } from "../../../lang/package/package_files.ts";
import { reportInternalError } from "./internal_report.ts";
import { runProgram } from "../program.ts";
import { Terminal } from "./terminal.ts";

function capture() {
  let text = "";
  const stream = {
    writeSync: (bytes: Uint8Array) => {
      text += new TextDecoder().decode(bytes);
      return bytes.length;
    },
    isTerminal: () => false,
  };
  return { stream, text: () => text };
}

Deno.test("an internal error of a command ends with its code, names a report and shows no trace", async () => {
  const errors = capture();
  const broken = {
    writeSync: (): number => {
      throw new TypeError("forced by a test");
    },
    isTerminal: () => false,
  };
  const code = await runProgram(["explain", "TY0001"], new Terminal(broken, errors.stream));
  strictEqual(code, 1);
  const said = errors.text();
  match(
    said,
    /^error\[IC0004\]: a bug in lang, not in your program\n {2}forced by a test\nhint: Please report it and send \S+; `lang explain IC0004` says more\.\n$/,
  );
  const path = /send (\S+);/.exec(said)?.[1] ?? "";
  const report = await Deno.readTextFile(path);
  match(
    report,
    /^lang \S+, Deno \S+, .*\ncommand: lang explain TY0001\ncode: IC0004\nTypeError: forced by a test\n {4}at /,
  );
  await Deno.remove(path);
});

Deno.test("what cannot happen while checking is IC0001, with a module that is none IC0003", () => {
  /** Files of which one is no text. */
  class BrokenFiles extends MemoryFiles {
    override read(path: string): string | undefined {
      return path === "project.toml" ? super.read(path) : JSON.parse("[1]");
    }
  }
  const files = new BrokenFiles([["project.toml", 'name = "p"\n'], ["src/main.lang", "fn main() {}\n"]]);
  throws(() => new Workspace(files).check(), (error: unknown) => {
    ok(error instanceof InternalError);
    strictEqual(error.code, "IC0001");
    return true;
  });
  throws(() => new WasmProgram({ bytes: new Uint8Array(8), externs: [] }), {
    name: "InternalError",
    code: "IC0003",
  });
});

Deno.test("every internal code has a page that says what to send", () => {
  for (const code of ["IC0001", "IC0002", "IC0003", "IC0004"]) {
    const text = renderExplanation(explain(code));
    match(text, new RegExp(`^${code}: Internal error .*Please\\s+report\\s+it`, "s"));
    ok(!text.includes("For example"));
  }
  const errors = capture();
  reportInternalError(
    new Terminal(errors.stream, errors.stream),
    [],
    new InternalError("compiling", "only a text\nof two lines"),
  );
  match(errors.text(), /^error\[IC0002\]: .*\n {2}only a text\nhint: /);
  Deno.removeSync(/send (\S+);/.exec(errors.text())?.[1] ?? "");
});

Deno.test("types that grow by way of an interface are the program's error, told when it is compiled", async () => {
  const path = Deno.makeTempFileSync({ suffix: ".lang" });
  Deno.writeTextFileSync(
    path,
    `interface Area { fn area(self: Self) -> Int }
type Box[T] = { inner: T }
fn Box.area[T: Area](self: Box[T]) -> Int { total(Box { inner: self }) }
fn total[T: Area](x: T) -> Int { x.area() }
type Dot = { n: Int }
fn Dot.area(self: Dot) -> Int { self.n }
fn main() -> Int { total(Box { inner: Dot { n: 1 } }) }
`,
  );
  const errors = capture();
  const code = await runProgram(["run", path], new Terminal(capture().stream, errors.stream));
  strictEqual(code, 1);
  strictEqual(
    errors.text(),
    "error[TY0048]: Cannot compile `Box`: it is needed for larger and larger types, without end\n" +
      "hint: `lang explain TY0048` says more.\n",
  );
  Deno.removeSync(path);
});
