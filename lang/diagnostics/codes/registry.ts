/**
 * The registry of codes: one list for each phase, put together.
 *
 * `SY` syntax, `NM` names, `TY` types, `EF` effects, `MX` matching, `MV` mutation and exclusivity, `GC` gas and cost,
 * `MD` modules, `PK` packages, `LI` lint, `IC` internal error. A code once given is never given another meaning.
 */
import type { CodePage } from "./code_page.ts";
import { EFFECT_PAGES } from "./effects.ts";
import { INTERNAL_PAGES } from "./internal.ts";
import { LINT_PAGES } from "./lint.ts";
import { MATCHING_PAGES } from "./matching.ts";
import { MODULE_PAGES } from "./modules.ts";
import { MUTATION_PAGES } from "./mutation.ts";
import { NAME_PAGES } from "./names.ts";
import { PACKAGE_PAGES } from "./packages.ts";
import { SYNTAX_PAGES } from "./syntax.ts";
import { MORE_SYNTAX_PAGES } from "./syntax_more.ts";
import { TYPE_PAGES } from "./types.ts";

export type { CodePage } from "./code_page.ts";

/** All pages, in the order of the phases. */
export const CODE_PAGES: readonly CodePage[] = [
  ...SYNTAX_PAGES,
  ...MORE_SYNTAX_PAGES,
  ...NAME_PAGES,
  ...TYPE_PAGES,
  ...EFFECT_PAGES,
  ...MATCHING_PAGES,
  ...MUTATION_PAGES,
  ...MODULE_PAGES,
  ...PACKAGE_PAGES,
  ...LINT_PAGES,
  ...INTERNAL_PAGES,
];

const byCode = new Map(CODE_PAGES.map((page) => [page.code, page]));

/** The page of a code, or undefined. */
export function findCodePage(code: string): CodePage | undefined {
  return byCode.get(code);
}

/** The page of a code that the compiler reports. */
export function codePage(code: string): CodePage {
  const page = byCode.get(code);
  if (page === undefined) throw new Error(`Cannot find the page of ${code}: it is not in the registry`);
  return page;
}
