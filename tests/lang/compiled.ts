/**
 * Runs whole programs as WebAssembly, with the answers in the form that {@link interpretedOutput} gives.
 */
import { WasmTrap } from "../../lang/host/trap_report.ts";
import { WasmProgram } from "../../lang/host/wasm_program.ts";
import { RecordingHost } from "../../lang/interpret/interpreter.ts";
import type { TypedProgram } from "../../lang/typed/tree.ts";
import { compile } from "../../lang/wasm/compile.ts";

/** What `main` of a program prints, and a last line when it traps; a program that ends well must leave no memory in use. */
export function compiledOutput(program: TypedProgram): string {
  const main = program.root?.functions.find((fn) => fn.name === "main" && fn.owner === null);
  if (main === undefined) throw new Error("Cannot run the program: it has no main");
  const { bytes } = compile(program, { target: "core", exports: [main] });
  const host = new RecordingHost();
  const run = new WasmProgram(bytes, program).instantiate(host);
  try {
    run.call("main");
  } catch (error) {
    if (!(error instanceof WasmTrap)) throw error;
    return `${host.output}${trapLine(error)}\n`;
  }
  return run.heapBytes === 0 ? host.output : `${host.output}! ${run.heapBytes} bytes are left in use\n`;
}

function trapLine({ report }: WasmTrap): string {
  const { kind, place, sides, message } = report;
  const where = place === null
    ? ""
    : place.file === "src/main.lang"
    ? `at ${place.line}:${place.column}`
    : `in ${place.file.replace(":", ".")}`;
  const more = sides !== null ? `: ${sides.left} and ${sides.right}` : kind === "panic" ? `: ${message}` : "";
  return `! ${kind} ${where}${more}`;
}
