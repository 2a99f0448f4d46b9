/**
 * `\copy` and `\load`: files of this machine to and from tables, with the database's COPY behind both.
 *
 * `\load` takes a JSON array of objects, or one object a line; members are matched to columns by name, exactly,
 * without case, or with everything but letters and digits as `_` (`Production Budget` is `production_budget`). Each
 * file is one statement: all of it is loaded or nothing.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { closest } from "../../engine/base/suggest.ts";
import { isRawJson, parseExactJson } from "../../gateways/shared/json/json_parse.ts";
import { formatBytes, Progress } from "./progress.ts";
import type { StatementRunner } from "./statement_runner.ts";
import { linesOf } from "./terminal.ts";

/** What `\copy` says. */
export interface CopyCommand {
  /** A table with or without columns, or a query in parentheses. */
  readonly target: string;
  readonly direction: "from" | "to";
  /** null: standard input or output. */
  readonly path: string | null;
  /** What follows, as COPY takes it. */
  readonly options: string;
}

const CHUNK_BYTES = 256 * 1024;

/** Reads what follows `\copy`. Raises 42601. */
export function parseCopyCommand(text: string): CopyCommand {
  const match =
    /^\s*(\((?:[^()]|\([^()]*\))*\)|(?:"(?:[^"]|"")*"|[^\s("])+\s*(?:\([^)]*\))?)\s+(from|to)\s+('(?:[^']|'')*'|\S+)\s*([\s\S]*?);?\s*$/i
      .exec(text);
  if (match === null) {
    throw new DatabaseError(SQLSTATE.syntaxError, "\\copy takes a table, FROM or TO, and a file", {
      hint: "For example: \\copy t FROM 'file.csv' CSV HEADER",
    });
  }
  const [, target = "", direction = "", file = "", options = ""] = match;
  const isStandard = /^p?std(in|out)$/i.test(file);
  return {
    target: target.trim(),
    direction: direction.toLowerCase() === "from" ? "from" : "to",
    path: isStandard ? null : unquoted(file),
    options: options.trim(),
  };
}

/** Carries `\copy` out. */
export async function runCopy(
  runner: StatementRunner,
  text: string,
  standardInput: () => AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): Promise<void> {
  const { target, direction, path, options } = parseCopyCommand(text);
  const { client, terminal } = runner;
  if (direction === "from") {
    const statement = `COPY ${target} FROM STDIN ${options}`.trimEnd();
    const source = path === null ? standardInput() : fileChunks(runner, path);
    runner.print(await client.copyIn(statement, source));
    return;
  }
  const statement = `COPY ${target} TO STDOUT ${options}`.trimEnd();
  if (path === null) {
    await client.copyOut(statement, (bytes) => terminal.outBytes(bytes));
    return;
  }
  using file = await onFile(
    path,
    () => Deno.open(expanded(path), { write: true, create: true, truncate: true }),
  );
  const result = await client.copyOut(statement, (bytes) => {
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
  });
  runner.print(result);
}

