/** All that `deno task bench lang` measures. */
import { AGENT_NAMES, measureAgent } from "./agent.ts";
import type { Comparison } from "../benchmark.ts";
import type { LanguageOptions } from "./options.ts";
import { measureServe, SERVE_NAMES } from "./serve.ts";
import { measurePackages, PACKAGE_NAMES } from "./packages.ts";
import { measureSpeed, SPEED_NAMES } from "./speed.ts";
import { measureToolchain, TOOLCHAIN_NAMES } from "./toolchain.ts";

/** Groups by the name that they are asked for: what they measure, and how. */
export const LANGUAGE_GROUPS: Readonly<
  Record<string, {
    readonly benchmarks: readonly string[];
    measure(options: LanguageOptions, tell: (result: Comparison) => void): Promise<readonly Comparison[]>;
  }>
> = {
  "lang-speed": { benchmarks: SPEED_NAMES, measure: measureSpeed },
  "lang-toolchain": { benchmarks: TOOLCHAIN_NAMES, measure: measureToolchain },
  "pkg": { benchmarks: PACKAGE_NAMES, measure: measurePackages },
  "agent": {
    benchmarks: [...AGENT_NAMES, ...SERVE_NAMES],
    measure: async (
      options,
      tell,
    ) => [...await measureAgent(options, tell), ...await measureServe(options, tell)],
  },
};

/** What `lang` stands for. */
export const LANGUAGE = Object.keys(LANGUAGE_GROUPS);
