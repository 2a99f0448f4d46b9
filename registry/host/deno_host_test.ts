/** The settings of a process: addresses, places, proxies. */
import { strictEqual, throws } from "node:assert/strict";
import { surroundings } from "./deno_host.ts";

type Variables = Readonly<Record<string, string>>;

const settings = (variables: Variables) => surroundings("1", (name) => variables[name] ?? null);

Deno.test("surroundings(): the proxy that requests go through, without its password", () => {
  const check = (variables: Variables, expected: string | null) =>
    strictEqual(settings(variables).proxy, expected);
  check({}, null);
  check({ HTTPS_PROXY: "http://user:secret@proxy.example:3128" }, "proxy.example:3128");
  check({ https_proxy: "proxy.example:3128" }, "proxy.example:3128");
  check({ HTTP_PROXY: "http://proxy.example:3128" }, null);
  check(
    { HTTP_PROXY: "http://proxy.example:3128", LANG_API_URL: "http://host.example" },
    "proxy.example:3128",
  );
  check({ ALL_PROXY: "http://proxy.example:3128", NO_PROXY: "x.example, .github.com" }, null);
  check({ ALL_PROXY: "http://proxy.example:3128", NO_PROXY: "hub.com" }, "proxy.example:3128");
});

Deno.test("surroundings(): LANG_API_URL is an address of a web service, without a slash at its end", () => {
  strictEqual(
    settings({ LANG_API_URL: "https://host.example/api/v3/" }).apiUrl,
    "https://host.example/api/v3",
  );
  for (const text of ["ftp://host.example", "host.example", "https://me@host.example"]) {
    throws(() => settings({ LANG_API_URL: text }), /no address of a web service/);
  }
});
