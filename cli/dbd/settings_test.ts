/** The server's settings: what is where, what beats what, and what is refused. */
import { deepStrictEqual, match, strictEqual, throws } from "node:assert/strict";
import { type FeatureName, featureNames } from "../features/feature_names.ts";
import { helpText, parseConfiguration, readCommand, type ServerSettings, UsageError } from "./settings.ts";

function settings(
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): ServerSettings {
  const command = readCommand({
    parameters,
    environment,
    features: featureNames,
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error("there is no such file");
      return text;
    },
  });
  if (command.kind !== "run") throw new Error(command.kind);
  return command.settings;
}

Deno.test("readCommand() has the defaults of the document", () => {
  const { listenAddress, dataDirectory, httpAddress, pgAddress, token, maximumConnections } = settings([]);
  deepStrictEqual(
    { listenAddress, dataDirectory, httpAddress, pgAddress, token, maximumConnections },
    {
      listenAddress: { hostname: "127.0.0.1", port: 7878 },
      dataDirectory: "./dbd-data",
      httpAddress: null,
      pgAddress: null,
      token: null,
      maximumConnections: 1024,
    },
  );
  const { httpMaximumConnections, pgMaximumConnections } = settings([]);
  deepStrictEqual([httpMaximumConnections, pgMaximumConnections], [1024, 256]);
});

Deno.test("readCommand() lets a flag beat the environment, and that the file", () => {
  const files = { c: "http_addr = 127.0.0.3:1 # comment\npg_max_conns=5\ntoken = 'from_file'\n" };
  const at = (parameters: string[], environment: Record<string, string>) =>
    settings([...parameters, "--config", "c"], environment, files);
  strictEqual(at([], {}).httpAddress?.hostname, "127.0.0.3");
  strictEqual(at([], { DB_HTTP_ADDR: "127.0.0.2:1" }).httpAddress?.hostname, "127.0.0.2");
  strictEqual(
    at(["--http-addr=127.0.0.1:1"], { DB_HTTP_ADDR: "127.0.0.2:1" }).httpAddress?.hostname,
    "127.0.0.1",
  );
  strictEqual(at([], {}).pgMaximumConnections, 5);
  strictEqual(at([], {}).token, "from_file");
  strictEqual(at([], { DB_TOKEN: "e" }).token, "e");
  strictEqual(settings(["--token-file", "t"], { DB_TOKEN: "e" }, { t: "secret\nrest" }).token, "secret");
});

Deno.test("readCommand() knows verify, with the directory from the same places", () => {
  const command = (parameters: readonly string[], environment: Record<string, string> = {}) =>
    readCommand({ parameters, environment, features: featureNames, readFile: () => "data_dir = /from/file" });
  const verify = (dataDirectory: string, against: string | null = null) => ({
    kind: "verify" as const,
    dataDirectory,
    against,
  });
  deepStrictEqual(command(["verify"]), verify("./dbd-data"));
  deepStrictEqual(command(["verify", "/d"], { DB_DATA_DIR: "/e" }), verify("/d"));
  deepStrictEqual(command(["verify"], { DB_DATA_DIR: "/e" }), verify("/e"));
  deepStrictEqual(command(["verify", "--config", "c"]), verify("/from/file"));
  deepStrictEqual(command(["--verify-against", "/o", "/d"]), verify("/d", "/o"));
  deepStrictEqual(command(["verify", "/d", "--verify-against=/o"]), verify("/d", "/o"));
  deepStrictEqual(command(["--verify-against", "/o"], { DB_DATA_DIR: "/e" }), verify("/e", "/o"));
  throws(() => command(["verify", "a", "b"]), /unexpected argument "b": dbd verify takes DATA_DIR/);
  strictEqual(settings(["--check-input"]).checksInput, true);
  strictEqual(settings([]).checksInput, false);
});

