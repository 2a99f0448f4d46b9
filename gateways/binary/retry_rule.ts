/**
 * Which requests only read, so that they can be made again when their answer was lost. Whatever is not sure is a
 * change.
 */
import type { Operation } from "../shared/operation/operation.ts";

/** Functions that change something although they are in a query. */
const CHANGING_FUNCTIONS = /\b(nextval|setval|set_config|pg_advisory\w*|lo_\w+)\s*\(/i;
const READING_STATEMENT = /^\s*(select|values|table|show|describe|explain(?!\s+(\(\s*)?analy[sz]e))\b/i;

/** Whether the operation only reads. */
export function isRead(operation: Operation): boolean {
  switch (operation.kind) {
    case "sql": {
      const { text } = operation;
      // Several statements, locks and SELECT INTO are left to the careful way.
      return READING_STATEMENT.test(text) && !/;\s*\S/.test(text) && !CHANGING_FUNCTIONS.test(text) &&
        !/\b(for\s+(update|share|no\s+key|key\s+share)|into)\b/i.test(text);
    }
    case "get":
    case "find":
    case "find_range":
    case "scan":
    case "select":
    case "aggregate":
    case "describe":
    case "list_tables":
    case "stats":
    case "ping":
      return true;
    case "create":
    case "update":
    case "delete":
    case "txn":
    case "ddl":
    case "snapshot":
      return false;
  }
}
