/** PREPARE, EXECUTE and DEALLOCATE: prepared statements by name, shared with the protocol's named statements. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { Deallocate, Execute, Prepare } from "../../sql/parser/ast.ts";
import { bindConstantArguments, typeOfName } from "../../sql/binder/standalone.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { SqlValue } from "../../types/value.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import type { Prepared } from "../prepared.ts";
import type { PreparedHost } from "../statement_host.ts";

/** PREPARE. */
export function prepareByName(session: PreparedHost, statement: Prepare): StatementOutcome {
  const { name } = statement;
  if (session.preparedByName.has(name)) {
    throw new DatabaseError(
      SQLSTATE.duplicatePreparedStatement,
      `prepared statement "${name}" already exists`,
    );
  }
  if (session.preparedByName.size >= LIMITS.maximumPreparedStatements) {
    throw new DatabaseError(
      SQLSTATE.configurationLimitExceeded,
      "too many prepared statements in this session",
      {
        hint: `The limit is ${LIMITS.maximumPreparedStatements}; DEALLOCATE those that are no longer needed.`,
      },
    );
  }
  const types = statement.types.map((type) =>
    typeOfName(type, session.catalog, session.evaluation.searchPath)
  );
  const parsed = session.engine.parse(statement.text)[0] ?? null;
  session.preparedByName.set(name, session.prepareParsed(statement.text, parsed, types));
  return session.outcome("PREPARE", null, "done");
}

/** Columns of EXECUTE. */
export function executeColumns(session: PreparedHost, statement: Execute): readonly ResultColumn[] | null {
  return find(session, statement.name).columns;
}

/** EXECUTE. */
export function executeByName(
  session: PreparedHost,
  statement: Execute,
  sink: ResultSink,
): MaybePromise<StatementOutcome> {
  const { prepared, values } = executed(session, statement);
  return session.executePrepared(prepared, values, sink);
}

/** What EXECUTE runs, and with which arguments. */
export function executed(
  session: PreparedHost,
  statement: Execute,
): { readonly prepared: Prepared; readonly values: readonly SqlValue[] } {
  const prepared = find(session, statement.name);
  const wanted = prepared.parameterTypes.length;
  if (statement.arguments.length !== wanted) {
    throw new DatabaseError(
      SQLSTATE.syntaxError,
      `wrong number of parameters for prepared statement "${statement.name}"`,
      { detail: `Expected ${wanted} parameters but got ${statement.arguments.length}.` },
    );
  }
  const values = bindConstantArguments(
    statement.arguments,
    prepared.parameterTypes,
    session.planEnvironment("", []),
  );
  return { prepared, values };
}

/** DEALLOCATE. */
export function deallocate(session: PreparedHost, statement: Deallocate): StatementOutcome {
  if (statement.name === null) {
    session.preparedByName.clear();
    return session.outcome("DEALLOCATE ALL", null, "done");
  }
  find(session, statement.name);
  session.preparedByName.delete(statement.name);
  return session.outcome("DEALLOCATE", null, "done");
}

function find(session: PreparedHost, name: string): Prepared {
  const prepared = session.preparedByName.get(name);
  if (prepared === undefined) {
    throw new DatabaseError(SQLSTATE.invalidSqlStatementName, `prepared statement "${name}" does not exist`);
  }
  return prepared;
}