Deno.test("readCommand() knows health, with the address of HTTP", () => {
  const read = (
    parameters: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): string => {
    const command = readCommand({
      parameters,
      environment,
      features: ["http-gateway", "tls"],
      readFile: () => "",
    });
    if (command.kind !== "health") return command.kind;
    return `${command.isSecure ? "https" : "http"} ${command.address.hostname} ${command.address.port}`;
  };
  strictEqual(read(["health"]), "http 127.0.0.1 6533");
  strictEqual(read(["health"], { DB_HTTP_ADDR: "0.0.0.0:7000" }), "http 0.0.0.0 7000");
  strictEqual(
    read(["health"], { DB_HTTP_ADDR: ":7000", DB_HTTP_TLS_ADDR: ":7001" }),
    "http 127.0.0.1 7000",
  );
  strictEqual(read(["health"], { DB_HTTP_TLS_ADDR: "0.0.0.0" }), "https 0.0.0.0 6534");
  strictEqual(read(["health", ":9"], { DB_HTTP_TLS_ADDR: ":1" }), "http 127.0.0.1 9");
  strictEqual(read(["health", "https://localhost"]), "https 127.0.0.1 6534");
  strictEqual(read(["health", "http://localhost:8"]), "http 127.0.0.1 8");
  throws(() => read(["health", "ftp://localhost:8"]), /not an address/);
  throws(() => read(["health", "a", "b"]), /dbd health takes HTTP_ADDR/);
});

Deno.test("readCommand() fills in ports and sizes", () => {
  deepStrictEqual(settings(["--pg-addr", "127.0.0.1"]).pgAddress, { hostname: "127.0.0.1", port: 5432 });
  deepStrictEqual(settings(["--http-addr", "localhost"]).httpAddress, { hostname: "127.0.0.1", port: 6533 });
  deepStrictEqual(settings(["[::1]:9", "/d"]).listenAddress, { hostname: "::1", port: 9 });
  strictEqual(settings(["--block-cache", "1.5GiB"]).blockCacheBytes, 1.5 * 2 ** 30);
  strictEqual(settings(["--temp-file-limit", "1TiB"]).temporaryFileBytes, 2 ** 40);
  strictEqual(settings(["--query-memory", "2GiB"]).queryMemoryBytes, 2 ** 31);
  strictEqual(settings([]).queryMemoryBytes >= 2 ** 28, true);
  strictEqual(settings(["--checkpoint-log", "2m"]).checkpointLogBytes, 2 ** 21);
  strictEqual(settings(["--drain-timeout", "0.5"]).drainMilliseconds, 500);
  strictEqual(settings([]).defaultIsolation, "serializable");
  strictEqual(settings(["--default-isolation", "Read-Committed"]).defaultIsolation, "read committed");
  throws(() => settings(["--default-isolation", "chaos"]), /read-committed, repeatable-read or serializable/);
  const development = settings(["--dev", "127.0.0.1:7878", "./data"]);
  deepStrictEqual([development.httpAddress?.port, development.pgAddress?.port], [6533, 5432]);
});

Deno.test("readCommand() reads which member of which cluster the server is", () => {
  strictEqual(settings([]).cluster, null);
  const peers = [{ hostname: "a", port: 1 }, { hostname: "b", port: 7878 }, { hostname: "c", port: 3 }];
  const parameters = ["--replica", "1", "--peers", "a:1, b,c:3", "--token=t"];
  deepStrictEqual(settings(parameters).cluster, {
    index: 1,
    peers,
    tls: null,
    usesReadLease: true,
    scrubBytesPerSecond: 1 << 20,
  });
  const environment = { DB_REPLICA: "0", DB_PEERS: "0.0.0.0:1", DB_READ_LEASE: "off" };
  // The own address is not looked at, and may be anything.
  deepStrictEqual(settings([], environment).cluster, {
    index: 0,
    peers: [{ hostname: "0.0.0.0", port: 1 }],
    tls: null,
    usesReadLease: false,
    scrubBytesPerSecond: 1 << 20,
  });
  strictEqual(settings(["--replica=0", "--peers=a,b,c", "--allow-open"]).cluster?.peers.length, 3);
});

