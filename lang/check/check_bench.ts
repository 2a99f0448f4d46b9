/**
 * How long parsing and checking take: a generated package of 40 modules and about 12 000 lines, from nothing and
 * after one changed body.
 *
 * Run with `deno run -A --no-check lang/check/check_bench.ts [ROUNDS]`. The process is warm after two rounds; the
 * medians of the others are printed.
 */
import { SourceFile } from "../source/source_file.ts";
import { parse } from "../syntax/parser.ts";
import { PackageAnalyzer } from "./package_analysis.ts";

/** One of the module's nine groups of functions. */
function group(module: number, index: number): string {
  const other = module > 0
    ? `  let other = part${module - 1}.make${
      module - 1
    }(c.to_float())\n  if other.x > 3.0 and c != 0 { return other.count }\n`
    : "  if c > 0 { return c }\n";
  return `/// Moves the state ${index} steps on.
pub fn State${module}.move${index}(self: inout State${module}, dx: Float, limit: Int) -> Int {
  var moved = 0
  for i in 0..limit {
    if self.x + dx > 320.0 or self.x < -10.0 {
      self.phase = Done${module}(self.count + i)
      break
    }
    self.x += dx * 0.5
    self.count += 1
    moved += i
  }
  match self.phase {
    Idle${module} => self.phase = Moving${module}(dx: dx, dy: 0.0)
    Moving${module}(dx, dy) if dx > 2.0 => {
      self.x += dx
      self.y += dy
    }
    Moving${module}(_, dy) => self.y += dy
    Done${module}(score) => self.names.push("score {score}: {self.count}")
  }
  let far = self.names.filter(fn(name) { name.len() > limit }).map(fn(name) { name.len() })
  let total = far.fold(0, fn(sum, n) { sum + n })
  moved + total + helper${index}(self.count, total)
}

fn helper${index}(a: Int, b: Int) -> Int {
  let c = a * 2 + b
${other}  c - 1
}

`;
}

/** A package of so many modules of about 320 lines, each using the one before it. */
export function generatedPackage(modules: number): Map<string, string> {
  const files = new Map<string, string>();
  for (let module = 0; module < modules; module++) {
    const use = module > 0 ? `use part${module - 1}\n\n` : "";
    const types = `/// The state of part ${module}.
pub type State${module} = {
  x: Float,
  y: Float,
  count: Int,
  names: List[String],
  phase: Phase${module},
}

pub type Phase${module} =
  | Idle${module}
  | Moving${module}(dx: Float, dy: Float)
  | Done${module}(score: Int)

/// Makes one.
pub fn make${module}(x: Float) -> State${module} {
  State${module} { x: x, y: 0.0, count: 0, names: [], phase: Idle${module} }
}

`;
    const groups = Array.from({ length: 9 }, (_, index) => group(module, index));
    files.set(`src/part${module}.lang`, use + types + groups.join(""));
  }
  return files;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

function main(rounds: number): void {
  const files = generatedPackage(40);
  const lines = [...files.values()].reduce((sum, text) => sum + text.split("\n").length, 0);
  const bytes = [...files.values()].reduce((sum, text) => sum + text.length, 0);
  const times: Record<"parse" | "analyze" | "change", number[]> = { parse: [], analyze: [], change: [] };
  const measure = (work: () => unknown): number => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  for (let round = 0; round < rounds; round++) {
    const analyzer = new PackageAnalyzer();
    const parsing = measure(() => {
      for (const [path, text] of files) parse(new SourceFile(path, text));
    });
    const analyzing = measure(() => analyzer.analyze(files));
    const changed = new Map(files);
    changed.set(
      "src/part20.lang",
      (files.get("src/part20.lang") ?? "").replace("var moved = 0", "var moved = 1"),
    );
    const changing = measure(() => analyzer.analyze(changed));
    if (round < 2) continue;
    times.parse.push(parsing);
    times.analyze.push(analyzing);
    times.change.push(changing);
  }
  console.log(
    `${lines} lines, ${(bytes / 1024).toFixed(0)} KiB, 40 modules; milliseconds, median of ${rounds - 2}`,
  );
  for (const [name, values] of Object.entries(times)) {
    console.log(`  ${name.padEnd(8)} ${median(values).toFixed(1)}`);
  }
}

if (import.meta.main) main(Number(Deno.args[0] ?? 12));
