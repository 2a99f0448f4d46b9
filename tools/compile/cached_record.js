// Runs a program's commands, and keeps the form that the engine has compiled its functions to by then, and those of its
// threads, which are started from this module as well.
import { createServer } from "node:net";

const { program, forms, names, commands, statements } = "@PLAN@";
const [here, thread] = import.meta.url.split("#");
const MOMENT_MILLISECONDS = 300;
const PATIENCE_MILLISECONDS = 10_000;

const started = new Set();

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function keep(name, script) {
  const file = `${forms}/${crypto.randomUUID()}`;
  Deno.writeFileSync(file, script.createCachedData());
  Deno.renameSync(file, `${forms}/${name}`);
}

/** When the thread's form was kept last, in milliseconds of the clock; 0: never. */
function keptAt(name) {
  try {
    return Deno.statSync(`${forms}/${name}_cache`).mtime.getTime();
  } catch {
    return 0;
  }
}

/** Waits until the threads have kept their forms once more; what one that has ended kept last is as good. */
async function keptAnew(threads) {
  const asked = Date.now();
  for (;;) {
    const isLate = Date.now() - asked > PATIENCE_MILLISECONDS;
    if (threads.every((name) => keptAt(name) > (isLate ? 0 : asked))) return;
    await pause(MOMENT_MILLISECONDS / 10);
  }
}

async function freeAddress() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${port}`;
}

/** Asks the server that listens there. */
async function ask(address) {
  for (const body of statements) {
    const headers = { "Content-Type": "text/plain" };
    const answer = await fetch(`http://${address}/v1/sql`, { method: "POST", headers, body });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Cannot run ${body}: ${text}`);
  }
}

/** Runs a command; one that serves is asked, and then stopped as if by a signal. */
async function runCommand(main, command) {
  started.clear();
  const address = command.includes("HTTP") ? await freeAddress() : null;
  Deno.addSignalListener = async (signal, stop) => {
    if (signal !== "SIGTERM") return;
    await pause(MOMENT_MILLISECONDS);
    if (address !== null) await ask(address);
    await keptAnew([...started]);
    stop();
  };
  const code = await main(command.map((parameter) => parameter === "HTTP" ? address : parameter));
  if (code > 1) throw new Error(`Cannot run ${command.join(" ")}: exit code ${code}`);
}

globalThis[Symbol.for("db.recorder")] = {
  addressOf: (name) => {
    started.add(name);
    return `${here}#${name}`;
  },
  record: async (script, main) => {
    if (thread !== undefined) {
      setInterval(() => keep(`${thread}_cache`, script), MOMENT_MILLISECONDS);
      return;
    }
    for (const command of commands) await runCommand(main, command);
    const others = names.filter((name) => keptAt(name) === 0);
    for (const name of others) new Worker(`${here}#${name}`, { type: "module" });
    await keptAnew(others);
    keep("cache", script);
    Deno.exit(0);
  },
};
// What a thread is told before its code is there would be lost, for that hears nothing yet.
const early = [];
const hold = (event) => early.push(event);
if (thread !== undefined) addEventListener("message", hold);
await import(thread === undefined ? program : `${program}#${thread}`);
removeEventListener("message", hold);
for (const { data, ports } of early) dispatchEvent(new MessageEvent("message", { data, ports: [...ports] }));
