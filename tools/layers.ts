/**
 * The layer table of the project and the one judgment made with it: may this file import that file?
 *
 * Read by the lint plugin (one file at a time, in the editor) and by `check_layers.ts` (the whole graph, cycles
 * included), so both always say the same. All paths here are relative to the project root with `/` between
 * segments. An arrow may only point down, that is from a higher rank to a lower one, or stay inside one layer; layers
 * of equal rank are siblings, which may use each other as long as the whole graph has no cycle between folders.
 */

/** One layer: a folder (or a single file) and its height. */
export interface Layer {
  /** Folder without a trailing slash, or a file name, relative to the project root. */
  readonly path: string;
  /** Height; imports go to lower ranks only. */
  readonly rank: number;
}

/**
 * Every place where product code may be. A file below `engine/` that matches no line is refused: a new
 * layer starts with a line here, and with its reason in `docs/architecture.md`.
 */
export const layers: readonly Layer[] = [
  { path: "mod.ts", rank: 105 },
  { path: "cli", rank: 100 },
  { path: "gateways", rank: 90 },
  { path: "engine/parallel", rank: 86 },
  { path: "engine/sharding", rank: 85 },
  { path: "engine/session", rank: 80 },
  { path: "engine/external", rank: 79 },
  { path: "engine/statements", rank: 78 },
  { path: "engine/replication", rank: 75 },
  { path: "engine/system_catalog", rank: 72 },
  { path: "engine/execution", rank: 70 },
  { path: "engine/sql", rank: 60 },
  { path: "engine/transactions", rank: 40 },
  { path: "engine/functions", rank: 35 },
  { path: "engine/state_machine", rank: 35 },
  { path: "engine/storage", rank: 30 },
  { path: "engine/catalog", rank: 20 },
  { path: "engine/operations", rank: 20 },
  { path: "engine/settings", rank: 15 },
  { path: "engine/wasm", rank: 10 },
  { path: "engine/types", rank: 10 },
  { path: "engine/host", rank: 5 },
  { path: "engine/base", rank: 0 },
];

/**
 * The folders of the language. It is no part of the engine's tower, so their ranks are compared with each other only.
 */
const languageLayers: readonly Layer[] = [
  { path: "lang/servers", rank: 80 },
  { path: "lang/commands", rank: 70 },
  { path: "lang/ide", rank: 65 },
  { path: "lang/testing", rank: 60 },
  { path: "lang/host", rank: 55 },
  { path: "lang/compiler", rank: 50 },
  { path: "lang/wasm", rank: 45 },
  { path: "lang/ir", rank: 40 },
  { path: "lang/check", rank: 30 },
  { path: "lang/interpret", rank: 25 },
  { path: "lang/package", rank: 20 },
  { path: "lang/library", rank: 15 },
  { path: "lang/syntax", rank: 12 },
  { path: "lang/typed", rank: 10 },
  { path: "lang/types", rank: 8 },
  { path: "lang/diagnostics", rank: 5 },
  { path: "lang/page_runtime", rank: 1 },
  { path: "lang/templates", rank: 1 },
  { path: "lang/source", rank: 0 },
  { path: "lang/limits.ts", rank: 0 },
];

/** Parts of the product outside the engine's tower: they may use themselves and `engine/base`. */
const independentParts: readonly string[] = ["lang", "registry"];

/** Folders that a build may leave out; only the feature modules of `cli/features/` may link them. */
const optionalFolders: readonly string[] = [
  "gateways/http",
  "gateways/pg",
  "gateways/tls",
  "engine/external",
];

/** Gateway folders that hold what several gateways share, and may therefore be imported by any of them. */
const sharedGatewayFolders: readonly string[] = ["gateways/shared"];

