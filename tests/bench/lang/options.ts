/** What `deno task bench lang` is asked for. */
import type { Scale } from "../benchmark.ts";

/** Options of all measurements of the language. */
export interface LanguageOptions {
  readonly scale: Scale;
  readonly rounds: number;
  /** Without peers whose packages would have to be fetched. */
  readonly alone: boolean;
  /** A compiled `lang` in the sources' place. */
  readonly binary: string | null;
  /** Of a cluster, the rows whose names have this text; absent: all. */
  readonly rows?: string;
  /** Takes what could not run, and why. */
  readonly missing: string[];
}
