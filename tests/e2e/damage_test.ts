/**
 * One flipped bit in a file of a database, found by the real server: it says in one line which file is damaged and at
 * which offset, and ends with 1; or it starts, and the statement that meets the damage fails with XX001 while no
 * answer is ever wrong.
 *
 * The database is made once, with a log of several entries, a manifest, the state, segments, indexes and deletion
 * vectors. In each file the last byte or one at the beginning, and one in between are tried.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { run } from "../../tools/project.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import { connectPg, type SqlClient } from "../support/clients.ts";
import { seededRandom } from "../support/random.ts";

const rows = 20_000;
/** Reads all there is: every column, and an index from its beginning to its end. */
const questions = [
  "SELECT count(*) AS n, sum(id) AS id, sum(length(body)) AS body, sum(amount) AS amount FROM wide",
  "SELECT count(*) AS n, sum(id) AS id FROM wide WHERE amount BETWEEN 100 AND 140",
  "SELECT id, body, amount FROM wide WHERE id = 777",
  "SELECT count(*) AS n, max(what) AS what FROM note",
];

async function build(directory: string, dbd: string): Promise<void> {
  const server = await startDbd({ binary: dbd, directory });
  const client = await connectPg(server);
  await client.query("CREATE TABLE wide (id INT PRIMARY KEY, body TEXT NOT NULL, amount INT)");
  await client.query("CREATE INDEX wide_amount ON wide (amount)");
  await client.query("CREATE TABLE note (what TEXT)");
  await client.query(
    `INSERT INTO wide SELECT n, md5(n::text), n % 1000 FROM generate_series(1, ${rows}) AS n`,
  );
  await client.query("CHECKPOINT");
  await client.query("DELETE FROM wide WHERE id % 50 = 0");
  await client.query("CHECKPOINT");
  for (let n = 0; n < 20; n++) await client.query("INSERT INTO note VALUES ($1)", [`note ${n}`]);
  await client.close();
  await server.stop();
}

async function filesBelow(directory: string, prefix = ""): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${directory}/${prefix}`)) {
    const path = prefix === "" ? name : `${prefix}/${name}`;
    if (isDirectory) files.push(...await filesBelow(directory, path));
    else if (name !== "LOCK") files.push(path);
  }
  return files.sort();
}

async function copyFiles(from: string, to: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    await Deno.mkdir(`${to}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.copyFile(`${from}/${file}`, `${to}/${file}`);
  }
}

async function flip(path: string, position: number, bit: number): Promise<void> {
  const bytes = await Deno.readFile(path);
  bytes[position] = (bytes[position] ?? 0) ^ (1 << bit);
  await Deno.writeFile(path, bytes);
}

type Answers = readonly (readonly Record<string, unknown>[])[];

async function ask(client: SqlClient, file: string, right: Answers | null): Promise<Answers> {
  const answers = [];
  for (const [index, question] of questions.entries()) {
    try {
      answers.push(await client.query(question));
    } catch (error) {
      ok(right !== null, String(error));
      const { code, message } = error as { readonly code?: string; readonly message: string };
      strictEqual(code, "XX001", message);
      ok(message.includes(file) && /offset \d+/.test(message), message);
      answers.push(right[index] ?? []);
    }
  }
  return answers;
}

Deno.test("dbd names file and offset of a flipped bit, or never answers wrongly", async () => {
  const { dbd } = await compiledPrograms();
  const root = await Deno.makeTempDir({ prefix: "damage-" });
  try {
    await build(root, dbd);
    const files = await filesBelow(`${root}/data`);
    const kinds = {
      manifest: /^MANIFEST/,
      state: /^state/,
      log: /\.log$/,
      segment: /\.segment$/,
      index: /\.index$/,
      deletions: /\.deletions$/,
    };
    for (const [kind, pattern] of Object.entries(kinds)) {
      ok(files.some((file) => pattern.test(file)), `there is a ${kind} among ${files.join(" ")}`);
    }
    const whole = await startDbd({ binary: dbd, directory: root });
    const client = await connectPg(whole);
    const right = await ask(client, "", null);
    await client.close();
    await whole.stop();
    const report = await verify(dbd, root);
    strictEqual(report.code, 0, report.text);
    ok(/table "wide": 19600 rows/.test(report.text) && /is whole: every byte/.test(report.text), report.text);
    const random = seededRandom(4711);
    let named = 0, met = 0;
    const chosen = Object.values(kinds).flatMap((pattern) =>
      files.filter((file) => pattern.test(file)).slice(0, 1)
    );
    for (const [index, file] of chosen.entries()) {
      const content = await Deno.readFile(`${root}/data/${file}`);
      // The space that is written ahead in a log holds nothing.
      const end = content.findLastIndex((byte) => byte !== 0) + 1;
      for (const position of [random.below(end), index % 2 === 0 ? end - 1 : 4]) {
        const copy = await Deno.makeTempDir({ prefix: "damaged-" });
        try {
          await copyFiles(`${root}/data`, `${copy}/data`, files);
          await flip(`${copy}/data/${file}`, position, random.below(8));
          const { code, text } = await verify(dbd, copy);
          // The last record of a log is the seal of a clean stop: without it the log ends as after a crash, and is
          // whole.
          const isSeal = file.endsWith(".log") && position === end - 1;
          ok(
            code === 1 ? text.includes(`/data/${file}`) : code === 0 && isSeal,
            `${file} ${position}: verify ${code} ${text}`,
          );
          const outcome = await startDamaged(dbd, copy);
          if (typeof outcome === "string") {
            ok(outcome.includes(`/data/${file}`), `${file} ${position}: ${outcome}`);
            ok(/offset \d+|format version/.test(outcome), `${file} ${position}: ${outcome}`);
            named++;
            continue;
          }
          try {
            const reader = await connectPg(outcome);
            deepStrictEqual(await ask(reader, file, right), right, `${file} ${position}`);
            await reader.close();
            met++;
          } finally {
            await outcome.stop();
          }
        } finally {
          await Deno.remove(copy, { recursive: true });
        }
      }
    }
    console.log(`${named} flips stopped the start, ${met} were left to the reads`);
    ok(named >= 4 && met > 0, `${named} flips stopped the start, ${met} were left to the reads`);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** What `dbd verify` says of a directory. */
async function verify(
  dbd: string,
  directory: string,
): Promise<{ readonly code: number; readonly text: string }> {
  const { code, stdout, stderr } = await run(dbd, ["verify", `${directory}/data`]);
  return { code, text: stdout + stderr };
}

/** The running server, or the one line with which it ended. */
async function startDamaged(
  dbd: string,
  directory: string,
): Promise<Awaited<ReturnType<typeof startDbd>> | string> {
  try {
    return await startDbd({ binary: dbd, directory });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const line = /^dbd ended with 1 before it was ready: (dbd: .*)$/.exec(text)?.[1];
    ok(line !== undefined, `one line and exit code 1: ${text}`);
    return line;
  }
}
