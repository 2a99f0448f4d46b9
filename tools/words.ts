/**
 * Words that this project does not use, each with the one that stands for it everywhere: `docs/glossary.md` defines
 * those.
 *
 * The tidy check looks for them. Where a word is right in another place, the rule is for the folders where it is not.
 */

/** A word, or a form of names, that is refused. */
export interface RefusedWord {
  readonly pattern: RegExp;
  readonly instead: string;
  /** The paths that it is refused in; everywhere when absent. */
  readonly within?: RegExp;
}

const inExecution = /^engine\/execution\//;
const inStorage = /^engine\/(storage|transactions)\//;
/** The language and its tests. */
const inLanguage = /^(lang\/|cli\/lang|tests\/lang\/).*\.(ts|js)$/;

/** The database and its tools. */
const inDatabase = /^(engine|gateways|registry|tools|cli(?!\/lang\/))\/.*\.ts$/;

/** All of them. */
export const refusedWords: readonly RefusedWord[] = [
  {
    pattern: /\b(MAXIMUM|MOST|LONGEST|LARGEST|HIGHEST)_[A-Z]|\b[A-Z][A-Z_0-9]*_MAX(IMUM)?\b/,
    instead: "MAX_…",
  },
  { pattern: /colour/i, instead: "color" },
  { pattern: /(?<!notifications\/)cancelled/i, instead: "canceled" },
  { pattern: /catalogue/i, instead: "catalog" },
  { pattern: /neighbour/i, instead: "neighbor" },
  { pattern: /behaviour/i, instead: "behavior" },
  { pattern: /analys(ed|er|ing)/i, instead: "analyze" },
  {
    pattern:
      /(normal|initial|serial|material|recogn|capital|special|general|minim|maxim|optim)is(e|ed|er|es|ing|ation)\b/i,
    instead: "-ize",
  },
  {
    pattern: /\b(stages?|stepping|quota)\b/,
    instead: "pipeline, resumable, batch size",
    within: inExecution,
  },
  {
    pattern: /\bStage[A-Z]|\bisStepping\b|\bsettl(e|ed|ing)\b/,
    instead: "pipeline, resumable, flush",
    within: inExecution,
  },
  { pattern: /[oO]verlays?\b|\bOverlay[A-Z]/, instead: "write set", within: inStorage },
  { pattern: /\b(DeadRuns|deadRuns)\b/, instead: "tombstone ranges", within: inStorage },
  { pattern: /\bwitness/i, instead: "second file descriptor", within: inStorage },
  { pattern: /\bOutsideEffects\b/, instead: "non-transactional side effects" },
  { pattern: /\bHeldRelation\b/, instead: "materialized CTE" },
  { pattern: /[mM]ixedInteger/, instead: "number-or-bigint" },
  { pattern: /\bLiftedLiteral\b/, instead: "auto-parameterized literal" },
  {
    pattern: /\bmend(s|ed|ing)?\b|\bMend|[mM]ended[A-Z]|\bmend[A-Z]/,
    instead: "fix, repair",
    within: inLanguage,
  },
  {
    pattern: /^\s*(\/\/|\/?\*).*\b(mend(s|ed|ing)?|[sS]omebody|(is|are|was|were|be|been) told)\b/,
    instead: "repair, another session (or the passive), sent or reported",
    within: inDatabase,
  },
  { pattern: /\b(?!open)[A-Za-z]*World\b/, instead: "ModuleGraph, …Environment", within: inLanguage },
  { pattern: /\b[mM]istake|[a-z]Mistake/, instead: "error", within: inLanguage },
  { pattern: /\b(tell|tells|told)[A-Z]|\w(Told|Tell)\b|\bTold/, instead: "report", within: inLanguage },
  { pattern: /\bl(end|ends|ent)\b|\blend[A-Z]/, instead: "borrow, pass as inout", within: inLanguage },
  { pattern: /\b[sS]keleton/, instead: "module interface", within: inLanguage },
  {
    pattern: /\b(Symbol|Trap|Reported|Cost|Code|Test|Error)Place\b/,
    instead: "…Position",
    within: inLanguage,
  },
];
