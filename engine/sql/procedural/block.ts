/**
 * The syntax tree of a PL/pgSQL block, the language of DO.
 *
 * Expressions and SQL statements in it stay text: what a name in them means, a variable or a column, is decided by
 * the binder when they run.
 */
import type { TypeName } from "../parser/ast.ts";

/** A piece of SQL: an expression (what may follow SELECT) or a whole statement. */
export interface Fragment {
  readonly text: string;
  /** Line of the block's text, from 1. */
  readonly line: number;
}

/** What a value is assigned to: a variable, a field of a record, an element of an array. */
export interface Target {
  readonly parts: readonly string[];
  readonly subscripts: readonly Fragment[];
  readonly line: number;
}

/** Where the columns of a row go: one record, or a variable for each. */
export interface IntoClause {
  readonly targets: readonly Target[];
  readonly strict: boolean;
}

/** The declared type of a variable. */
export type DeclaredType =
  | { readonly kind: "named"; readonly name: TypeName }
  /** `name%TYPE`: of a variable or a column. */
  | { readonly kind: "same_as"; readonly parts: readonly string[] }
  /** `table%ROWTYPE`. */
  | { readonly kind: "row_of"; readonly parts: readonly string[] }
  | { readonly kind: "record" };

/** A line of DECLARE. */
export interface Declaration {
  readonly name: string;
  readonly type: DeclaredType;
  readonly constant: boolean;
  readonly notNull: boolean;
  readonly initial: Fragment | null;
  readonly line: number;
}

/** WHEN … THEN … of EXCEPTION. */
export interface Handler {
  /** SQLSTATEs, `others`, or a whole class as `P0000`. */
  readonly conditions: readonly string[];
  readonly body: readonly ProceduralStatement[];
}

/** BEGIN … END with what belongs to it. */
export interface Block {
  readonly kind: "block";
  readonly label: string | null;
  readonly declarations: readonly Declaration[];
  readonly body: readonly ProceduralStatement[];
  readonly handlers: readonly Handler[];
  readonly line: number;
}

/** EXECUTE's command with its arguments. */
export interface DynamicCommand {
  readonly command: Fragment;
  readonly arguments: readonly Fragment[];
}

/** The rows that a FOR loop goes over. */
export type RowSource =
  | { readonly kind: "query"; readonly query: Fragment }
  | { readonly kind: "dynamic"; readonly dynamic: DynamicCommand };

/** How loud a RAISE is. */
export type RaiseLevel = "debug" | "log" | "info" | "notice" | "warning" | "exception";

/** An option of RAISE … USING. */
export type RaiseOption =
  | "message"
  | "detail"
  | "hint"
  | "errcode"
  | "column"
  | "constraint"
  | "datatype"
  | "table"
  | "schema";

/** RAISE. Without format and condition it raises the error that is being handled again. */
export interface Raise {
  readonly kind: "raise";
  readonly level: RaiseLevel;
  readonly format: string | null;
  readonly arguments: readonly Fragment[];
  /** A condition by its name, or by its SQLSTATE, which then is the name as well. */
  readonly condition: { readonly name: string; readonly code: string } | null;
  readonly options: readonly { readonly option: RaiseOption; readonly value: Fragment }[];
  readonly line: number;
}

/** One of the statements between BEGIN and END. */
export type ProceduralStatement =
  | Block
  | Raise
  | { readonly kind: "assign"; readonly target: Target; readonly value: Fragment; readonly line: number }
  | {
    readonly kind: "if";
    readonly branches: readonly {
      readonly condition: Fragment;
      readonly body: readonly ProceduralStatement[];
    }[];
    readonly otherwise: readonly ProceduralStatement[];
    readonly line: number;
  }
  | {
    readonly kind: "case";
    /** null: the branches have conditions instead of values. */
    readonly subject: Fragment | null;
    readonly branches: readonly { readonly test: Fragment; readonly body: readonly ProceduralStatement[] }[];
    /** null: no match is an error. */
    readonly otherwise: readonly ProceduralStatement[] | null;
    readonly line: number;
  }
  | {
    readonly kind: "loop";
    readonly label: string | null;
    /** null: LOOP without WHILE. */
    readonly condition: Fragment | null;
    readonly body: readonly ProceduralStatement[];
    readonly line: number;
  }
  | {
    readonly kind: "for_integer";
    readonly label: string | null;
    readonly name: string;
    readonly reverse: boolean;
    readonly from: Fragment;
    readonly to: Fragment;
    readonly by: Fragment | null;
    readonly body: readonly ProceduralStatement[];
    readonly line: number;
  }
  | {
    readonly kind: "for_rows";
    readonly label: string | null;
    readonly targets: readonly Target[];
    readonly source: RowSource;
    readonly body: readonly ProceduralStatement[];
    readonly line: number;
  }
  | {
    readonly kind: "foreach";
    readonly label: string | null;
    readonly target: Target;
    readonly array: Fragment;
    readonly body: readonly ProceduralStatement[];
    readonly line: number;
  }
  | {
    readonly kind: "exit" | "continue";
    readonly label: string | null;
    readonly condition: Fragment | null;
    readonly line: number;
  }
  | { readonly kind: "return"; readonly line: number }
  | { readonly kind: "nothing"; readonly line: number }
  | {
    readonly kind: "assert";
    readonly condition: Fragment;
    readonly message: Fragment | null;
    readonly line: number;
  }
  | { readonly kind: "perform"; readonly query: Fragment; readonly line: number }
  | {
    readonly kind: "sql";
    readonly statement: Fragment;
    readonly into: IntoClause | null;
    readonly line: number;
  }
  | {
    readonly kind: "execute";
    readonly dynamic: DynamicCommand;
    readonly into: IntoClause | null;
    readonly line: number;
  }
  | {
    readonly kind: "diagnostics";
    readonly stacked: boolean;
    readonly items: readonly { readonly target: Target; readonly item: string }[];
    readonly line: number;
  };
