/**
 * Runs the README and the tour as they are written: in a fresh clone, with an empty home folder, command block after
 * command block in one shell, and compares what a block prints with what the page shows.
 *
 * The tour is taken with the compiled files, and with the sources where `EVERY_TOUR` is set; the README always with the
 * sources. Ports that are taken on this machine are
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

const startCommand = "npx -y deno@2.9.6 task -c cli/server.json start";
const clientCommand = "npx -y deno@2.9.6 task --quiet dbcli";
/** What the tour names for those who compiled. */
const compiledStart = "dist/dbd --dev 127.0.0.1:7878 ./data";
const compiledClient = "dist/dbcli";

const readyLine = /dbd: ready/;

interface Tour {
  readonly clone: FreshClone;
  /** The page's path, for messages. */
  readonly path: string;
  /** The text with the commands, a page or a section of it. */
  readonly text: string;
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

async function take({ clone, path, text, start, client }: Tour): Promise<void> {
  const hasPsql = await isInstalled("psql");
  const hasCurl = await isInstalled("curl");
  if (!hasPsql) {
    reportNotRun(`psql of ${path}; dbcli took its place`, "psql is not installed");
    await writeProgram(`${clone.programs}/psql`, [`exec ${client}`]);
  }
  if (!hasCurl) reportNotRun(`curl of ${path}`, "curl is not installed");
  await using shell = await ShellSession.start(clone);
  let ports: Ports = new Map();
  for (const block of blocksOf(text)) {
    if (block.language !== "sh" || (!hasCurl && /^curl /m.test(block.text))) continue;
    const isStart = block.text.includes(startCommand);
    const logStart = shell.stderr.length;
    const typed = untilUnderWay(withPorts(block.text, isStart ? new Map() : ports))
      .replaceAll(startCommand, start).replaceAll(clientCommand, client);
    const { code, stdout, stderr } = await shell.run(typed);
    const place = `${path}, line ${block.line} of the text:\n${typed}`;
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
}

/** Instead of the time that the page waits, in which a busy machine may not have begun: until there are answers. */
function untilUnderWay(text: string): string {
  const answers = /> (\S+) 2> \S+ &\nsleep 3$/m.exec(text)?.[1];
  if (answers === undefined) return text;
  return text.replace("\nsleep 3\n", `\nuntil [ "$(wc -l < ${answers})" -gt 500 ]; do sleep 0.05; done\n`);
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

async function readPage({ directory }: FreshClone, path: string): Promise<string> {
  return await Deno.readTextFile(`${directory}/${path}`);
}

const tourPath = "docs/tour.md";

/** The commands of the tour; what follows them is for those who compile. */
function tourOf(page: string): string {
  return page.slice(0, page.indexOf("\n## The client\n"));
}

if (Deno.env.has("EVERY_TOUR")) {
  Deno.test("docs/tour.md: the tour, with the sources, in a fresh clone with an empty home", async () => {
    await using clone = await freshClone();
    const text = tourOf(await readPage(clone, tourPath));
    await take({ clone, path: tourPath, text, start: startCommand, client: clientCommand });
    await checkKill(clone);
  });
}

Deno.test("docs/tour.md: the tour, with the compiled files, in a fresh clone with an empty home", async () => {
  const { dbd } = await compiledPrograms();
  await using clone = await freshClone();
  await Deno.symlink(dbd.replace(/\/[^/]*$/, ""), `${clone.directory}/dist`);
  const page = await readPage(clone, tourPath);
  for (const command of [compiledStart, compiledClient]) {
    ok(page.includes(command), `the tour names ${command} for those who compiled`);
  }
  const client = `${clone.directory}/${compiledClient}`;
  await take({ clone, path: tourPath, text: tourOf(page), start: compiledStart, client });
  await checkKill(clone);
});

Deno.test("README: the commands of its sections, with the sources", async () => {
  await using clone = await freshClone();
  const page = await readPage(clone, "README.md");
  const text = ["## First queries", "## The language"].map((heading) => sectionOf(page, heading)).join("\n");
  await take({ clone, path: "README.md", text, start: startCommand, client: clientCommand });
});

Deno.test("README: it has at most 120 lines", async () => {
  const page = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  ok(page.split("\n").length <= 121, `${page.split("\n").length} lines`);
});

function examplesOf(page: string): readonly DocumentBlock[] {
  return blocksOf(sectionOf(page, "## As a library")).filter(({ language }) => language === "ts");
}

Deno.test("README: the example of the library prints what the page shows", async () => {
  await using clone = await freshClone();
  const examples = examplesOf(await readPage(clone, "README.md"));
  const checked = await Deno.readTextFile(new URL("readme_example.ts", import.meta.url));
  strictEqual(examples.length, 1, "the README has an example of the library");
  for (const { text, line, expected } of examples) {
    strictEqual(text.replace("./mod.ts", "../../mod.ts"), checked.replace(/^.*\n/, ""));
    await Deno.writeTextFile(`${clone.directory}/example.ts`, text);
    const { code, stdout, stderr } = await runProgram(
      "npx",
      ["-y", "deno@2.9.6", "run", "-A", "example.ts"],
      { directory: clone.directory, environment: clone.environment, clearEnvironment: true },
    );
    strictEqual(code, 0, `README.md, line ${line}: ${stderr}`);
    ok(expected !== null, `README.md, line ${line}: the page shows what the example prints`);
    compare(stdout, expected, `README.md, line ${line}`);
  }
});
