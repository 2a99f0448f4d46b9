/**
 * Directories of shards that are not what they should be: opened with another number or none, without a part, with
 * parts in other places or of another database, with a damaged file. The server says so in one line and ends with 1, or
 * the statement that meets the damage fails; nothing is written, and no answer is wrong.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { DatabaseError, open } from "../../mod.ts";
import { denoHost } from "../../engine/host/deno_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { run } from "../../tools/project.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import { contentsOf, misfit } from "../cluster/refused_starts.ts";
import { connectPg } from "../support/clients.ts";
import { runProgram } from "../support/programs.ts";

const ROWS = 6000;

async function build(
  dbd: string,
  directory: string,
  flags: readonly string[],
  checkpoint: boolean,
): Promise<void> {
  const server = await startDbd({ binary: dbd, directory, flags });
  const client = await connectPg(server);
  await client.query("CREATE TABLE t (id INT PRIMARY KEY, v TEXT NOT NULL)");
  await client.query(`INSERT INTO t SELECT n, 'value ' || n FROM generate_series(1, ${ROWS}) AS n`);
  if (checkpoint) await client.query("CHECKPOINT");
  await client.query("INSERT INTO t VALUES (0, 'later')");
  await client.close();
  await server.stop();
}

interface Case {
  /** Which database it is a copy of; the sharded one with a checkpoint unless given. */
  readonly of?: "whole" | "logged" | "alone";
  readonly flags?: readonly string[];
  change?(directory: string): Promise<void>;
  readonly line: RegExp;
  /** What `dbd verify` says; null: that all is well. The same line unless given. */
  readonly verified?: RegExp | null;
}

const OTHER_NUMBER = /has 2 shards, not \d\. The number is the directory's for good: .*$/;
const NO_NUMBER =
  /^file "\S+\/SHARDS" does not hold a number of shards. It is one line with the number of the folders/;

const shards = (text: string) => (directory: string): Promise<void> =>
  Deno.writeTextFile(`${directory}/SHARDS`, text);
const noShards = (directory: string): Promise<void> => Deno.remove(`${directory}/SHARDS`);

function cases(other: string): Record<string, Case> {
  return {
    "another number": { flags: ["--shards", "4"], line: OTHER_NUMBER, verified: null },
    "one": { flags: ["--shards", "1"], line: OTHER_NUMBER, verified: null },
    "shards for a database without": {
      ...{ of: "alone", flags: ["--shards", "2"], verified: null },
      line: /has one shard, not 2\. The number is the directory's for good/,
    },
    "an empty number": { change: shards(""), line: NO_NUMBER },
    "a damaged number": { change: shards("\u0001\u0002"), line: NO_NUMBER },
    "a number that nobody has": { change: shards("3\n"), line: NO_NUMBER },
    "a larger number": {
      change: shards("4\n"),
      line: /SHARDS" says that there are 4 shards, and folder "shard-2" is missing/,
    },
    "a larger number, nothing but a log": {
      ...{ of: "logged", change: shards("4\n") },
      line: /SHARDS" says that there are 4 shards, and folder "shard-2" is missing/,
    },
    "one as the number": {
      change: shards("1\n"),
      line: /has a checkpoint of 2 shards, and is opened as one of one shard. Its file "SHARDS" says/,
    },
    "no number": {
      change: noShards,
      line: /has a checkpoint of 2 shards, and is opened as one of one shard/,
    },
    "no number, nothing but a log": {
      ...{ of: "logged", change: noShards },
      line: /has a log of several shards, and is opened as one of one shard/,
    },
    "a number where there are none": {
      of: "alone",
      change: async (directory) => {
        await shards("2\n")(directory);
        for (const index of [0, 1]) await Deno.mkdir(`${directory}/shard-${index}`);
      },
      line: /has a checkpoint of one shard, and is opened as one of 2 shards/,
    },
    "more folders": {
      change: (directory) => Deno.mkdir(`${directory}/shard-2`),
      line: /SHARDS" says that there are 2 shards, and there is a folder "shard-2"/,
    },
    "a missing folder": {
      change: (directory) => Deno.remove(`${directory}/shard-1`, { recursive: true }),
      line: /SHARDS" says that there are 2 shards, and folder "shard-1" is missing/,
    },
    "an empty folder": {
      change: async (directory) => {
        await Deno.remove(`${directory}/shard-1`, { recursive: true });
        await Deno.mkdir(`${directory}/shard-1`);
      },
      line: /could not open file "\S+shard-1\/state-\w+": No such file or directory/,
    },
    "folders in each other's place": {
      change: async (directory) => {
        await Deno.rename(`${directory}/shard-0`, `${directory}/between`);
        await Deno.rename(`${directory}/shard-1`, `${directory}/shard-0`);
        await Deno.rename(`${directory}/between`, `${directory}/shard-1`);
      },
      line: /shard-0\/\S+" is damaged at byte offset \d+/,
    },
    "a folder of another database": {
      change: async (directory) => {
        await Deno.remove(`${directory}/shard-1`, { recursive: true });
        strictEqual((await run("cp", ["-r", `${other}/shard-1`, `${directory}/shard-1`])).code, 0);
      },
      line: /shard-1\/\S+" is damaged at byte offset \d+/,
    },
    "a damaged footer of a segment": {
      change: (directory) => flip(directory, (size) => size - 100),
      line: /shard-1\/tables\/\S+" is damaged at byte offset \d+/,
    },
  };
}

