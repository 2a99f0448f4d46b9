/**
 * An S3 server over HTTPS: `s3_server.ts CERTIFICATE KEY FOLDER` prints its port. The server does not check signatures
 * of version 4, so they are compared with those of another implementation first. The names of packages are variables,
 * so that the type check of the project does not need them.
 */
const [certificate = "", key = "", directory = ""] = Deno.args;
const packages = { server: "s3rver", signer: "aws4fetch" };
const { default: S3rver } = await import(packages.server);
const { AwsV4Signer } = await import(packages.signer);

const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  cert: Deno.readTextFileSync(certificate),
  key: Deno.readTextFileSync(key),
  configureBuckets: [{ name: "bucket" }],
});

/** What a request's signature should be; null when it has none. */
async function expectedSignature(
  method: string,
  url: string,
  headers: Record<string, string>,
): Promise<string | null> {
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? "")?.[1]?.split(";");
  if (names === undefined) return null;
  const signed = Object.fromEntries(
    names.filter((name) => name !== "host").map((name) => [name, headers[name] ?? ""]),
  );
  const signer = new AwsV4Signer({
    method,
    url,
    headers: signed,
    accessKeyId: "S3RVER",
    secretAccessKey: "S3RVER",
    service: "s3",
    region: "us-east-1",
    datetime: headers["x-amz-date"],
    allHeaders: true,
  });
  const result = await signer.sign();
  return /Signature=(\w+)/.exec(result.headers.get("authorization") ?? "")?.[1] ?? "";
}

interface Context {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  status: number;
  body: string;
  set(name: string, value: string): void;
}

server.middleware.unshift(async (context: Context, next: () => Promise<void>) => {
  const { method, url, headers } = context;
  // After a body that is a file's, this server does not answer what comes next on the connection.
  context.set("connection", "close");
  const expected = await expectedSignature(method, `https://${headers.host}${url}`, headers);
  const given = /Signature=(\w+)/.exec(headers.authorization ?? "")?.[1] ?? null;
  if (expected === given) return await next();
  context.status = 403;
  context.body = "<Error><Code>SignatureDoesNotMatch</Code></Error>";
});

const { port } = await server.run();
console.log(`port ${port}`);
