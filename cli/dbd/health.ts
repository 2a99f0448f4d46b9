/** `dbd health [HTTP_ADDR]`: asks a server on this machine whether it serves, for health checks of containers. */
import { type Address, formatAddress } from "../../gateways/binary/address.ts";

const TIMEOUT_MILLISECONDS = 4_000;

/** Asks `/v1/health`; prints what it answers, and returns the exit code: 0 when it serves. */
export async function health(
  address: Address,
  options: { print(line: string): void },
): Promise<number> {
  const url = `http://${formatAddress(reachable(address))}/v1/health`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) });
    options.print((await answer.text()).trim());
    return answer.status === 200 ? 0 : 1;
  } catch (error) {
    options.print(`${url} does not answer: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}

/** An address that a server listens on for everybody, as this machine reaches it. */
function reachable({ hostname, port }: Address): Address {
  return { hostname: hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname, port };
}
