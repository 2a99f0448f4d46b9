/**
 * The evaluation context of constant folding: immutable functions never look at it, and whatever does is not folded.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { EvaluationContext } from "../functions/definition.ts";

function notConstant(): never {
  throw new DatabaseError(SQLSTATE.featureNotSupported, "Cannot evaluate at planning time");
}

/**
 * The evaluation context of constant folding: immutable functions never look at it, and whatever does is not folded.
 */
export const foldingContext: EvaluationContext = {
  transactionTimestamp: 0,
  statementTimestamp: 0,
  timeZone: "UTC",
  dateStyle: "ISO, MDY",
  intervalStyle: "postgres",
  byteaOutput: "hex",
  user: "",
  database: "",
  searchPath: ["public"],
  random: notConstant,
  randomBytes: notConstant,
  clockTimestamp: notConstant,
  services: {
    nextSequenceValue: notConstant,
    currentSequenceValue: notConstant,
    lastSequenceValue: notConstant,
    setSequenceValue: notConstant,
    getSetting: notConstant,
    setSetting: notConstant,
    catalogFunction: notConstant,
  },
};
