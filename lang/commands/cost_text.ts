/** What functions cost, as a table for people. */
import type { CostPosition, CostReport, FunctionCost } from "./cost.ts";
import type { Style } from "../diagnostics/style.ts";
import { sizeText } from "./size_text.ts";

/** The table: one function in a line, with what it says of bounds and copies below. */
export function renderCost({ functions, heapHighWater, tests }: CostReport, style: Style): string {
  const width = Math.max(8, ...functions.map((each) => each.name.length));
  const columns = ["calls", "least", "median", "most"];
  const lines = [
    style("strong", `${"function".padEnd(width)}${columns.map((each) => each.padStart(11)).join("")}  bound`),
    ...functions.flatMap((each) => functionLines(each, width, style)),
    "",
    `gas as measured in ${tests} tests, from call to return; most memory in use: ${sizeText(heapHighWater)}`,
  ];
  return `${lines.join("\n")}\n`;
}

function functionLines(each: FunctionCost, width: number, style: Style): string[] {
  const { measured, bound, unbounded, copies } = each;
  const numbers = measured === null
    ? ["", "", "", ""]
    : [measured.calls, measured.minimum, measured.median, measured.maximum].map(String);
  const text = bound ??
    `${style("warning", "unbounded")}: ${unbounded?.reason ?? ""}${
      unbounded?.place ? ` (${placeText(unbounded.place)})` : ""
    }`;
  return [
    `${each.name.padEnd(width)}${numbers.map((number) => number.padStart(11)).join("")}  ${text}`,
    ...copies.map((place) => `${" ".repeat(width + 46)}copies what is shared (${placeText(place)})`),
  ];
}

function placeText({ file, line, column }: CostPosition): string {
  return `${file}:${line}:${column}`;
}
