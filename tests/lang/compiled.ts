/**
 * Runs whole programs as WebAssembly, with the answers in the form that {@link interpretedOutput} gives.
 */
import { CodeMap } from "../../lang/host/code_map.ts";
import { trapReportOf } from "../../lang/host/trap_report.ts";
import { externsOf, WasmProgram } from "../../lang/host/wasm_program.ts";
import { RecordingHost } from "../../lang/interpret/interpreter.ts";
import type { TypedProgram } from "../../lang/typed/tree.ts";
import { compile } from "../../lang/compiler/compile.ts";
import { expectValid } from "../../lang/wasm/validity.ts";
import { trapLine } from "./interpreted.ts";

/**
 * What `main` of a program prints, and a last line when it traps; a program that ends well must leave no memory in
 * use.
 */
export function compiledOutput(program: TypedProgram): string {
  const main = program.root?.functions.find((fn) => fn.name === "main" && fn.owner === null);
  if (main === undefined) throw new Error("Cannot run the program: it has no main");
  const compiled = compile(program, { target: "core", exports: [main] });
  expectValid(compiled.bytes);
  const host = new RecordingHost();
  const run = new WasmProgram({ bytes: compiled.bytes, externs: externsOf(program) }).instantiate(host);
  try {
    run.call("main");
  } catch (error) {
    const report = trapReportOf(error, new CodeMap(compiled));
    if (report === null) throw error;
    return `${host.output}${trapLine(report)}\n`;
  }
  return run.heapBytes === 0 ? host.output : `${host.output}! ${run.heapBytes} bytes are left in use\n`;
}
