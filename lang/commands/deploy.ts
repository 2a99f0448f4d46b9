/**
 * `deploy`: a package for the target `wasm32-db` as statements of SQL, one CREATE FUNCTION for each public function of
 * its root module, with the function's documentation as COMMENT and its bound of gas as GAS.
 */
import { type ColumnType, columnTypeOf, isExported } from "../check/column_types.ts";
import { lowerProgram } from "../compiler/compile.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { CostBounds } from "../ir/cost_bound.ts";
import { exportName } from "../ir/lower/entry.ts";
import type { TypedFunction, TypedModule, TypedProgram } from "../typed/tree.ts";
import type { Type } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import { build } from "./build.ts";
import { CommandError } from "./command_error.ts";
import type { Workspace } from "./workspace.ts";

/** A function that is deployed. */
export interface DeployedFunction {
  /** As SQL calls it: `price(integer, bigint)`. */
  readonly signature: string;
  /** Instructions that one call may take; null: the database's default, because there is no constant bound. */
  readonly gas: number | null;
}

/** What deploying a package comes to. */
export interface DeployPlan {
  readonly functions: readonly DeployedFunction[];
  /** To be run in one transaction. */
  readonly statements: readonly string[];
  /** Size of the module. */
  readonly bytes: number;
}

/**
 * Most instructions that a step of gas stands for: an operation has at most two operands that are fetched, and its
 * result is stored; counting a reference, the dearest step, is a call with a dozen instructions for four steps.
 */
const INSTRUCTIONS_PER_STEP = 8;
/** What calling the function through its export takes besides. */
const CALL_INSTRUCTIONS = 1_000;
/** What a database allows one call at most. */
const MAX_GAS = 25_000_000;

/** Builds the package, for a release unless told otherwise, and gives what is to be run; null when there are errors. */
export async function planDeploy(
  workspace: Workspace,
  options: { readonly isRelease?: boolean; readonly onStep?: (step: string) => void } = {},
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly plan: DeployPlan | null }> {
  const { diagnostics, built } = await build(workspace, {
    target: "wasm32-db",
    isRelease: options.isRelease ?? true,
    ...(options.onStep === undefined ? {} : { onStep: options.onStep }),
  });
  const { program } = workspace.check();
  if (built === null || program === null || program.root === null) return { diagnostics, plan: null };
  const { root } = program;
  const targets = root.functions.filter((each) => isExported(root, each));
  const bounds = boundsOf(program);
  const module = built.bytes.toHex();
  const functions: DeployedFunction[] = [];
  const statements: string[] = [];
  const names = new Map<string, string>();
  for (const target of targets) {
    const sql = sqlOf(root, target);
    const former = names.get(sql.signature);
    if (former !== undefined) {
      throw new CommandError(
        `Cannot deploy \`${
          exportName(target)
        }\`: it would be \`${sql.signature}\`, and so would \`${former}\``,
        "Rename one of them.",
      );
    }
    names.set(sql.signature, exportName(target));
    const gas = bounds.get(exportName(target)) ?? null;
    statements.push(
      `CREATE OR REPLACE FUNCTION ${sql.name}(${sql.parameters}) RETURNS ${sql.returns} LANGUAGE WASM IMMUTABLE ${
        sql.takesNulls ? "CALLED ON NULL INPUT" : "STRICT"
      } AS '\\x${module}' EXPORT ${quoted(exportName(target))}${gas === null ? "" : ` GAS ${gas}`};`,
    );
    const comment = commentOf(target);
    statements.push(
      `COMMENT ON FUNCTION ${sql.signature} IS ${comment === null ? "NULL" : quoted(comment)};`,
    );
    functions.push({ signature: sql.signature, gas });
  }
  return { diagnostics, plan: { functions, statements, bytes: built.bytes.length } };
}

/** Bounds of the exported functions in instructions, as far as they are constant and allowed. */
function boundsOf(program: TypedProgram): ReadonlyMap<string, number> {
  const { exports } = lowerProgram(program, { target: "wasm32-db", hasGas: true });
  const bounds = new CostBounds();
  const found = new Map<string, number>();
  for (const { name, function: target } of exports) {
    const bound = bounds.of(target);
    if (bound.kind !== "bounded" || [...bound.formula.keys()].some((size) => size !== "")) continue;
    const steps = bound.formula.get("") ?? 0;
    const gas = Math.ceil(steps) * INSTRUCTIONS_PER_STEP + CALL_INSTRUCTIONS;
    if (gas <= MAX_GAS) found.set(name, gas);
  }
  return found;
}

interface SqlFunction {
  readonly name: string;
  readonly parameters: string;
  readonly returns: string;
  readonly takesNulls: boolean;
  readonly signature: string;
}

function sqlOf(root: TypedModule, target: TypedFunction): SqlFunction {
  const name = identifier(sqlName(target));
  const refuse = (what: string, type: Type): never => {
    throw new CommandError(
      `Cannot deploy \`${exportName(target)}\` of ${root.file.path}: ${what} has the type \`${
        typeText(type)
      }\`, which SQL does not have`,
      "SQL has numbers, `Bool`, `String`, `Bytes`, lists of numbers and options of these. " +
        "A function that is not for the database needs no `pub`.",
    );
  };
  if (target.typeParameters.length > 0) {
    throw new CommandError(
      `Cannot deploy \`${exportName(target)}\`: a function of the database has no type parameters`,
      "A function that is not for the database needs no `pub`.",
    );
  }
  const columns = target.parameters.map(({ name: parameter, kind, type }) => ({
    name: identifier(parameter),
    column: (kind === "inout" ? null : columnTypeOf(type)) ?? refuse(`its parameter \`${parameter}\``, type),
  }));
  const result = columnTypeOf(target.result) ?? refuse("its result", target.result);
  const types = columns.map(({ column }) => sqlType(column));
  return {
    name,
    parameters: columns.map((each, index) => `${each.name} ${types[index]}`).join(", "),
    returns: sqlType(result),
    takesNulls: columns.some(({ column }) => column.isOption),
    signature: `${name}(${types.join(", ")})`,
  };
}

const SQL_TYPES: Readonly<Record<string, string>> = {
  Bool: "boolean",
  Int: "integer",
  Int64: "bigint",
  Float: "double precision",
  F32: "real",
  String: "text",
  Bytes: "bytea",
};

function sqlType({ name, isList }: ColumnType): string {
  return `${SQL_TYPES[name] ?? name}${isList ? "[]" : ""}`;
}

/** `price`, or `order_price` of `Order.price`. */
function sqlName({ owner, name }: TypedFunction): string {
  return owner === null ? name : `${owner.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase()}_${name}`;
}

/** The documentation without its examples, which are tests. */
function commentOf({ documentation }: TypedFunction): string | null {
  const text = (documentation ?? "").replaceAll(/^```[\s\S]*?^```/gm, "").trim();
  return text === "" ? null : text;
}

/** A name that SQL reads as it is: in quotes, because it may be one of its words. */
function identifier(name: string): string {
  return `"${name}"`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