async function segmentOf(directory: string): Promise<string> {
  for await (const { name } of Deno.readDir(`${directory}/shard-1/tables`)) {
    if (name.endsWith(".segment")) return `${directory}/shard-1/tables/${name}`;
  }
  throw new Error("there is no segment");
}

async function flip(directory: string, place: (size: number) => number): Promise<void> {
  const path = await segmentOf(directory);
  const bytes = await Deno.readFile(path);
  const at = place(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  await Deno.writeFile(path, bytes);
}

async function verify(dbd: string, directory: string): Promise<[number, string]> {
  const { code, stderr } = await runProgram(dbd, ["verify", directory]);
  return [code, stderr.trim()];
}

Deno.test("directories of shards that do not fit are refused in one line, and nothing is written", async () => {
  const { dbd } = await compiledPrograms();
  const folder = await Deno.makeTempDir({ prefix: "shard-directories-" });
  try {
    for (const name of ["whole", "other"]) await build(dbd, `${folder}/${name}`, ["--shards", "2"], true);
    await build(dbd, `${folder}/logged`, ["--shards", "2"], false);
    await build(dbd, `${folder}/alone`, [], true);
    for (const [name, each] of Object.entries(cases(`${folder}/other/data`))) {
      const directory = `${folder}/tried`;
      await run("cp", ["-r", `${folder}/${each.of ?? "whole"}/data`, directory]);
      await each.change?.(directory);
      const before = await contentsOf([directory]);
      const [code, said] = await misfit(dbd, [...each.flags ?? [], "127.0.0.1:0", directory]);
      strictEqual(code, 1, `${name}: ${said}`);
      strictEqual(said.split("\n").length, 1, `${name}: ${said}`);
      match(said.replace(/^dbd: /, ""), each.line, name);
      const [verified, report] = await verify(dbd, directory);
      if (each.verified === null) strictEqual(verified, 0, report);
      else {
        strictEqual(verified, 1, `${name}: ${report}`);
        strictEqual(report.split("\n").length, 1, `${name}: ${report}`);
        // Hints are of the server alone.
        const wanted = each.verified ?? new RegExp(each.line.source.replace(/^\^/, "").replace(/\. .*$/, ""));
        match(report, wanted, name);
      }
      deepStrictEqual(await contentsOf([directory]), before, `${name}: nothing is written`);
      await Deno.remove(directory, { recursive: true });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("bits flipped in a shard's segment fail the statement that meets them, and what is read is right", async () => {
  const { dbd } = await compiledPrograms();
  const folder = await Deno.makeTempDir({ prefix: "shard-directories-" });
  try {
    await build(dbd, `${folder}/whole`, ["--shards", "2"], true);
    const questions = [
      "SELECT count(*)::int AS n, sum(id)::int AS id, sum(length(v))::int AS v FROM t",
      "SELECT id, v FROM t WHERE id = 777",
      "SELECT v FROM t ORDER BY id LIMIT 3",
      "SELECT count(*)::int AS n FROM t WHERE v LIKE '%7'",
    ];
    const ask = async (directory: string): Promise<string[] | null> => {
      const server = await startDbd({ binary: dbd, directory }).catch(() => null);
      if (server === null) return null;
      const client = await connectPg(server);
      const answers: string[] = [];
      for (const question of questions) {
        answers.push(JSON.stringify(
          await client.query(question).catch((error: { readonly code?: string }) => error.code ?? ""),
        ));
      }
      await client.close();
      await server.stop();
      return answers;
    };
    const right = await ask(`${folder}/whole`);
    let failed = 0;
    for (const share of [0.002, 0.1, 0.3, 0.5, 0.7]) {
      const directory = `${folder}/tried`;
      await run("cp", ["-r", `${folder}/whole`, directory]);
      await flip(`${directory}/data`, (size) => Math.floor(size * share));
      const answers = await ask(directory);
      for (const [index, answer] of (answers ?? []).entries()) {
        if (answer === '"XX001"') failed++;
        else strictEqual(answer, right?.[index], `${questions[index]} with a flip at ${share}`);
      }
      const [code, report] = await verify(dbd, `${directory}/data`);
      strictEqual(code, 1);
      match(
        report,
        /^dbd: Cannot verify "\S+": file "\S+shard-1\/tables\/\S+" is damaged at byte offset \d+/,
      );
      await Deno.remove(directory, { recursive: true });
    }
    ok(failed > 3, `${failed} statements met damage`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the library opens directories of shards as what they are, and an engine without shards refuses them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "shard-directories-" });
  const directory = `${folder}/data`;
  try {
    let database = await open(directory, { shard_count: 2 });
    await database.query("CREATE TABLE t (id INT PRIMARY KEY)");
    await database.query("INSERT INTO t SELECT generate_series(1, 100)");
    await database.close();
    database = await open(directory);
    deepStrictEqual(await database.query("SELECT count(*)::int AS n FROM t"), [{ n: 100 }]);
    await database.close();
    const refused = async (work: () => Promise<unknown>): Promise<DatabaseError> => {
      try {
        await work();
      } catch (error) {
        ok(error instanceof DatabaseError, String(error));
        return error;
      }
      throw new Error("it was opened");
    };
    for (const shard_count of [1, 4]) {
      strictEqual((await refused(() => open(directory, { shard_count }))).code, "22023");
    }
    const plain = await refused(() => Engine.open({ host: denoHost(), directory }));
    strictEqual(plain.code, "XX001");
    match(plain.message, /several shards/);
    // What was refused has let go of the directory.
    database = await open(directory, { shard_count: 2 });
    await database.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
