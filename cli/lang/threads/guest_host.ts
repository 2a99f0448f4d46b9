/**
 * The environment of a program that somebody else has started through this process, as the agent does: the same at each
 * run, and no larger than a folder.
 *
 * It has no environment, its clock begins at zero and moves on by a millisecond when it is asked, and random values
 * come from a seed that is given. Files are those of one folder, links followed only within it. What it writes to its
 * output is bounded.
 */
import type { Host, HostCall, HostValue } from "../../../lang/interpret/host.ts";
import { outputTrap } from "../../../lang/host/wasm_trap.ts";
import { isPlainPath } from "../../../lang/package/plain_path.ts";
import { isInside, realPathOf } from "../shared/confined_path.ts";
import { messageOf } from "../shared/disk_files.ts";

/** What such a program is given; plain data. */
export interface GuestEnvironment {
  /** Folder of its files; null: none. */
  readonly folder: string | null;
  /** Whether files that it writes are kept in memory, for the rest of its run. */
  readonly isDry: boolean;
  readonly stdin: string;
  readonly seed: number;
  readonly maximumOutputBytes: number;
}

/** Called with what the program writes. */
export type WriteOutput = (stream: "stdout" | "stderr", bytes: Uint8Array) => void;

const OUTSIDE = "it is outside of the package";

/** Answers what such a program asks. */
export class GuestHost implements Host {
  readonly #environment: GuestEnvironment;
  readonly #write: WriteOutput;
  readonly #written = new Map<string, Uint8Array>();
  #input: Uint8Array;
  #outputBytes = 0;
  #milliseconds = 0;

  constructor(environment: GuestEnvironment, write: WriteOutput) {
    this.#environment = environment;
    this.#write = write;
    this.#input = new TextEncoder().encode(environment.stdin);
  }

  /** @inheritdoc */
  call({ module, name, args }: HostCall): HostValue {
    const [first, second] = args;
    switch (`${module.replace(/@.*$/, "")} ${name}`) {
      case "lang:host/log write":
        return this.#output("stdout", new TextEncoder().encode(`${String(first)}\n`));
      case "lang:host/log write_error":
        return this.#output("stderr", new TextEncoder().encode(`${String(first)}\n`));
      case "lang:host/process write_output":
        return first instanceof Uint8Array ? this.#output("stdout", first) : null;
      case "lang:host/process read_input": {
        const input = this.#input;
        this.#input = new Uint8Array();
        return input;
      }
      case "lang:host/process environment_variable":
        return refused("there is no such variable");
      case "lang:host/process read_whole_file":
        return answered(() => this.#readFile(String(first)));
      case "lang:host/process write_whole_file":
        return answered(() =>
          this.#writeFile(String(first), second instanceof Uint8Array ? second : new Uint8Array())
        );
      case "lang:host/time now_milliseconds":
      case "lang:host/time elapsed_milliseconds":
        return this.#milliseconds++;
      case "lang:host/random seed":
        return BigInt(this.#environment.seed);
      default:
        throw new Error(`Cannot answer the program: this host has no ${module} ${name}`);
    }
  }

  #output(stream: "stdout" | "stderr", bytes: Uint8Array): null {
    const left = this.#environment.maximumOutputBytes - this.#outputBytes;
    this.#outputBytes += bytes.length;
    if (left > 0) this.#write(stream, bytes.subarray(0, left));
    if (bytes.length <= left) return null;
    throw outputTrap(this.#environment.maximumOutputBytes);
  }

  #readFile(path: string): Uint8Array {
    const full = this.#fullPath(path);
    const written = this.#written.get(full);
    if (written !== undefined) return written;
    const real = realPathOf(full);
    if (real === null) throw new Error("there is no such file or folder");
    this.#requireFile(real);
    return Deno.readFileSync(real);
  }

  #writeFile(path: string, content: Uint8Array): Uint8Array {
    const full = this.#fullPath(path);
    const folder = realPathOf(full.slice(0, full.lastIndexOf("/")));
    if (folder === null) throw new Error("there is no such file or folder");
    this.#requireInside(folder);
    const real = realPathOf(full);
    if (real !== null) this.#requireFile(real);
    else if (isLink(full)) throw new Error(OUTSIDE);
    if (this.#environment.isDry) this.#written.set(full, content.slice());
    else Deno.writeFileSync(real ?? full, content);
    return new Uint8Array();
  }

  #fullPath(path: string): string {
    const { folder } = this.#environment;
    const plain = path.replace(/^(\.\/)+/, "");
    if (folder === null || !isPlainPath(plain)) throw new Error(OUTSIDE);
    return `${folder}/${plain}`;
  }

  /** A plain file inside: a pipe would wait for its other side. */
  #requireFile(real: string): void {
    this.#requireInside(real);
    if (!Deno.lstatSync(real).isFile) throw new Error("it is no file");
  }

  #requireInside(real: string): void {
    const { folder } = this.#environment;
    const root = folder === null ? null : realPathOf(folder);
    if (root === null || !isInside(root, real)) throw new Error(OUTSIDE);
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    // There is nothing at the path.
    return false;
  }
}

/** 1 and the answer, or 0 and why there is none. */
function answered(work: () => Uint8Array): Uint8Array {
  try {
    const bytes = work();
    const whole = new Uint8Array(bytes.length + 1);
    whole[0] = 1;
    whole.set(bytes, 1);
    return whole;
  } catch (error) {
    return refused(messageOf(error));
  }
}

function refused(reason: string): Uint8Array {
  return new TextEncoder().encode(`\0${reason}`);
}
