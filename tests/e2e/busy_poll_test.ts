/** What the system says of the event loop of a process that has one thread; tests have many. */
import { strictEqual } from "node:assert/strict";

const program = `
import { loopReadiness } from ${JSON.stringify(import.meta.resolve("../../engine/host/busy_poll.ts"))};

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const accepted = listener.accept();
const from = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
const to = await accepted;
const arrival = to.read(new Uint8Array(1));
const readiness = loopReadiness();
// What else was under way has its turns first.
for (let turns = 0; readiness?.isReady() && turns < 1000; turns++) {
  await new Promise((resolve) => setTimeout(resolve, 1));
}
const before = readiness?.isReady();
const sent = from.write(new Uint8Array(1));
// The system hands a byte over on the loopback interface within the call that sends it.
const after = readiness?.isReady();
await sent;
console.log(before, after, await arrival);
Deno.exit();
`;

Deno.test("the event loop is ready when bytes have come, and not before", async () => {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", "--no-lock", "--ext=ts", program],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  const expected = Deno.build.os === "linux" ? "false true 1" : "undefined undefined 1";
  strictEqual(decoder.decode(stdout).trim(), expected, decoder.decode(stderr));
});