/** Reads what follows `\load`, and carries it out. */
export async function runLoad(runner: StatementRunner, text: string): Promise<void> {
  const match = /^\s*((?:"(?:[^"]|"")*"|[^\s"])+)\s+from\s+('(?:[^']|'')*'|\S+?)\s*;?\s*$/i.exec(text);
  if (match === null) {
    throw new DatabaseError(SQLSTATE.syntaxError, "\\load takes a table, FROM, and a file of JSON objects", {
      hint: "For example: \\load t FROM 'file.json'",
    });
  }
  const table = match[1] ?? "", path = unquoted(match[2] ?? "");
  const description = await runner.client.execute(`DESCRIBE ${table}`);
  const columns = description.rows().map((row) => String(row.name));
  const mapping = new ColumnMapping(columns, path);
  const objects = await readObjects(path);
  for (const object of objects) mapping.add(object);
  const names = mapping.columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(", ");
  const progress = new Progress(
    runner.terminal,
    (done) => `${done} of ${objects.length} rows`,
  );
  try {
    const result = await runner.client.copyIn(
      `COPY ${table} (${names}) FROM STDIN`,
      copyLines(objects, mapping, progress),
    );
    runner.print(result);
  } finally {
    progress.end();
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Which member of the objects goes into which column. */
class ColumnMapping {
  readonly #known: readonly string[];
  readonly #path: string;
  readonly #members = new Map<string, number>();
  readonly columns: string[] = [];

  constructor(known: readonly string[], path: string) {
    this.#known = known;
    this.#path = path;
  }

  /** Sees to it that every member of the object has a column. Raises 42703. */
  add(object: JsonObject): void {
    for (const member of Object.keys(object)) {
      if (this.#members.has(member)) continue;
      const column = this.#find(member);
      let index = this.columns.indexOf(column);
      if (index < 0) index = this.columns.push(column) - 1;
      this.#members.set(member, index);
    }
  }

  /** The values of an object in the order of the columns. */
  values(object: JsonObject): unknown[] {
    const values = new Array<unknown>(this.columns.length).fill(null);
    for (const [member, value] of Object.entries(object)) {
      const index = this.#members.get(member);
      if (index !== undefined) values[index] = value;
    }
    return values;
  }

  #find(member: string): string {
    const lower = member.toLowerCase();
    const plain = lower.replace(/[^\p{Letter}\p{Number}]+/gu, "_").replace(/^_|_$/g, "");
    const found = this.#known.find((column) => column === member) ??
      this.#known.find((column) => column.toLowerCase() === lower) ??
      this.#known.find((column) => column.toLowerCase() === plain);
    if (found !== undefined) return found;
    const near = closest(plain, this.#known);
    throw new DatabaseError(
      SQLSTATE.undefinedColumn,
      `the objects of "${this.#path}" have a member "${member}", but the table has no such column`,
      { hint: near === undefined ? `Its columns are ${this.#known.join(", ")}.` : `Did you mean "${near}"?` },
    );
  }
}

async function readObjects(path: string): Promise<JsonObject[]> {
  const text = (await onFile(path, () => Deno.readTextFile(expanded(path)))).replace(/^\ufeff/, "");
  const parse = (source: string, place: string): unknown => {
    try {
      return parseExactJson(source);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new DatabaseError(
        SQLSTATE.invalidTextRepresentation,
        `${place} is not valid JSON: ${error.message}`,
      );
    }
  };
  const isArray = text.trimStart().startsWith("[");
  const items = isArray
    ? parse(text, `"${path}"`) as unknown[]
    : text.split("\n").flatMap((line, index) =>
      line.trim() === "" ? [] : [parse(line, `${path}:${index + 1}`)]
    );
  for (const [index, item] of items.entries()) {
    if (typeof item === "object" && item !== null && !Array.isArray(item) && !isRawJson(item)) continue;
    throw new DatabaseError(
      SQLSTATE.invalidTextRepresentation,
      `item ${index + 1} of "${path}" is no object`,
    );
  }
  return items as JsonObject[];
}

function* copyLines(
  objects: readonly JsonObject[],
  mapping: ColumnMapping,
  progress: Progress,
): Generator<string> {
  let chunk = "";
  for (const [index, object] of objects.entries()) {
    chunk += mapping.values(object).map(copyText).join("\t") + "\n";
    if (chunk.length < CHUNK_BYTES) continue;
    yield chunk;
    chunk = "";
    progress.update(index + 1);
  }
  if (chunk !== "") yield chunk;
}

/** A JSON value in COPY's text format. */
export function copyText(value: unknown): string {
  if (value === null || value === undefined) return "\\N";
  const text = isRawJson(value)
    ? value.rawJSON
    : typeof value === "object"
    ? JSON.stringify(value)
    : String(value);
  return text.replace(/[\\\n\r\t]/g, (character) => {
    switch (character) {
      case "\n":
        return "\\n";
      case "\r":
        return "\\r";
      case "\t":
        return "\\t";
      default:
        return "\\\\";
    }
  });
}

async function* fileChunks(runner: StatementRunner, path: string): AsyncGenerator<Uint8Array> {
  using file = await onFile(path, () => Deno.open(expanded(path)));
  const { size } = await file.stat();
  const progress = new Progress(runner.terminal, (done) => {
    const share = size === 0 ? 100 : Math.floor(done / size * 100);
    return `${formatBytes(done)} of ${formatBytes(size)} (${share} %)`;
  });
  let done = 0;
  try {
    for (;;) {
      const buffer = new Uint8Array(CHUNK_BYTES);
      const count = await file.read(buffer);
      if (count === null) return;
      done += count;
      yield buffer.subarray(0, count);
      progress.update(done);
    }
  } finally {
    progress.end();
  }
}

/** Files of statements, for `\i`. */
export async function fileLines(path: string): Promise<AsyncIterable<string>> {
  const file = await onFile(path, () => Deno.open(expanded(path)));
  return linesOf(file.readable);
}

async function onFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound
      ? "there is no such file"
      : error instanceof Deno.errors.PermissionDenied
      ? "it may not be opened"
      : error instanceof Deno.errors.IsADirectory
      ? "it is a directory"
      : error instanceof Error
      ? error.message
      : String(error);
    throw new DatabaseError(SQLSTATE.ioError, `Cannot open "${path}": ${reason}`, { cause: error });
  }
}

function unquoted(text: string): string {
  return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text.replace(/;$/, "");
}

function expanded(path: string): string {
  return path.startsWith("~/") ? `${Deno.env.get("HOME") ?? "~"}${path.slice(1)}` : path;
}
