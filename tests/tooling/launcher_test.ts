/**
 * The self-extracting executable, built around a shell script that plays the runtime, so that the rules of the launcher
 * are tested in milliseconds: what it passes on, what it verifies, and where it unpacks.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { headerSize, packFile, writeLauncher } from "../../tools/compile/launcher.ts";
import { until } from "../support/until.ts";

const fakeRuntime = `#!/bin/sh
[ "$1" = --version ] && exit 0
while [ $# -gt 0 ]; do
  case "$1" in *.js) program=$1; shift; break ;; *) shift ;; esac
done
printf 'program:'; cat "$program"
[ -f "\${program%.js}.data" ] && cat "\${program%.js}.data"
for argument in "$@"; do printf '<%s>' "$argument"; done
printf '\\n'
case "\${1:-}" in
  exit) exit "$2" ;;
  read) cat ;;
  umask) umask ;;
  wait) trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done ;;
esac
`;

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with an executable in it, removed at the end. */
class Bench implements AsyncDisposable {
  readonly folder: string;
  readonly executable: string;
  /** Whether the newest start said that it unpacks; the line is left out of its outcome. */
  saidUnpacking = false;

  private constructor(folder: string) {
    this.folder = folder;
    this.executable = `${folder}/pro gram`;
  }

  static async open(): Promise<Bench> {
    const bench = new Bench(await Deno.makeTempDir({ prefix: "launcher-" }));
    await Deno.writeTextFile(`${bench.folder}/runtime`, fakeRuntime);
    await Deno.writeTextFile(`${bench.folder}/program.js`, "hello ");
    await bench.build();
    return bench;
  }

  async build(data?: string): Promise<void> {
    if (data !== undefined) await Deno.writeTextFile(`${this.folder}/program.data`, data);
    await writeLauncher({
      path: this.executable,
      program: "tool",
      version: "1.2.3",
      runtime: await packFile(`${this.folder}/runtime`),
      bundle: await packFile(`${this.folder}/program.js`),
      ...(data === undefined ? {} : { data: await packFile(`${this.folder}/program.data`) }),
    });
  }

