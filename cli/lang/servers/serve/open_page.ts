/** Opens a page in the browser that the system prefers. */
import type { Context } from "../../shared/context.ts";

const OPENERS: Readonly<Partial<Record<typeof Deno.build.os, readonly string[]>>> = {
  darwin: ["open"],
  windows: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens it; a system without such a program gets the address to open by hand. */
export function openPage(context: Context, address: string): void {
  const [program = "xdg-open", ...parameters] = OPENERS[Deno.build.os] ?? ["xdg-open"];
  try {
    const command = new Deno.Command(program, {
      args: [...parameters, address],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    });
    // The browser may stay open for longer than the server.
    command.spawn().unref();
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? `there is no ${program}` : String(error);
    context.terminal.writeError(`Cannot open the browser: ${reason}; the page is ${address}\n`);
  }
}
