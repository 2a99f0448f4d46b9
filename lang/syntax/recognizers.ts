/** All recognizers of errors, the most certain first. */
import type { Recognizer } from "./error_context.ts";
import { bracketRecognizers, lateBracketRecognizers } from "./recognize_brackets.ts";
import { declarationRecognizers, lateDeclarationRecognizers } from "./recognize_declarations.ts";
import { habitRecognizers } from "./recognize_habits.ts";
import { operatorRecognizers } from "./recognize_operators.ts";
import { lateStatementRecognizers, statementRecognizers } from "./recognize_statements.ts";

/** In the order in which they are asked. */
export const recognizers: readonly Recognizer[] = [
  ...habitRecognizers,
  ...statementRecognizers,
  ...declarationRecognizers,
  ...operatorRecognizers,
  ...bracketRecognizers,
  ...lateStatementRecognizers,
  ...lateBracketRecognizers,
  ...lateDeclarationRecognizers,
];
