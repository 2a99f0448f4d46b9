/**
 * Directories of shards that are not what they should be: opened with another number or none, without a part, with
 * parts in other places or of another database, with a damaged file. The server says so in one line and ends with 1, or
 * the statement that meets the damage fails; nothing is written, and no answer is wrong.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { DatabaseError, open } from "../../mod.ts";
import { denoHost } from "../../engine/host/deno_host.ts";
import { features } from "../../cli/features.ts";
import { readCommand } from "../../cli/dbd/settings.ts";
import { StartError } from "../../cli/dbd/start_error.ts";
import { startServer } from "../../cli/dbd/start_server.ts";
import { verify } from "../../cli/dbd/verify.ts";
import { Engine } from "../../engine/session/engine.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { run } from "../../tools/project.ts";
import { contentsOf, misfit } from "../cluster/refused_starts.ts";
import { runProgram } from "../support/programs.ts";

const ROWS = 6000;

/** Makes a database; 1: without shards. */
async function build(directory: string, shardCount: number, hasCheckpoint: boolean): Promise<void> {
  const database = await open(directory, { shard_count: shardCount });
  await database.query("CREATE TABLE t (id INT PRIMARY KEY, v TEXT NOT NULL)");
  await database.query(`INSERT INTO t SELECT n, 'value ' || n FROM generate_series(1, ${ROWS}) AS n`);
  if (hasCheckpoint) await database.query("CHECKPOINT");
  await database.query("INSERT INTO t VALUES (0, 'later')");
  await database.close();
}

interface Case {
  /** Which database it is a copy of; the sharded one with a checkpoint unless given. */
  readonly of?: "whole" | "logged" | "alone";
  readonly flags?: readonly string[];
  change?(directory: string): Promise<void>;
  readonly line: RegExp;
  /** What `dbd verify` says; null: that all is well. The same line unless given. */
  readonly verified?: RegExp | null;
  /** By the program itself, as well. */
  readonly byProgram?: true;
}

const OTHER_NUMBER = /has 2 shards, not \d\. The number is the directory's for good: .*$/;
const NO_NUMBER =
  /^file "\S+\/SHARDS" does not hold a number of shards. It is one line with the number of the folders/;

const shards = (text: string) => (directory: string): Promise<void> =>
  Deno.writeTextFile(`${directory}/SHARDS`, text);
const noShards = (directory: string): Promise<void> => Deno.remove(`${directory}/SHARDS`);

function cases(other: string): Record<string, Case> {
  return {
    "another number": { byProgram: true, flags: ["--shards", "4"], line: OTHER_NUMBER, verified: null },
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
      byProgram: true,
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
      byProgram: true,
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

/** All but the locks, which whoever opens a directory makes. */
async function filesOf(directory: string): Promise<string[]> {
  return (await contentsOf([directory])).filter((line) => !line.includes("/LOCK "));
}

/** What a start of the server, or its verification, says when it is refused; null: it is not. */
async function refusal(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return error.message;
  }
}

async function startRefused(flags: readonly string[], directory: string): Promise<string | null> {
  const command = readCommand({
    parameters: [...flags, "127.0.0.1:0", directory],
    environment: {},
    features: features.enabled,
    readFile: () => "",
  });
  ok(command.kind === "run");
  const { settings } = command;
  return await refusal(async () => {
    const server = await startServer(settings, { features, version: "0", log: () => {} });
    await server.close(0);
  });
}

Deno.test("directories of shards that do not fit are refused in one line, and nothing is written", async () => {
  const { dbd } = await compiledPrograms();
  const folder = await Deno.makeTempDir({ prefix: "shard-directories-" });
  try {
    for (const name of ["whole", "other"]) await build(`${folder}/${name}`, 2, true);
    await build(`${folder}/logged`, 2, false);
    await build(`${folder}/alone`, 1, true);
    for (const [name, each] of Object.entries(cases(`${folder}/other`))) {
      const directory = `${folder}/tried`;
      strictEqual((await run("cp", ["-r", `${folder}/${each.of ?? "whole"}`, directory])).code, 0);
      await each.change?.(directory);
      const before = await filesOf(directory);
      const flags = each.flags ?? [];
      const said = await startRefused(flags, directory) ?? "it is not refused";
      strictEqual(said.split("\n").length, 1, `${name}: ${said}`);
      match(said, each.line, name);
      const report = await refusal(() => verify(directory, { host: denoHost(), print: () => {} }));
      if (each.verified === null) strictEqual(report, null, name);
      else {
        // Hints are of the server alone.
        match(report ?? "", new RegExp(each.line.source.replace(/^\^/, "").replace(/\\?\. .*$/, "")), name);
      }
      deepStrictEqual(await filesOf(directory), before, `${name}: nothing is written`);
      if (each.byProgram) {
        deepStrictEqual(await misfit(dbd, [...flags, "127.0.0.1:0", directory]), [1, `dbd: ${said}`], name);
        const { code } = await runProgram(dbd, ["verify", directory]);
        strictEqual(code, each.verified === null ? 0 : 1, name);
      }
      await Deno.remove(directory, { recursive: true });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("bits flipped in a shard's segment fail the statement that meets them, and what is read is right", async () => {
  const folder = await Deno.makeTempDir({ prefix: "shard-directories-" });
  try {
    await build(`${folder}/whole`, 2, true);
    const questions = [
      "SELECT count(*)::int AS n, sum(id)::int AS id, sum(length(v))::int AS v FROM t",
      "SELECT id, v FROM t WHERE id = 777",
      "SELECT v FROM t ORDER BY id LIMIT 3",
      "SELECT count(*)::int AS n FROM t WHERE v LIKE '%7'",
    ];
    const ask = async (directory: string): Promise<string[]> => {
      let database;
      try {
        database = await open(directory);
      } catch (error) {
        return [error instanceof DatabaseError ? error.code : String(error)];
      }
      const answers: string[] = [];
      for (const question of questions) {
        const answer = await database.query(question).catch((error: DatabaseError) => error.code);
        answers.push(typeof answer === "string" ? answer : JSON.stringify(answer));
      }
      await database.close();
      return answers;
    };
    const right = await ask(`${folder}/whole`);
    let failed = 0;
    for (const share of [0.002, 0.1, 0.3, 0.5, 0.7, 0.99]) {
      const directory = `${folder}/tried`;
      await run("cp", ["-r", `${folder}/whole`, directory]);
      await flip(directory, (size) => Math.floor(size * share));
      for (const [index, answer] of (await ask(directory)).entries()) {
        if (answer === "XX001") failed++;
        else strictEqual(answer, right[index], `${questions[index]} with a flip at ${share}`);
      }
      match(
        await refusal(() => verify(directory, { host: denoHost(), print: () => {} })) ?? "",
        /^Cannot verify "\S+": file "\S+shard-1\/tables\/\S+" is damaged at byte offset \d+/,
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
