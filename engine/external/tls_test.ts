/** External sources over TLS: certificates are verified in full, addresses checked before they are connected to. */
import { match, strictEqual } from "node:assert/strict";
import { ensureDevelopmentCertificate } from "../../gateways/tls/development_certificate.ts";
import { denoTls } from "../host/deno_web_tls.ts";
import { SourceFixture } from "./testing/source_fixture.ts";

Deno.test("REFRESH over https verifies the certificate against the name, and follows no redirect to http", async () => {
  const folder = await Deno.makeTempDir({ prefix: "tls-" });
  const files = ensureDevelopmentCertificate(folder, new Date());
  const server = Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      cert: await Deno.readTextFile(files.certificatePath),
      key: await Deno.readTextFile(files.keyPath),
      onListen: () => undefined,
    },
    (request) =>
      new URL(request.url).pathname === "/down"
        ? new Response(null, { status: 302, headers: { location: "http://localhost:1/" } })
        : Response.json([{ id: 1 }]),
  );
  const { port } = server.addr;
  const resolved: string[] = [];
  const open = (caCerts: string[]) =>
    SourceFixture.open({
      allowed: [`localhost:${port}`, `other.test:${port}`],
      web: {
        upgradeToTls: denoTls({ caCerts }),
        resolve: (name) => {
          resolved.push(name);
          return Promise.resolve(["127.0.0.1"]);
        },
      },
    });
  const create = (name: string, host: string, path: string) =>
    `CREATE EXTERNAL SOURCE ${name} (id INT) FROM 'https://${host}:${port}${path}' FORMAT JSON KEY id`;
  try {
    await using trusting = await open([await Deno.readTextFile(files.authorityPath)]);
    await trusting.run(create("good", "localhost", "/"));
    strictEqual((await trusting.run("REFRESH good")).tag, "REFRESH 1");
    await trusting.run(create("misnamed", "other.test", "/"));
    const misnamed = await trusting.failure("REFRESH misnamed");
    match(
      `${misnamed.code} ${misnamed.message}`,
      /^HV00N cannot connect to https:\/\/other\.test.*[Cc]ertificate/,
    );
    await trusting.run(create("downgraded", "localhost", "/down"));
    match(
      (await trusting.failure("REFRESH downgraded")).message,
      /redirects to http:.*which is not encrypted/,
    );
    // A name that leads to this machine, and is not allowed.
    await trusting.run(create("rebound", "rebound.test", "/"));
    const rebound = await trusting.failure("REFRESH rebound");
    match(`${rebound.code} ${rebound.message}`, /^42501 .*127\.0\.0\.1 is this machine/);
    await using other = await open([]);
    await other.run(create("unknown", "localhost", "/"));
    const unknown = await other.failure("REFRESH unknown");
    match(`${unknown.code} ${unknown.message}`, /^HV00N .*(UnknownIssuer|certificate)/);
    strictEqual(resolved.filter((name) => name === "rebound.test").length, 1);
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});
