/** All attacks, each with its sizes and the memory that it may cost the server. */
import { BINARY_ATTACKS } from "./binary_attacks.ts";
import { HTTP_ATTACKS } from "./http_attacks.ts";
import { PG_ATTACKS } from "./pg_attacks.ts";
import type { Target } from "./target.ts";

/** What a hostile client does; raises when the server's answer is not the documented one. */
export interface Attack {
  readonly name: string;
  /** How much of it is done within the tests. */
  readonly small: number;
  /** How much of it `deno task soak:hostile` does. */
  readonly large: number;
  /** By how much the server's resident memory may grow meanwhile, garbage included, in MiB. */
  readonly grownMebibytes: number;
  run(target: Target, size: number): Promise<void>;
}

/** All attacks, each with its sizes and the memory that it may cost the server. */
export const ATTACKS: readonly Attack[] = [...PG_ATTACKS, ...HTTP_ATTACKS, ...BINARY_ATTACKS];
