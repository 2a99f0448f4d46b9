/** Tests of who may speak to a server of `lang` over HTTP. */
import { strictEqual } from "node:assert/strict";
import { hasToken, hostRefusal, isLoopbackHost } from "./loopback_guard.ts";

Deno.test("isLoopbackHost() takes the names of the loopback address with any port, and nothing else", () => {
  for (
    const host of ["localhost", "localhost:8889", "LOCALHOST:1", "127.0.0.1:8889", "[::1]:8889", "[::1]"]
  ) {
    strictEqual(isLoopbackHost(host), true, host);
  }
  const foreign = [
    null,
    "",
    "evil.example",
    "evil.example:8889",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "evil.example/localhost",
    "127.0.0.2",
    "0.0.0.0",
    "[::]",
    "localhost:8889:1",
    "localhost ",
  ];
  for (const host of foreign) strictEqual(isLoopbackHost(host), false, String(host));
});

Deno.test("hostRefusal() refuses a foreign Host and a foreign Origin", () => {
  const refused = (headers: Record<string, string>, allowsAnyHost = false) =>
    hostRefusal(new Headers(headers), { allowsAnyHost }) !== null;
  strictEqual(refused({ host: "127.0.0.1:8889" }), false);
  strictEqual(refused({ host: "127.0.0.1:8889", origin: "http://127.0.0.1:8889" }), false);
  strictEqual(refused({ host: "evil.example:8889" }), true);
  strictEqual(refused({}), true);
  for (
    const origin of [
      "http://evil.example",
      "null",
      "http://127.0.0.1:8890",
      "https://127.0.0.1:8889",
      "http://localhost:8889",
      "http://127.0.0.1:8889.evil.example",
      "",
    ]
  ) {
    strictEqual(refused({ host: "127.0.0.1:8889", origin }), true, origin);
  }
  strictEqual(refused({ host: "build.example:8889" }, true), false);
  strictEqual(refused({ host: "build.example:8889", origin: "http://evil.example" }, true), true);
});

Deno.test("hasToken() takes the token alone", () => {
  strictEqual(hasToken("Bearer secret", "secret"), true);
  strictEqual(hasToken("bearer secret", "secret"), true);
  for (
    const header of [
      null,
      "",
      "secret",
      "Basic secret",
      "Bearer",
      "Bearer ",
      "Bearer secre",
      "Bearer secrets",
      "Bearer Secret",
    ]
  ) {
    strictEqual(hasToken(header, "secret"), false, String(header));
  }
});
