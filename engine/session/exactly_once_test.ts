/** Exactly-once requests whose connection ends while they run. */
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import type { DatabaseError } from "../base/errors.ts";
import { TestClient } from "../statements/copy/client_for_test.ts";
import type { OnceReply } from "./exactly_once.ts";

function once({ session }: TestClient, sequence: bigint): Promise<OnceReply> {
  const text = "UPDATE t SET v = v + 1";
  const encode = (reply: string): Uint8Array => new TextEncoder().encode(reply);
  const request = { clientId: "00112233445566778899aabbccddeeff", sequence, digest: encode(text) };
  return session.once(
    request,
    async () => {
      await session.simple(text, { begin() {} } as never, () => {});
      return encode("done");
    },
    ({ code }: DatabaseError) => encode(code),
  );
}

Deno.test("a request whose connection ended before it was done is done when it is asked for again", async () => {
  const holder = await TestClient.open();
  await holder.run("CREATE TABLE t (v INT)", "INSERT INTO t VALUES (0)", "BEGIN", "UPDATE t SET v = 10");
  const lost = TestClient.over(holder.engine), again = TestClient.over(holder.engine);
  const running = rejects(once(lost, 1n), { code: "57P01" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  lost.session.close();
  await running;
  const repeated = once(again, 1n);
  await holder.run("COMMIT");
  strictEqual(new TextDecoder().decode((await repeated).reply), "done");
  // What was canceled is answered so.
  await holder.run("BEGIN", "UPDATE t SET v = v");
  const canceled = once(again, 2n);
  await new Promise((resolve) => setTimeout(resolve, 5));
  again.session.cancel();
  strictEqual(new TextDecoder().decode((await canceled).reply), "57014");
  await holder.run("COMMIT");
  const asked = await once(again, 2n);
  deepStrictEqual([new TextDecoder().decode(asked.reply), asked.repeated], ["57014", true]);
  deepStrictEqual(await holder.rows("SELECT v FROM t"), ["11"]);
  await holder.close();
});