Deno.test("readCommand() opens no address to others without a token", () => {
  throws(() => settings(["0.0.0.0:7878"]), /--token-file/);
  throws(() => settings(["--http-addr", "0.0.0.0:1"]), UsageError);
  throws(() => settings(["--pg-addr", "[::]:1"]), UsageError);
  strictEqual(settings(["0.0.0.0:7878", "--token", "x"]).listenAddress.hostname, "0.0.0.0");
  strictEqual(settings(["0.0.0.0:7878", "--allow-open"]).token, null);
  strictEqual(settings(["0.0.0.0:7878"], { DB_ALLOW_OPEN: "yes" }).token, null);
});

Deno.test("readCommand() refuses what it does not know", () => {
  const cases: [string[], RegExp][] = [
    [["--htp-addr", "x"], /did you mean "--http-addr"/],
    [["--htp"], /unknown option "--htp"; did you mean "--http-addr"/],
    [["--verify-agianst", "d"], /unknown option "--verify-agianst"; did you mean "--verify-against"/],
    [["verfy", "data"], /unknown command "verfy"; did you mean "verify"\?/],
    [["--http-addr"], /needs a value/],
    [["a", "b", "c"], /unexpected argument "c"/],
    [["127.0.0.1:99999"], /not an address/],
    [["--pg-max-conns", "0"], /from 1 to/],
    [["--block-cache", "much"], /a size/],
    [["--drain-timeout", "-1"], /seconds/],
    [["--allow-open=perhaps"], /on or off/],
    [["--token="], /empty/],
    [["--token", "a", "--token-file", "b"], /one of them/],
    [["--token-file", "missing"], /cannot read the token file/],
    [["--config", "missing"], /cannot read the configuration file/],
    [["127.0.0.1:1", ""], /DATA_DIR is empty/],
    [
      ["--http-tls-addr", ":1"],
      /--http-tls-addr needs a certificate: --tls-cert FILE --tls-key FILE, or --dev-tls/,
    ],
    [["--token", "a b"], /^.*the token has a space or a control character in it/],
    [["--token", "a\r\nb"], /the token has a space or a control character/],
    [["--token", "a\u0085"], /the token has a space or a control character/],
    [["--tls-required"], /--tls-required needs a certificate/],
    [["--tls-cert", "c"], /--tls-cert needs --tls-key/],
    [["--tls-key", "c"], /--tls-key needs --tls-cert/],
    [["--tls-key", "c", "--tls-cert", "c", "--dev-tls"], /leave --tls-cert and --tls-key out/],
    [["--dev-tls", "127.0.0.1:1", ":memory:"], /:memory: is none/],
    [["--replica", "0"], /--replica needs --peers/],
    [["--peers", ":1,:2,:3"], /--peers needs --replica N/],
    [["--read-lease=off"], /--read-lease is for members of a cluster/],
    [["--peer-ca=a", "--peer-cert=b", "--peer-key=c"], /--peer-ca is for members of a cluster/],
    [["--replica=0", "--peers=:1,:2,:3", "--peer-ca=a"], /are given together, at all members/],
    [["--replica=0", "--peers=:1,:2,:3", "--peer-cert=a", "--peer-key=b"], /are given together/],
    [["--replica=0", "--peers=:1,:2"], /names 2 members; a cluster has 1, 3 or 5/],
    [["--replica=0", "--peers=:1,:2,:3,:4"], /names 4 members; a cluster has 1, 3 or 5/],
    [["--replica=0", "--peers=:1,:2,:3,:4,:5,:6"], /names 6 members; a cluster has 1, 3 or 5/],
    [["--replica=0", "--peers=:1,:2,:3,:4"], /names 4 members/],
    [["--replica=3", "--peers=:1,:2,:3"], /from 0 to 2, not "3"/],
    [["--replica=-1", "--peers=:1,:2,:3"], /from 0 to 2, not "-1"/],
    [["--replica=0", "--peers=:1", "--scrub-rate=5"], /at least 1KiB, or "off", not "5"/],
    [["--replica=one", "--peers=:1"], /in --peers, 0, not "one"/],
    [["--replica=0", "--peers=:1,:2,x y"], /--peers: "x y" is not an address/],
    [["--replica=0", "--peers=:1,:2,127.0.0.1:2"], /--peers names 127.0.0.1:2 twice/],
    [["--replica=0", "--peers=:1,:2,127.0.0.1:1"], /--peers names 127.0.0.1:1 twice/],
    [["--replica=0", "--peers=:1", "127.0.0.1:1", ":memory:"], /:memory: is none/],
    [["--replica=0", "--peers=:1", "--dev"], /--dev may choose other ports/],
    [["--replica=0", "--peers=:1,b:2,c:3"], /--peers names b:2, another machine, and there is no token/],
    [["--replica=0", "--peers=:1,:2,:3", "--read-lease", "perhaps"], /--read-lease is either on or off/],
    [["--dev-tls", "--http-tls-addr", "0.0.0.0"], /can be reached by others and there is no token/],
  ];
  for (const [parameters, message] of cases) {
    throws(() => settings(parameters), (error) => {
      match(String(error), message, parameters.join(" "));
      return error instanceof UsageError;
    });
  }
});

