/**
 * The abstract syntax tree: what the parser hands to the binder. This file is the one to import from; the nodes are
 * in four files by what they describe (expressions, queries and data changes, definitions, session statements).
 *
 * Invariants: nodes are plain readonly objects, discriminated by `kind` and free of any knowledge of the catalog; a
 * field that is absent in the text is `null`, a missing list is empty, so that every node of a kind has the same
 * shape. `position` is a UTF-16 offset into the parsed text, counted from 0; `errorPosition` (source_text.ts) turns
 * it into the position that error messages carry. Identifiers are already folded to lower case unless they were
 * quoted.
 */

export type * from "./ast_expression.ts";
export type * from "./ast_query.ts";
export type * from "./ast_definition.ts";
export type * from "./ast_statement.ts";