/** The layers without `await`: everything inside a statement is synchronous, see rule 5 of the architecture. */
export const synchronousCore: readonly string[] = [
  "engine/base",
  "engine/types",
  "engine/wasm",
  "engine/catalog",
  "engine/operations",
  "engine/sql",
  "engine/execution",
  "engine/state_machine",
  "engine/transactions",
];

/** Files of the synchronous core that may be asynchronous, each with its reason. */
export const synchronousCoreExceptions: readonly string[] = [
  // Waiting for another transaction's row lock is the one wait of a statement; the session awaits it.
  "engine/transactions/lock_table.ts",
];

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/**
 * Whether the file is a test or test support, which may import anything and which no product file may import.
 * `lang/testing` runs the tests of programs.
 */
export function isTestFile(path: string): boolean {
  return /(^|\/)(\w+_)?(test|bench|testing)\.tsx?$/.test(path) ||
    /(^|\/)oracle\//.test(path) ||
    /(^|\/)testing\//.test(path) && !isWithin(path, "lang/testing") ||
    isWithin(path, "tests") || isWithin(path, "tools");
}

/** Whether the file is product code, whose imports the layer table rules. */
export function isProductFile(path: string): boolean {
  return !isTestFile(path) &&
    (path === "mod.ts" ||
      ["cli", "gateways", "engine", ...independentParts].some((folder) => isWithin(path, folder)));
}

/** The layer that a file is in, or `undefined` when the table has none for it. */
export function layerOf(path: string, table: readonly Layer[] = layers): Layer | undefined {
  return table.find((layer) => isWithin(path, layer.path));
}

/** The gateway that a file belongs to. */
function gatewayOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

/** Files that import each other, and why they stay as they are. */
export interface KnownCycle {
  /** The folder that all of them are in. */
  readonly folder: string;
  /** How many there are. More fail the check, and so do fewer: then this number is to be lowered. */
  readonly files: number;
  readonly reason: string;
}

/** Every import cycle between files of the product. A new one fails the check. */
export const knownCycles: readonly KnownCycle[] = [
  {
    folder: "engine/sql/binder",
    files: 18,
    reason: "expressions hold queries and queries hold expressions: mutually recursive visitors",
  },
  {
    folder: "lang/check",
    files: 14,
    reason:
      "expressions hold statements (blocks, closures) and statements expressions: mutually recursive visitors",
  },
  { folder: "lang/ir/lower", files: 11, reason: "the same recursion, one phase later" },
  { folder: "engine/sql/parser", files: 7, reason: "expressions hold queries: recursive descent" },
  {
    folder: "engine/types",
    files: 6,
    reason: "a value may be an array, an interval or a decimal, and each is made of values",
  },
  {
    folder: "engine/transactions",
    files: 7,
    reason: "a transaction, its manager, its locks and what brings its rows up to date know each other",
  },
  { folder: "lang/check", files: 2, reason: "a pattern of a constructor holds patterns" },
  { folder: "lang/ir/lower", files: 2, reason: "a program makes the frames of its functions" },
  { folder: "lang/interpret", files: 5, reason: "statements call functions, whose bodies are statements" },
  {
    folder: "engine/execution/codegen",
    files: 4,
    reason: "a region emits pipelines whose code is made with the region",
  },
  {
    folder: "engine/system_catalog",
    files: 4,
    reason: "shapes of relations refer to each other's types",
  },
  {
    folder: "engine/execution/codegen",
    files: 3,
    reason: "conditions hold expressions, expressions hold conditions and subqueries",
  },
  {
    folder: "engine/sql/functions",
    files: 3,
    reason: "casts between numbers and dates are found in the one table of casts",
  },
  { folder: "lang/check", files: 3, reason: "a module's body, tests and lint are checked in one walk" },
  {
    folder: "lang/servers/agent",
    files: 3,
    reason: "operations on symbols and programs begin further operations",
  },
  { folder: "engine/sql/plan", files: 2, reason: "plans hold expressions, expressions hold plans" },
  { folder: "engine/storage/table", files: 2, reason: "a reader is made by the store that it reads" },
  { folder: "engine/sql/parser", files: 2, reason: "expressions hold queries, queries hold expressions" },
  {
    folder: "engine/sql/parser",
    files: 2,
    reason: "statements hold definitions, CREATE SCHEMA holds statements",
  },
  {
    folder: "engine/sql/definition",
    files: 2,
    reason: "ALTER TYPE changes tables, ALTER TABLE types of columns",
  },
  { folder: "lang/check", files: 2, reason: "declarations hold types, and types name declarations" },
  {
    folder: "lang/check",
    files: 2,
    reason: "bodies are checked for what interfaces ask, which may be bodies",
  },
  { folder: "lang/testing", files: 2, reason: "a property runs jobs, and a job may be a property" },
  { folder: "registry/resolution", files: 2, reason: "a conflict is explained by resolving again" },
  { folder: "cli/lang/pkg", files: 2, reason: "the table of commands and what runs them" },
];