  command(parameters: readonly string[], environment: Readonly<Record<string, string>> = {}): Deno.Command {
    return new Deno.Command(this.executable, {
      args: [...parameters],
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", XDG_CACHE_HOME: `${this.folder}/cache`, ...environment },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  }

  async start(
    parameters: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const { code, stdout, stderr } = await this.command(parameters, environment).output();
    const decoder = new TextDecoder();
    const lines = decoder.decode(stderr);
    const others = lines.replace(/^tool: unpacking into .*; the next start is faster\n/gm, "");
    this.saidUnpacking = others !== lines;
    return { code, stdout: decoder.decode(stdout), stderr: others };
  }

  async files(folder: string): Promise<string[]> {
    const found: string[] = [];
    for await (const entry of Deno.readDir(`${this.folder}/${folder}`)) {
      if (!entry.isDirectory) found.push(entry.name);
      else {found.push(...(await this.files(`${folder}/${entry.name}`)).map((name) =>
          `${entry.name}/${name}`
        ));}
    }
    return found.map((name) => name.replaceAll(/[0-9a-f]{64}/g, "HASH")).sort();
  }

  async replace(pattern: RegExp, content: string): Promise<void> {
    for await (const folder of Deno.readDir(`${this.folder}/cache/db`)) {
      for await (const entry of Deno.readDir(`${this.folder}/cache/db/${folder.name}`)) {
        if (!pattern.test(entry.name)) continue;
        await Deno.writeTextFile(`${this.folder}/cache/db/${folder.name}/${entry.name}`, content);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test("a launcher passes arguments and exit codes on", async () => {
  await using bench = await Bench.open();
  deepStrictEqual(await bench.start(["exit", "3", "a b", "", "*", "--help"]), {
    code: 3,
    stdout: "program:hello <exit><3><a b><><*><--help>\n",
    stderr: "",
  });
  ok(bench.saidUnpacking);
  strictEqual((await bench.start(["exit", "0"])).code, 0);
  ok(!bench.saidUnpacking);
  deepStrictEqual(await bench.files("cache/db"), ["HASH/deno", "HASH/deno.verified", "HASH/tool.js"]);
});

Deno.test("a launcher keeps to itself what it unpacks, and leaves the program the user's own mask", async () => {
  await using bench = await Bench.open();
  const mask = Deno.umask().toString(8).padStart(4, "0");
  strictEqual((await bench.start(["umask"])).stdout, `program:hello <umask>\n${mask}\n`);
  strictEqual(((await Deno.stat(`${bench.folder}/cache/db`)).mode ?? 0) & 0o777, 0o700);
});

Deno.test("a launcher becomes the program, so signals reach it", async () => {
  await using bench = await Bench.open();
  const child = bench.command(["wait"]).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes("ready");) text += (await reader.read()).value ?? "";
  child.kill("SIGTERM");
  strictEqual((await child.status).code, 7);
  await reader.cancel();
  await child.stderr.cancel();
});

Deno.test("a launcher that is killed while it unpacks leaves no process, and the next start cleans up", async () => {
  await using bench = await Bench.open();
  const noise = new Uint8Array(10 << 20);
  for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536));
  const script = new TextEncoder().encode(`${fakeRuntime}exit 0\n`);
  await Deno.writeFile(`${bench.folder}/runtime`, script);
  const file = await Deno.open(`${bench.folder}/runtime`, { append: true });
  for (let at = 0; at < noise.length;) at += await file.write(noise.subarray(at));
  file.close();
  await bench.build();
  for (const milliseconds of [10, 40, 80, 140]) {
    const child = bench.command(["wait"]).spawn();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    child.kill("SIGKILL");
    await child.status;
    await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
    await until(
      () => processesOf(bench.folder).length === 0,
      () => `the end of ${processesOf(bench.folder)} after ${milliseconds} ms`,
    );
  }
  // On a busy machine none of them may have come as far as that.
  await Deno.mkdir(`${bench.folder}/cache/db`, { recursive: true });
  await Deno.remove(`${bench.folder}/cache/db`, { recursive: true });
  await Deno.mkdir(`${bench.folder}/cache/db/unpack.old`, { recursive: true });
  await Deno.utime(`${bench.folder}/cache/db/unpack.old`, 0, 0);
  strictEqual((await bench.start(["x"])).stdout, "program:hello <x>\n");
  ok([...Deno.readDirSync(`${bench.folder}/cache/db`)].every(({ name }) => !name.startsWith("unpack.")));
});

/** The processes that name the folder in their command or have a file of it open. */
function processesOf(folder: string): string[] {
  const found: string[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name) || name === String(Deno.pid)) continue;
    try {
      const command = Deno.readTextFileSync(`/proc/${name}/cmdline`).replaceAll("\0", " ");
      const files = [...Deno.readDirSync(`/proc/${name}/fd`)].map((fd) => {
        try {
          return Deno.readLinkSync(`/proc/${name}/fd/${fd.name}`);
        } catch {
          // It was closed meanwhile.
          return "";
        }
      });
      if (command.includes(folder) || files.some((file) => file.startsWith(folder))) found.push(command);
    } catch {
      // The process ended meanwhile.
    }
  }
  return found;
}

Deno.test("a launcher unpacks a damaged or missing part anew", async () => {
  await using bench = await Bench.open();
  const expected = await bench.start(["x"]);
  strictEqual(expected.stdout, "program:hello <x>\n");
  for (const pattern of [/\.js$/, /^deno$/, /verified$/]) {
    await bench.replace(pattern, "#!/bin/sh\necho wrong\n");
    deepStrictEqual(await bench.start(["x"]), expected, String(pattern));
  }
  await Deno.remove(`${bench.folder}/cache/db`, { recursive: true });
  deepStrictEqual(await bench.start(["x"]), expected);
});

Deno.test("a launcher unpacks what the program reads beside it, and again when it is damaged", async () => {
  await using bench = await Bench.open();
  await bench.build("data ");
  const expected = { code: 0, stdout: "program:hello data <x>\n", stderr: "" };
  deepStrictEqual(await bench.start(["x"]), expected);
  deepStrictEqual(await bench.files("cache/db"), [
    "HASH/deno",
    "HASH/deno.verified",
    "HASH/tool.data",
    "HASH/tool.data.verified",
    "HASH/tool.js",
  ]);
  for (const pattern of [/\.data$/, /data\.verified$/]) {
    await bench.replace(pattern, "something else");
    deepStrictEqual(await bench.start(["x"]), expected, String(pattern));
  }
});

Deno.test("a launcher refuses to run what does not have the recorded hash", async () => {
  await using bench = await Bench.open();
  const bytes = await Deno.readFile(bench.executable);
  await Deno.writeFile(bench.executable, bytes.subarray(0, bytes.length - 40));
  const { code, stdout, stderr } = await bench.start(["x"], { TMPDIR: `${bench.folder}/tmp` });
  strictEqual(code, 1);
  strictEqual(stdout, "");
  match(stderr, /^tool: cannot unpack; set XDG_CACHE_HOME to a folder that can be written:/);
  deepStrictEqual(await bench.files("cache/db"), ["HASH/tool.js"]);
});

Deno.test("a launcher uses HOME, then the temporary folder, and says so", async () => {
  await using bench = await Bench.open();
  await Deno.mkdir(`${bench.folder}/tmp`);
  const TMPDIR = `${bench.folder}/tmp`;
  const inHome = await bench.start([], { XDG_CACHE_HOME: "", HOME: `${bench.folder}/home` });
  strictEqual(inHome.stderr, "");
  strictEqual((await bench.files("home/.cache/db")).length, 3);

  const withoutHome = await bench.start([], { XDG_CACHE_HOME: "", HOME: "", TMPDIR });
  deepStrictEqual(withoutHome, { code: 0, stdout: "program:hello \n", stderr: "" });
  const [own] = [...Deno.readDirSync(TMPDIR)];
  ok(own !== undefined && /^db-\d+$/.test(own.name));
  strictEqual((Deno.statSync(`${TMPDIR}/${own.name}`).mode ?? 0) & 0o777, 0o700);

  // A file is where the folder should be: what a user without the right to write meets, also when the user is root.
  const blocked = await bench.start([], { XDG_CACHE_HOME: bench.executable, TMPDIR });
  strictEqual(blocked.stdout, "program:hello \n");
  match(
    blocked.stderr,
    /^tool: running from .*\/tmp\/db-\d+, because this did not work:\n {2}.*: cannot make this folder\n$/,
  );
});

Deno.test("a launcher does not follow a link that somebody left in the temporary folder", async () => {
  await using bench = await Bench.open();
  await Deno.mkdir(`${bench.folder}/elsewhere`);
  await Deno.mkdir(`${bench.folder}/tmp`);
  await Deno.symlink(`${bench.folder}/elsewhere`, `${bench.folder}/tmp/db-${Deno.uid()}`);
  const { code, stderr } = await bench.start([], {
    XDG_CACHE_HOME: "",
    HOME: "",
    TMPDIR: `${bench.folder}/tmp`,
  });
  strictEqual(code, 1);
  match(stderr, /it is a symbolic link/);
});

Deno.test("launchers of one build share the runtime, and many first starts at once are safe", async () => {
  await using bench = await Bench.open();
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => bench.start(["x"])));
  for (const outcome of outcomes) {
    deepStrictEqual(outcome, { code: 0, stdout: "program:hello <x>\n", stderr: "" });
  }
  await Deno.writeTextFile(`${bench.folder}/program.js`, "second ");
  await bench.build();
  strictEqual((await bench.start([])).stdout, "program:second \n");
  deepStrictEqual(await bench.files("cache/db"), [
    "HASH/deno",
    "HASH/deno.verified",
    "HASH/tool.js",
    "HASH/tool.js",
  ]);
});

Deno.test("writeLauncher() pads the script to its fixed size and gives the same bytes twice", async () => {
  await using bench = await Bench.open();
  const first = await Deno.readFile(bench.executable);
  await bench.build();
  deepStrictEqual(await Deno.readFile(bench.executable), first);
  strictEqual(first[headerSize], 0x1f);
  strictEqual(first[headerSize - 1], 0x0a);
});
