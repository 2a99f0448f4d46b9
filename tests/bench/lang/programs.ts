/**
 * The programs that are measured: what they are called, how large the work is, and what comes out of it in every
 * language.
 */
import type { Scale } from "../benchmark.ts";

/** A program that is in `programs/` three times: `.lang`, `.as` and `.js`. */
export interface Program {
  /** Its files' name. */
  readonly name: string;
  readonly title: string;
  /** The argument of `run`, and what it has to answer. */
  readonly works: Readonly<Record<Scale, Work>>;
}

/** One call. */
export interface Work {
  readonly size: number;
  readonly answer: number;
}

/** All programs. */
export const PROGRAMS: readonly Program[] = [
  program("n_body", "n-body", [1_000, -0.1690876052346246], [1_000_000, -0.16908618459857602]),
  program("spectral_norm", "spectral norm", [50, 1.2741938369830932], [1_000, 1.2742241481294836]),
  program("fannkuch", "fannkuch", [7, 22_816], [10, 7_319_638]),
  program("mandelbrot", "Mandelbrot", [64, 24_715_858], [800, 1_346_641_204]),
  program("hash_map", "hash map", [1_000, 1_350_104_627], [500_000, 1_528_914_198]),
  program("binary_trees", "binary trees", [6, 4_398], [15, 6_444_382]),
  program("strings", "string building", [100, -510_529_477], [60_000, -1_595_508_811]),
];

function program(
  name: string,
  title: string,
  smoke: readonly [size: number, answer: number],
  full: readonly [size: number, answer: number],
): Program {
  return {
    name,
    title,
    works: { smoke: { size: smoke[0], answer: smoke[1] }, full: { size: full[0], answer: full[1] } },
  };
}
