/** A copy of the sources in which mutants are made, so that no checked-out file is ever touched. */
import { dirname } from "node:path";
import type { PlannedTest, TestLine } from "./suite_plan.ts";

/** What came of running tests. */
export type Outcome =
  | { readonly kind: "passed" }
  | { readonly kind: "failed" | "hung" | "crashed"; readonly test: string; readonly message: string };

/** How tests are run. */
export interface RunLimits {
  /** Time without a line of output after which the process is taken for a hanging one. */
  readonly limitMilliseconds: (test: { readonly module: string; readonly name: string } | null) => number;
  /** Called with each line. */
  readonly observe?: (line: TestLine) => void;
  /** Goes on after a failure, and runs the tests of a module backward. */
  readonly all?: boolean;
}

/** What a copy needs of the tree. */
const copied = /^(engine|gateways|tests|tools|mod\.ts$|deno\.json$|deno\.lock$|docs|cli)/;

/** One copy. */
export class TreeCopy implements Disposable {
  readonly folder: string;
  readonly #plan: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#plan = `${folder}/plan.json`;
  }

  /** Copies the files. */
  static make(root: string, paths: readonly string[]): TreeCopy {
    const folder = Deno.makeTempDirSync({ prefix: "mutants-" });
    const made = new Set<string>();
    for (const path of [...paths, "deno.lock"]) {
      if (!copied.test(path)) continue;
      const parent = dirname(`${folder}/${path}`);
      if (!made.has(parent)) Deno.mkdirSync(parent, { recursive: true });
      made.add(parent);
      Deno.copyFileSync(`${root}/${path}`, `${folder}/${path}`);
    }
    return new TreeCopy(folder);
  }

  /** Replaces a file, until the returned function is called. */
  write(path: string, text: string): () => void {
    const file = `${this.folder}/${path}`;
    const original = Deno.readTextFileSync(file);
    Deno.writeTextFileSync(file, text);
    return () => Deno.writeTextFileSync(file, original);
  }

  /** Runs tests in a process of their own. */
  async run(plan: readonly PlannedTest[], { limitMilliseconds, observe, all }: RunLimits): Promise<Outcome> {
    Deno.writeTextFileSync(this.#plan, JSON.stringify(plan));
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "--v8-flags=--max-old-space-size=1500",
        `${this.folder}/tests/mutation/suite_process.ts`,
        this.#plan,
        ...(all === true ? ["--all"] : []),
      ],
      cwd: this.folder,
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let last: { module: string; name: string } | null = null;
    let failure: { test: string; message: string } | null = null;
    let isHanging = false;
    const stop = () => {
      isHanging = true;
      child.kill("SIGKILL");
    };
    let timer = setTimeout(stop, limitMilliseconds(null));
    for await (const line of linesOf(child.stdout)) {
      const read = parseLine(line);
      if (read === null) continue;
      clearTimeout(timer);
      timer = setTimeout(stop, limitMilliseconds(read));
      last = { module: read.module, name: read.name };
      if (read.kind === "failure") failure = { test: nameOf(read), message: read.message };
      observe?.(read);
    }
    const status = await child.status;
    clearTimeout(timer);
    const test = last === null ? "(start)" : nameOf(last);
    if (isHanging) return { kind: "hung", test, message: "no end in sight" };
    if (failure !== null) return { kind: "failed", ...failure };
    return status.success
      ? { kind: "passed" }
      : { kind: "crashed", test, message: `exit code ${status.code}` };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

/** How a test is named in results. */
export function nameOf({ module, name }: { readonly module: string; readonly name: string }): string {
  return `${module}: ${name}`;
}

function parseLine(line: string): TestLine | null {
  if (!line.startsWith('{"kind":')) return null;
  try {
    return JSON.parse(line);
  } catch {
    // A test wrote into the line; the next one is whole again.
    return null;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}
