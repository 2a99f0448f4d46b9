/** `dbd health [HTTP_ADDR]`: asks a server on this machine whether it serves, for health checks of containers. */
import { get as getInClear, type IncomingMessage } from "node:http";
import { get as getOverTls } from "node:https";
import { type Address, formatAddress } from "../../gateways/binary/address.ts";

const TIMEOUT_MILLISECONDS = 4_000;

/** Asks `/v1/health`; prints what it answers, and returns the exit code: 0 when it serves. */
export async function health(
  target: { readonly address: Address; readonly isSecure: boolean },
  options: { print(line: string): void },
): Promise<number> {
  const { address, isSecure } = target;
  const url = `${isSecure ? "https" : "http"}://${formatAddress(reachable(address))}/v1/health`;
  try {
    const { status, text } = await ask(url, isSecure);
    options.print(text.trim());
    return status === 200 ? 0 : 1;
  } catch (error) {
    options.print(`${url} does not answer: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}

/**
 * One request. The certificate is not checked: it is for the name that clients use, not for this machine's address,
 * nothing secret is said, and a restart does not renew an expired one.
 */
function ask(url: string, isSecure: boolean): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => request.destroy(new Error(`nothing came in ${TIMEOUT_MILLISECONDS / 1000} seconds`)),
      TIMEOUT_MILLISECONDS,
    );
    const finish = (response: IncomingMessage): void => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => text += piece);
      response.once("error", reject);
      response.once("end", () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, text });
      });
    };
    const request = isSecure
      ? getOverTls(url, { rejectUnauthorized: false, agent: false }, finish)
      : getInClear(url, { agent: false }, finish);
    request.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

/** An address that a server listens on for everybody, as this machine reaches it. */
function reachable({ hostname, port }: Address): Address {
  return { hostname: hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname, port };
}
