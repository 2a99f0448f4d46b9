/**
 * A golden case in one file, `NAME.snap`: a program, then what is expected of it, each part under a line `=== part`.
 *
 * The program is written by hand; `deno task golden` writes the parts.
 */
import assert from "node:assert/strict";

/** A program and what is expected of it, by the name of the part. */
export interface Snapshot {
  readonly program: string;
  readonly expected: ReadonlyMap<string, string>;
}

const HEADING = /^=== (.+)\n/m;

/** The snapshot that a file holds. */
export function parseSnapshot(text: string): Snapshot {
  const [program = "", ...parts] = text.split(HEADING);
  const expected = new Map<string, string>();
  for (let index = 0; index < parts.length; index += 2) {
    expected.set(parts[index] ?? "", parts[index + 1] ?? "");
  }
  return { program, expected };
}

/** The file of a snapshot. */
export function formatSnapshot(snapshot: Snapshot): string {
  const text = snapshot.program +
    [...snapshot.expected].map(([name, part]) => `=== ${name}\n${part}`).join("");
  assert.deepEqual(
    parseSnapshot(text),
    snapshot,
    "every part ends with a line break and has no line `=== …`",
  );
  return text;
}

/** A folder of snapshots. */
export class SnapshotFolder {
  readonly #folder: URL;
  /** The cases, sorted. */
  readonly names: readonly string[];

  constructor(folder: URL) {
    this.#folder = folder;
    this.names = [...Deno.readDirSync(folder)].map(({ name }) => name.replace(/\.snap$/, "")).sort();
  }

  /** The text of a case's file. */
  read(name: string): string {
    return Deno.readTextFileSync(this.#file(name));
  }

  /** The program of a case. */
  program(name: string): string {
    return parseSnapshot(this.read(name)).program;
  }

  /** Replaces the text of a case's file. */
  write(name: string, text: string): void {
    Deno.writeTextFileSync(this.#file(name), text);
  }

  #file(name: string): URL {
    return new URL(`${name}.snap`, this.#folder);
  }
}
