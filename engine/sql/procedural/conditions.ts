/**
 * Names of error conditions, as EXCEPTION WHEN and RAISE take them: those of PostgreSQL's appendix A.
 *
 * The names of {@link SQLSTATE} are the same in another spelling; here are only those that it does not have, or
 * writes differently.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { closest } from "../../base/suggest.ts";
import type { TokenStream } from "../parser/token_stream.ts";

const FURTHER: Readonly<Record<string, string>> = {
  sql_statement_not_yet_complete: "03000",
  connection_does_not_exist: "08003",
  connection_failure: "08006",
  sqlclient_unable_to_establish_sqlconnection: "08001",
  sqlserver_rejected_establishment_of_sqlconnection: "08004",
  transaction_resolution_unknown: "08007",
  triggered_action_exception: "09000",
  invalid_transaction_initiation: "0B000",
  locator_exception: "0F000",
  invalid_locator_specification: "0F001",
  invalid_grantor: "0L000",
  invalid_grant_operation: "0LP01",
  invalid_role_specification: "0P000",
  diagnostics_exception: "0Z000",
  stacked_diagnostics_accessed_without_active_handler: "0Z002",
  array_subscript_error: "2202E",
  character_not_in_repertoire: "22021",
  datetime_field_overflow: "22008",
  escape_character_conflict: "2200B",
  indicator_overflow: "22022",
  interval_field_overflow: "22015",
  invalid_argument_for_logarithm: "2201E",
  invalid_argument_for_ntile_function: "22014",
  invalid_argument_for_nth_value_function: "22016",
  invalid_argument_for_width_bucket_function: "2201G",
  invalid_character_value_for_cast: "22018",
  invalid_datetime_format: "22007",
  invalid_escape_character: "22019",
  invalid_escape_octet: "2200D",
  nonstandard_use_of_escape_character: "22P06",
  invalid_indicator_parameter_value: "22010",
  invalid_regular_expression: "2201B",
  invalid_row_count_in_limit_clause: "2201W",
  invalid_row_count_in_result_offset_clause: "2201X",
  invalid_tablesample_argument: "2202H",
  invalid_tablesample_repeat: "2202G",
  most_specific_type_mismatch: "2200G",
  null_value_no_indicator_parameter: "22002",
  string_data_length_mismatch: "22026",
  string_data_right_truncation: "22001",
  trim_error: "22027",
  unterminated_c_string: "22024",
  zero_length_character_string: "2200F",
  floating_point_exception: "22P01",
  not_an_xml_document: "2200L",
  duplicate_json_object_key_value: "22030",
  singleton_sql_json_item_required: "22038",
  exclusion_violation: "23P01",
  branch_transaction_already_active: "25002",
  inappropriate_access_mode_for_branch_transaction: "25003",
  inappropriate_isolation_level_for_branch_transaction: "25004",
  no_active_sql_transaction_for_branch_transaction: "25005",
  held_cursor_requires_same_isolation_level: "25008",
  schema_and_data_statement_mixing_not_supported: "25007",
  triggered_data_change_violation: "27000",
  dependent_privilege_descriptors_still_exist: "2B000",
  invalid_transaction_termination: "2D000",
  sql_routine_exception: "2F000",
  function_executed_no_return_statement: "2F005",
  external_routine_exception: "38000",
  external_routine_invocation_exception: "39000",
  trigger_protocol_violated: "39P01",
  invalid_savepoint_specification: "3B001",
  transaction_rollback: "40000",
  transaction_integrity_constraint_violation: "40002",
  insufficient_privilege: "42501",
  cannot_coerce: "42846",
  undefined_file: "58P01",
  duplicate_file: "58P02",
  with_check_option_violation: "44000",
  database_dropped: "57P04",
  lock_file_exists: "F0001",
  config_file_error: "F0000",
  plpgsql_error: "P0000",
  disk_full: "53100",
  too_many_columns: "54011",
  too_many_arguments: "54023",
};

const CODES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SQLSTATE).map(([name, code]): [string, string] => [snakeCase(name), code]),
  ...Object.entries(FURTHER),
]);

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The SQLSTATE of a condition's name; undefined when there is none of that name. */
export function conditionCode(name: string): string | undefined {
  return CODES.get(name);
}

/** Whether an error of the code is meant by a handler's condition: the code itself, or its class as `23000`. */
export function conditionMatches(condition: string, code: string): boolean {
  if (condition === "others") return code !== SQLSTATE.queryCanceled && code !== "P0004";
  if (condition === code) return true;
  return condition.endsWith("000") && condition.slice(0, 2) === code.slice(0, 2);
}

/** The SQLSTATE of a condition's name. Raises 42704. */
export function expectCondition(stream: TokenStream): string {
  const { position } = stream;
  if (stream.acceptWord("sqlstate")) return expectSqlState(stream);
  const name = stream.expectLabel();
  if (name === "others") return name;
  const code = conditionCode(name);
  if (code !== undefined) return code;
  const near = closest(name, CODES.keys());
  throw stream.error(
    SQLSTATE.undefinedObject,
    `unrecognized exception condition "${name}"`,
    position,
    near === undefined ? undefined : `Did you mean "${near}"?`,
  );
}

/** The five characters of SQLSTATE '…'. */
export function expectSqlState(stream: TokenStream): string {
  const { position } = stream;
  const code = stream.expectString();
  if (/^[0-9A-Z]{5}$/.test(code)) return code;
  throw stream.error(SQLSTATE.syntaxError, "invalid SQLSTATE code", position);
}
