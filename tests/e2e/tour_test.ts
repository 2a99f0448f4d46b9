/**
 * The README, done as it is written: in a fresh clone, with an empty home folder, command block after command block
 * in one shell, and what a block prints compared with what the page shows.
 *
 * The tour is taken twice, with the sources and with the compiled files. Ports that are taken on this machine are
 * replaced by those that the server printed, as the page tells its reader to do. Without psql its part is done by
 * dbcli, and reported.
 */
import { match, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { isInstalled, reportNotRun } from "../../tools/not_run.ts";
import { blocksOf, type DocumentBlock, matchesOutput, sectionOf } from "../support/document_blocks.ts";
import { type FreshClone, freshClone, writeProgram } from "../support/fresh_clone.ts";
import { runProgram } from "../support/programs.ts";
import { ShellSession } from "../support/shell_session.ts";

const startCommand = "npx -y deno@2.9.6 task start";
const clientCommand = "npx -y deno@2.9.6 task --quiet dbcli";
/** What the README names for those who compiled. */
const compiledStart = "dist/dbd --dev 127.0.0.1:7878 ./data";
const compiledClient = "dist/dbcli";

const readyLine = /dbd: ready/;

interface Tour {
  readonly clone: FreshClone;
  readonly page: string;
  /** The commands as this tour types them. */
  readonly start: string;
  readonly client: string;
}

/** The ports that the page names, and those that are right on this machine. */
type Ports = ReadonlyMap<string, string>;

function readPorts(log: string): Ports {
  const port = (pattern: RegExp) => {
    const found = pattern.exec(log)?.[1];
    ok(found !== undefined, `the server does not say where it listens: ${log}`);
    return found;
  };
  return new Map([
    ["7878", port(/binary protocol on \S+:(\d+)/)],
    ["6533", port(/HTTP on \S+:(\d+)/)],
    ["5432", port(/PostgreSQL protocol on \S+:(\d+)/)],
  ]);
}

function withPorts(text: string, ports: Ports): string {
  return text.replaceAll(/\b(7878|6533|5432)\b/g, (port) => ports.get(port) ?? port);
}

async function take({ clone, page, start, client }: Tour): Promise<void> {
  const hasPsql = await isInstalled("psql");
  const hasCurl = await isInstalled("curl");
  if (!hasPsql) {
    reportNotRun("psql in the README's tour; dbcli took its place", "psql is not installed");
    await writeProgram(`${clone.programs}/psql`, [`exec ${client}`]);
  }
  if (!hasCurl) reportNotRun("curl in the README's tour", "curl is not installed");
  await using shell = await ShellSession.start(clone);
  let ports: Ports = new Map();
  for (const block of blocksOf(sectionOf(page, "## A five-minute tour"))) {
    if (block.language !== "sh" || (!hasCurl && /^curl /m.test(block.text))) continue;
    const isStart = block.text.includes(startCommand);
    const logStart = shell.stderr.length;
    const typed = withPorts(block.text, isStart ? new Map() : ports)
      .replaceAll(startCommand, start).replaceAll(clientCommand, client);
    const { code, stdout, stderr } = await shell.run(typed);
    const place = `README.md, tour, line ${block.line}:\n${typed}`;
    if (isStart) {
      await shell.waitForStderr(readyLine, logStart);
      const log = shell.stderr.slice(logStart);
      ports = readPorts(log);
      const address = `127.0.0.1:${ports.get("7878")}`;
      if (address !== "127.0.0.1:7878") await shell.run(`export DB_ADDR=${address}`);
      if (block.expected !== null) compare(log, withPorts(block.expected, ports), place);
      continue;
    }
    // The last command of the tour waits for a server that was stopped, or killed.
    const endsServer = /^kill /m.test(block.text);
    if (!endsServer) {
      strictEqual(code, 0, `${place}\n--- printed:\n${stdout}\n--- standard error:\n${stderr}`);
    }
    if (block.expected === null || (!hasPsql && /^psql /m.test(block.text))) continue;
    compare(stdout, withPorts(block.expected, ports), place);
  }
  await checkKill(clone);
}

/** The kill is to have come in the middle of the load, and the client to have said so. */
async function checkKill({ directory }: FreshClone): Promise<void> {
  const acknowledged = await Deno.readTextFile(`${directory}/sample/acknowledged.txt`);
  const count = acknowledged.split("\n").filter((line) => line.includes('"status":"ok"')).length;
  ok(count > 0 && count < 100_000, `${count} of 100000 rows were acknowledged when the server was killed`);
  match(
    acknowledged.slice(-1000) + await Deno.readTextFile(`${directory}/sample/error.txt`),
    /connection|40003|08006/i,
  );
}

function compare(actual: string, expected: string, place: string): void {
  ok(matchesOutput(actual, expected), `${place}\n--- printed:\n${actual}\n--- the page says:\n${expected}`);
}

async function readme(clone: FreshClone): Promise<string> {
  return await Deno.readTextFile(`${clone.directory}/README.md`);
}

Deno.test("README: the tour, with the sources, in a fresh clone with an empty home", async () => {
  await using clone = await freshClone();
  await take({ clone, page: await readme(clone), start: startCommand, client: clientCommand });
});

Deno.test("README: the tour, with the compiled files, in a fresh clone with an empty home", async () => {
  const { dbd } = await compiledPrograms();
  await using clone = await freshClone();
  await Deno.symlink(dbd.replace(/\/[^/]*$/, ""), `${clone.directory}/dist`);
  const page = await readme(clone);
  for (const command of [compiledStart, compiledClient]) {
    ok(page.includes(command), `the README names ${command} for those who compiled`);
  }
  await take({ clone, page, start: compiledStart, client: `${clone.directory}/${compiledClient}` });
});

function examplesOf(page: string): readonly DocumentBlock[] {
  return blocksOf(sectionOf(page, "## As a library")).filter(({ language }) => language === "ts");
}

Deno.test("README: the example of the library prints what the page shows", async () => {
  await using clone = await freshClone();
  const examples = examplesOf(await readme(clone));
  ok(examples.length > 0, "the README has an example of the library");
  for (const { text, line, expected } of examples) {
    await Deno.writeTextFile(`${clone.directory}/example.ts`, text);
    const { code, stdout, stderr } = await runProgram(
      "npx",
      ["-y", "deno@2.9.6", "run", "-A", "--check", "example.ts"],
      { directory: clone.directory, environment: clone.environment, clearEnvironment: true },
    );
    strictEqual(code, 0, `README.md, line ${line}: ${stderr}`);
    ok(expected !== null, `README.md, line ${line}: the page shows what the example prints`);
    compare(stdout, expected, `README.md, line ${line}`);
  }
});