Deno.test("readCommand() names variables that are no settings, and settings of features that the build lacks", () => {
  const refusal = (
    parameters: readonly string[],
    environment: Readonly<Record<string, string>>,
    features: readonly FeatureName[] = [],
  ): string => {
    try {
      const command = readCommand({ parameters, environment, features, readFile: () => "pg_addr = :1\n" });
      return command.kind;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return error.message;
    }
  };
  match(refusal([], { DB_HTP_ADDR: "x" }), /^unknown variable DB_HTP_ADDR .*; did you mean DB_HTTP_ADDR\?$/);
  match(refusal([], { DB_ZZZZZZ: "x" }), /^unknown variable DB_ZZZZZZ .* unset it$/);
  strictEqual(refusal([], { DB_ADDR: "x", DB_TLS_CA: "x", DB_NONE: "", PATH: "x", DATABASE: "x" }), "run");
  strictEqual(refusal(["--help"], { DB_NONE: "x" }), "help");
  const lacks = (what: string, feature: string): string =>
    `${what} needs a build with the feature ${feature}, which this one does not have`;
  strictEqual(refusal([], { DB_HTTP_ADDR: ":1" }), lacks("DB_HTTP_ADDR", "http-gateway"));
  strictEqual(refusal(["--pg-addr=:1"], {}), lacks("--pg-addr", "pg-gateway"));
  strictEqual(refusal(["--config", "c"], {}), lacks('"pg_addr" in c', "pg-gateway"));
  strictEqual(refusal(["--dev-tls"], {}, ["pg-gateway"]), lacks("--dev-tls", "tls"));
  strictEqual(
    refusal(["--dev-tls", "--http-tls-addr=:1"], {}, ["tls"]),
    lacks("--http-tls-addr", "http-gateway"),
  );
  strictEqual(refusal(["--dev"], {}), "run");
});

Deno.test("readCommand() takes the files of TLS between members, from each place", () => {
  const cluster = ["--replica=0", "--peers=:1,:2,:3"];
  strictEqual(settings(cluster).cluster?.tls, null);
  const given = settings([...cluster, "--peer-ca=a", "--peer-cert", "b"], { DB_PEER_KEY: "c" });
  deepStrictEqual(given.cluster?.tls, { authorityPath: "a", certificatePath: "b", keyPath: "c" });
});

