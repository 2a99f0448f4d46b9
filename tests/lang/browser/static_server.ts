/** A file server as plain as any: the files of a folder by their paths, each with the type that its extension has. */

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  wasm: "application/wasm",
  svg: "image/svg+xml",
  wav: "audio/wav",
};

/** A server that runs until it is disposed. */
export interface StaticServer extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly address: string;
}

/** Serves a folder on a free port of the loopback address. */
export function serveFolder(folder: string): StaticServer {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname.replace(/\/$/, "/index.html");
    try {
      const bytes = await Deno.readFile(folder + path);
      const type = TYPES[path.split(".").at(-1) ?? ""] ?? "application/octet-stream";
      return new Response(bytes, { headers: { "content-type": type } });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return new Response("not found", { status: 404 });
      throw error;
    }
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
