/**
 * Compares compiled code with the interpreter on generated programs, and makes a program on which they differ small.
 */
import { PackageAnalyzer } from "../../../lang/check/package_analysis.ts";
import { compiledOutput } from "../../lang/compiled.ts";
import { checkedProgram, interpretedOutput } from "../../lang/interpreted.ts";
import { shrink } from "../choices.ts";
import { programOf, programOfSeed } from "./statements.ts";

/** A program on which the two differ. */
export interface Disagreement {
  readonly seed: number;
  readonly text: string;
  readonly interpreted: string;
  readonly compiled: string;
}

interface Answers {
  readonly interpreted: string;
  readonly compiled: string;
}

// One analyzer for all programs, so that the library is declared once.
const analyzer = new PackageAnalyzer();

/** What an evaluator says, or how it fails. */
function told(evaluate: () => string): string {
  try {
    return evaluate();
  } catch (error) {
    // Faults and errors of the engine; that a program is refused is an error of the generator or the checker.
    return `# ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
  }
}

/** What both say of a program; the same object of answers for what is refused by the checker. */
export function answersTo(text: string): Answers {
  try {
    const program = checkedProgram(text, analyzer);
    return {
      interpreted: told(() => interpretedOutput(program)),
      compiled: told(() => compiledOutput(program)),
    };
  } catch (error) {
    const refused = told(() => {
      throw error;
    });
    return { interpreted: refused, compiled: refused };
  }
}

/** Whether both agree, and neither failed. */
export function agrees({ interpreted, compiled }: Answers): boolean {
  return interpreted === compiled && !interpreted.startsWith("# ");
}

/**
 * Runs the program of a seed; null when both evaluators agree, else the smallest program found on which they differ.
 */
export async function compareProgram(seed: number, attempts = 600): Promise<Disagreement | null> {
  const { text, record } = programOfSeed(seed);
  const first = answersTo(text);
  if (agrees(first)) return null;
  // While it is made smaller, a failure must stay of its kind.
  const kind = kindOf(first);
  const small = await shrink(
    record,
    (candidate) => Promise.resolve(kindOf(answersTo(programOf(candidate))) === kind),
    attempts,
  );
  const smallText = programOf(small);
  return { seed, text: smallText, ...answersTo(smallText) };
}

function kindOf(answers: Answers): string {
  if (agrees(answers)) return "agreement";
  const { interpreted, compiled } = answers;
  const shape = (answer: string) =>
    answer.startsWith("# ") ? answer.replace(/\d+/g, "0").slice(0, 60) : "text";
  return `${shape(interpreted)} / ${shape(compiled)}`;
}
