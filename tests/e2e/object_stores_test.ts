/**
 * The compiled server reading from object stores over HTTPS with a private authority: Azurite, and an S3 server that
 * checks signatures, both from the package registry.
 */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { signedHeaders } from "../../engine/external/object_store/signature_v4.ts";
import { sharedKeyHeaders } from "../../engine/external/object_store/azure_shared_key.ts";
import { ensureDevelopmentCertificate } from "../../gateways/tls/development_certificate.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { reportNotRun } from "../../tools/not_run.ts";
import { projectRoot } from "../../tools/project.ts";

/** The credentials that each server comes with. */
const S3 = { keyId: "S3RVER", secret: "S3RVER", region: "us-east-1", service: "s3" };
const AZURE = {
  account: "devstoreaccount1",
  key: "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
};

interface Started extends AsyncDisposable {
  /** What the pattern has found in the output. */
  readonly found: string;
}

/** Starts a program and waits for a line of its output; null when it ends before. */
async function start(command: Deno.Command, pattern: RegExp): Promise<Started | null> {
  const child = command.spawn();
  const found = Promise.withResolvers<string | null>();
  let output = "";
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      const match = pattern.exec(output);
      if (match !== null) found.resolve(match[1] ?? "");
    }
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]).then(() => found.resolve(null));
  const stop = async () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await Promise.all([child.status, reading]);
  };
  const answer = await found.promise;
  if (answer !== null) return { found: answer, [Symbol.asyncDispose]: stop };
  await stop();
  return null;
}

function peer(parameters: readonly string[]): Deno.Command {
  const folder = new URL("object_stores/", import.meta.url).pathname;
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--config",
      `${folder}peers.json`,
      "--lock",
      `${folder}peers.lock`,
      ...parameters,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  });
}

