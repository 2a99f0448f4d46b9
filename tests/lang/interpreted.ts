/**
 * Runs whole programs in the interpreter, for tests that compare its answers with files or with compiled code.
 */
import { PackageAnalyzer } from "../../lang/check/package_analysis.ts";
import type { Diagnostic } from "../../lang/diagnostics/diagnostic.ts";
import { trapReportOf } from "../../lang/host/trap_report.ts";
import { Interpreter, RecordingHost } from "../../lang/interpret/interpreter.ts";
import { ListValue } from "../../lang/interpret/value.ts";
import type { TrapReport } from "../../lang/host/wasm_trap.ts";
import type { TypedProgram } from "../../lang/typed/tree.ts";

/**
 * Checks a program of one file, with an analyzer that may have seen others; throws with all errors when there are
 * any.
 */
export function checkedProgram(text: string, analyzer = new PackageAnalyzer()): TypedProgram {
  const { program, diagnostics } = analyzer.analyze(new Map([["src/main.lang", text]]));
  const errors = diagnostics.filter((each) => each.severity === "error");
  if (program === null || errors.length > 0) {
    throw new Error(`Cannot run the program:\n${errors.map(told).join("\n")}`);
  }
  return program;
}

/** A diagnostic on one line. */
export function told({ file, span, code, message }: Diagnostic): string {
  const { line, column } = file.positionOf(span);
  return `${file.path}:${line}:${column} ${code} ${message}`;
}

/**
 * What `main` of a program prints. When the program traps, a last line says why and where, in the program itself by
 * line and column, in the library by the call and the module: `! panic at 3:5 in std.list: …`.
 */
export function interpretedOutput(program: TypedProgram): string {
  const main = program.root?.functions.find((fn) => fn.name === "main" && fn.owner === null);
  if (main === undefined) throw new Error("Cannot run the program: it has no main");
  const host = new RecordingHost();
  try {
    new Interpreter(program, host).call(main, main.parameters.map(() => new ListValue([])));
  } catch (error) {
    const report = trapReportOf(error);
    if (report === null) throw error;
    return `${host.output}${trapLine(report)}\n`;
  }
  return host.output;
}

/** The line that tells of a trap. */
export function trapLine({ kind, message, place, library, sides }: TrapReport): string {
  const where = [
    ...(place === null ? [] : [`at ${place.line}:${place.column}`]),
    ...(library === null ? [] : [`in ${library.file.replace(":", ".")}`]),
  ];
  const hasMessage = kind === "panic" || kind === "index";
  const more = sides !== null ? `: ${sides.left} and ${sides.right}` : hasMessage ? `: ${message}` : "";
  return `! ${[kind, ...where].join(" ")}${more}`;
}