Deno.test("readCommand() takes a certificate for all ports", () => {
  const files = settings(["--tls-cert=c", "--tls-required"], {
    DB_TLS_KEY: "k",
    DB_HTTP_TLS_ADDR: "localhost",
  });
  deepStrictEqual(files.tls, { kind: "files", certificatePath: "c", keyPath: "k" });
  deepStrictEqual([files.httpTlsAddress, files.requiresTls], [{ hostname: "127.0.0.1", port: 6534 }, true]);
  const development = settings(["--dev", "--dev-tls"]);
  deepStrictEqual([development.tls, development.httpTlsAddress?.port], [{ kind: "development" }, 6534]);
  strictEqual(settings(["--dev"]).httpTlsAddress, null);
});

Deno.test("parseConfiguration() reads lines and JSON, and names what it does not know", () => {
  deepStrictEqual(
    [...parseConfiguration('# head\n\nhttp-addr = "127.0.0.1:1"\ntoken = a b # c\n', "f")],
    [["http_addr", "127.0.0.1:1"], ["token", "a b"]],
  );
  deepStrictEqual([...parseConfiguration('{"pg_max_conns": 3, "allow_open": true}', "f")], [
    ["pg_max_conns", "3"],
    ["allow_open", "true"],
  ]);
  throws(() => parseConfiguration("http_adr = x", "f"), /f:1; did you mean "http_addr"/);
  throws(() => parseConfiguration("nonsense", "f"), /f:1/);
  throws(() => parseConfiguration("{", "f"), UsageError);
});

Deno.test("helpText() names every setting and the features", () => {
  const text = helpText("1.0.0", ["pg-gateway"]);
  match(text, /^dbd 1\.0\.0/);
  match(text, /--http-max-conns N/);
  match(text, /Features of this build: pg-gateway\n/);
  const lines = helpText("1.0.0", featureNames).split("\n");
  deepStrictEqual(lines.filter((line) => line.length > 120), []);
  const descriptions = lines.filter((line) => /^ {2,}\S/.test(line) && !line.includes("dbd "));
  deepStrictEqual(descriptions.filter((line) => !/^.{30} \S/.test(line)), []);
});

Deno.test("readCommand() reads the number of shards, also as a task passes it on", () => {
  strictEqual(settings([]).shardCount, null);
  strictEqual(settings(["--shards", "4"]).shardCount, 4);
  strictEqual(settings(["--dev", "127.0.0.1:7878", "./data", "--", "--shards", "16"]).shardCount, 16);
  throws(() => settings(["--shards", "3"]), /--shards takes 1, 2, 4, 8 or 16, not "3"/);
  const member = ["--replica", "0", "--peers", "a:1,b:2,c:3", "--token", "secret", "a:1", "d"];
  strictEqual(settings(["--shards", "2", ...member]).shardCount, 2);
});

Deno.test("readCommand() reads how many workers there may be", () => {
  strictEqual(settings(["--max-parallel-workers", "3"]).maximumParallelWorkers, 3);
  strictEqual(settings([], { DB_MAX_PARALLEL_WORKERS: "0" }).maximumParallelWorkers, 0);
  throws(() => settings(["--max-parallel-workers=65"]), /takes a number from 0 to 64, not "65"/);
});

Deno.test("readCommand() reads how many routers there are, from all places", () => {
  strictEqual(settings([]).routerCount, 1);
  strictEqual(settings(["--routers", "8"], { DB_ROUTERS: "3" }).routerCount, 8);
  strictEqual(settings([], { DB_ROUTERS: "3" }).routerCount, 3);
  strictEqual(settings(["--config", "c"], {}, { c: "routers = 2" }).routerCount, 2);
  for (const text of ["0", "9", "two", "1.5", "-1"]) {
    throws(() => settings([`--routers=${text}`]), /--routers takes a number from 1 to 8, not /);
  }
});