Deno.test("REFRESH reads Parquet and CSV from an S3 server and from Azurite over HTTPS", async () => {
  const folder = await Deno.makeTempDir({ prefix: "stores-" });
  try {
    const files = ensureDevelopmentCertificate(folder, new Date());
    const { dbd } = await compiledPrograms();
    const authority = await Deno.readTextFile(files.authorityPath);
    using client = Deno.createHttpClient({ caCerts: [authority] });
    const [s3, azure] = await Promise.all([
      start(
        peer([
          new URL("object_stores/s3_server.ts", import.meta.url).pathname,
          files.certificatePath,
          files.keyPath,
          `${folder}/s3`,
        ]),
        /^port (\d+)$/m,
      ),
      start(
        peer([
          "npm:azurite@3.37.0/azurite-blob",
          ...["--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry"],
          ...["--skipApiVersionCheck", "--cert", files.certificatePath, "--key", files.keyPath],
        ]),
        /listens on https:\/\/127\.0\.0\.1:(\d+)/,
      ),
    ]);
    await using stores = new AsyncDisposableStack();
    for (const each of [s3, azure]) if (each !== null) stores.use(each);
    if (s3 === null) reportNotRun("s3:// against a real server", "the package s3rver does not start");
    if (azure === null) reportNotRun("az:// against a real server", "the package azurite does not start");
    const server = await start(
      new Deno.Command(dbd, {
        args: [
          "127.0.0.1:0",
          ":memory:",
          ...["--http-addr", "127.0.0.1:0"],
          ...[
            "--external-allow",
            [s3, azure].flatMap((each) => each === null ? [] : [`localhost:${each.found}`]).join(),
          ],
        ],
        env: {
          NO_COLOR: "1",
          DENO_CERT: files.authorityPath,
          STORE_ID: S3.keyId,
          STORE_SECRET: S3.secret,
          STORE_KEY: AZURE.key,
          STORE_WRONG: "d3Jvbmc=",
        },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }),
      /HTTP on (http:\S+)[\s\S]*ready/,
    );
    if (server === null) throw new Error("dbd does not start");
    stores.use(server);
    const ask = async (sql: string): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${server.found}/v1/sql`, {
        method: "POST",
        headers: { "Content-Type": "text/plain" },
        body: sql,
      });
      return await answer.json();
    };
    const failure = async (sql: string): Promise<string> => {
      const { status, message, code } = await ask(sql);
      strictEqual(status, "error", sql);
      return `${code} ${message}`;
    };
    const parquet = await Deno.readFile(`${projectRoot}/tests/parquet/fixtures/duckdb_row_groups.parquet`);
    const csv = new TextEncoder().encode("id,name\n1,one\n2,zwei\n");
    const check = async (name: string, url: (key: string) => string, clauses: string, wrong: string) => {
      await ask(
        `CREATE EXTERNAL SOURCE ${name} (id BIGINT, digit SMALLINT, grp TEXT FROM 'run', code CHAR(6))
         FROM '${url("folder/rows ü+1.parquet")}' FORMAT PARQUET KEY id ${clauses}`,
      );
      deepStrictEqual(await ask(`REFRESH ${name}`), { status: "ok", affected: 5000 });
      const { rows } = await ask(
        `SELECT count(*) AS n, count(grp) AS g, sum(digit) AS d, min(code) AS c FROM ${name}`,
      );
      deepStrictEqual(rows, [{ n: 5000, g: 2500, d: 22500, c: "0004  " }]);
      await ask(
        `CREATE EXTERNAL SOURCE ${name}_csv (id INT, name TEXT) FROM '${
          url("names.csv")
        }' FORMAT CSV KEY id ${clauses}`,
      );
      deepStrictEqual(await ask(`REFRESH ${name}_csv`), { status: "ok", affected: 2 });
      await ask(
        `CREATE EXTERNAL SOURCE ${name}_none (id INT) FROM '${url("none.csv")}' FORMAT CSV KEY id ${clauses}`,
      );
      match(await failure(`REFRESH ${name}_none`), /^HV000 \S+ does not exist/);
      await ask(
        `CREATE EXTERNAL SOURCE ${name}_wrong (id INT) FROM '${url("names.csv")}' FORMAT CSV KEY id ${wrong}`,
      );
      match(await failure(`REFRESH ${name}_wrong`), /^HV000 \S+: the store answers with status 403/);
    };
    if (s3 !== null) {
      const endpoint = `https://localhost:${s3.found}`;
      for (
        const [key, body] of [["folder/rows%20%C3%BC%2B1.parquet", parquet], ["names.csv", csv]] as const
      ) {
        const url = new URL(`${endpoint}/bucket/${key}`);
        const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
        const headers = signedHeaders(
          { method: "PUT", url, headers: { "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": time } },
          S3,
        );
        const answer = await fetch(url, { method: "PUT", headers, body, client });
        strictEqual(answer.status, 200, await answer.text());
      }
      await check(
        "amazon",
        (key) => `s3://bucket/${key}`,
        `AUTH S3 KEYID ENV 'STORE_ID' SECRET ENV 'STORE_SECRET' ENDPOINT '${endpoint}'`,
        `AUTH S3 KEYID ENV 'STORE_ID' SECRET ENV 'STORE_WRONG' ENDPOINT '${endpoint}'`,
      );
      // A certificate is held to the name, not to the address.
      await ask(`CREATE EXTERNAL SOURCE other (id INT) FROM 's3://bucket/names.csv' FORMAT CSV KEY id
        ENDPOINT 'https://127.0.0.1:${s3.found}'`);
      match(await failure("REFRESH other"), /^42501 /);
    }
    if (azure !== null) {
      const endpoint = `https://localhost:${azure.found}/${AZURE.account}`;
      const put = async (
        path: string,
        body: Uint8Array<ArrayBuffer> | null,
        more: Record<string, string>,
      ) => {
        const url = new URL(endpoint + path);
        const sent: Record<string, string> = {
          ...more,
          "x-ms-date": new Date().toUTCString(),
          "x-ms-version": "2021-08-06",
          ...(body === null ? {} : { "content-length": String(body.length) }),
        };
        const headers = sharedKeyHeaders({ method: "PUT", url, headers: sent }, AZURE) ?? {};
        const answer = await fetch(url, { method: "PUT", headers, body, client });
        strictEqual(answer.status, 201, await answer.text());
      };
      await put("/container?restype=container", null, {});
      const blob = { "x-ms-blob-type": "BlockBlob" };
      await put("/container/folder/rows%20%C3%BC%2B1.parquet", parquet, blob);
      await put("/container/names.csv", csv, blob);
      await check(
        "azure",
        (key) => `az://container/${key}`,
        `AUTH AZURE ACCOUNT '${AZURE.account}' KEY ENV 'STORE_KEY' ENDPOINT '${endpoint}'`,
        `AUTH AZURE ACCOUNT '${AZURE.account}' KEY ENV 'STORE_WRONG' ENDPOINT '${endpoint}'`,
      );
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