/** Folders that import each other, by their sorted names, with the reason. A new group fails the check. */
export const knownFolderCycles: ReadonlyMap<string, string> = new Map();

/** One import: who imports whom, and whether only types are wanted. */
export interface Import {
  /** The importing file. */
  readonly from: string;
  /** The imported file. */
  readonly to: string;
  /** Whether the import is erased at run time. */
  readonly typeOnly: boolean;
}

/** Why a file may not import another of the same table, or `undefined` when it may. */
function rankViolation(
  { from, to, table }: { readonly from: string; readonly to: string; readonly table: readonly Layer[] },
): string | undefined {
  const [upper, lower] = [layerOf(from, table), layerOf(to, table)];
  if (upper === undefined || lower === undefined) {
    return `${upper === undefined ? from : to} is in no layer of tools/layers.ts`;
  }
  if (upper.rank >= lower.rank) return undefined;
  return `${upper.path} may not import ${lower.path}: imports only point down`;
}

function independentViolation(from: string, to: string): string | undefined {
  const part = independentParts.find((folder) => isWithin(from, folder));
  if (part === "lang" && isWithin(to, part)) return rankViolation({ from, to, table: languageLayers });
  if (part === undefined || isWithin(to, part) || isWithin(to, "engine/base")) return undefined;
  return `${part}/ may depend on itself and engine/base only, not on ${to}`;
}

function gatewayViolation({ from, to, typeOnly }: Import): string | undefined {
  if (from.startsWith("gateways/") && to.startsWith("gateways/")) {
    const [mine, theirs] = [gatewayOf(from), gatewayOf(to)];
    const shared = theirs.endsWith(".ts") || sharedGatewayFolders.includes(theirs);
    return mine === theirs || shared ? undefined : `gateways do not import each other: ${mine} imports ${to}`;
  }
  const optional = optionalFolders.find((folder) => isWithin(to, folder));
  if (optional === undefined || typeOnly || isWithin(from, "cli/features")) return undefined;
  if (isWithin(from, optional)) return undefined;
  return `only cli/features/ may link ${optional}, so that a build without the feature leaves it out`;
}

/** Why the import is not allowed, or `undefined` when it is. */
export function importViolation(edge: Import): string | undefined {
  const { from, to } = edge;
  if (!isProductFile(from)) return undefined;
  if (isTestFile(to)) return `product code may not import test support or tools: ${to}`;
  // A page of the documentation is text to whoever hands it on; it imports nothing.
  if (/^docs\/[^/]+\.md$/.test(to)) return undefined;
  const independent = independentParts.some((folder) => isWithin(from, folder));
  if (independent) return independentViolation(from, to);
  if (independentParts.some((folder) => isWithin(to, folder))) {
    return isWithin(from, "cli") ? undefined : `only cli/ may import ${to}`;
  }
  return rankViolation({ from, to, table: layers }) ?? gatewayViolation(edge);
}
