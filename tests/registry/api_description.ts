/**
 * Holds JSON values to the hosting service's description of its API, of which `deno task hosting-api` keeps the part
 * that is needed.
 */
import description from "./fixtures/hosting_api.json" with { type: "json" };

type Schema = Readonly<Record<string, unknown>>;

/** An operation of the API. */
export interface Operation {
  readonly path: string;
  readonly method: string;
  readonly requestBody: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The operation of a path such as `/repos/{owner}/{repo}/releases`. */
export function operation(path: string, method: string): Operation {
  const operations: readonly Operation[] = description.operations;
  const found = operations.find((each) => each.path === path && each.method === method);
  if (found === undefined) throw new Error(`Cannot find ${method} ${path}: run deno task hosting-api`);
  return found;
}

/** What is wrong with the answer of an operation; nothing when it is as described. */
export function answerProblems(operation: Operation, status: number, body: unknown): string[] {
  const answer = operation.responses[String(status)];
  if (!isSchema(answer)) return [`${operation.method} ${operation.path} has no answer ${status}`];
  const schema = jsonSchema(answer);
  return schema === null ? [] : problems(schema, body, `${operation.method} ${operation.path} ${status}`);
}

/** What is wrong with the body of a request. */
export function requestProblems(operation: Operation, body: unknown): string[] {
  const schema = isSchema(operation.requestBody) ? jsonSchema(operation.requestBody) : null;
  return schema === null ? [] : problems(schema, body, `${operation.method} ${operation.path} request`);
}

function jsonSchema(holder: Schema): Schema | null {
  const content = holder["content"];
  const json = isSchema(content) ? content["application/json"] : undefined;
  const schema = isSchema(json) ? json["schema"] : undefined;
  return isSchema(schema) ? schema : null;
}

function problems(schema: Schema, value: unknown, where: string): string[] {
  if (value === null && schema["nullable"] === true) return [];
  for (const key of ["anyOf", "oneOf"] as const) {
    const choices = schema[key];
    if (!Array.isArray(choices)) continue;
    const found = choices.map((each) => problems(each, value, where));
    return found.some((each) => each.length === 0) ? [] : found[0] ?? [];
  }
  const all = schema["allOf"];
  if (Array.isArray(all)) return all.flatMap((each) => problems(each, value, where));
  const values = schema["enum"];
  if (Array.isArray(values) && !values.includes(value)) return [`${where}: ${value} is none of ${values}`];
  switch (schema["type"]) {
    case "array": {
      if (!Array.isArray(value)) return [`${where}: no list`];
      const items = schema["items"];
      return isSchema(items)
        ? value.flatMap((each, index) => problems(items, each, `${where}[${index}]`))
        : [];
    }
    case "object":
      return objectProblems(schema, value, where);
    case "integer":
      return Number.isSafeInteger(value) ? [] : [`${where}: no integer`];
    case "boolean":
      return typeof value === "boolean" ? [] : [`${where}: no truth value`];
    case "number":
      return typeof value === "number" ? [] : [`${where}: no number`];
    case "string":
      return textProblems(schema, value, where);
    default:
      return [];
  }
}

function objectProblems(schema: Schema, value: unknown, where: string): string[] {
  if (!isSchema(value)) return [`${where}: no object`];
  const { required = [], properties = {} } = schema;
  const missing = Array.isArray(required) ? required.filter((key) => value[key] === undefined) : [];
  const known = isSchema(properties) ? properties : {};
  return [
    ...missing.map((key) => `${where}: ${key} is missing`),
    ...Object.entries(value).flatMap(([key, part]) => {
      const each = known[key];
      if (each === undefined) return [`${where}: ${key} is not described`];
      return isSchema(each) ? problems(each, part, `${where}.${key}`) : [];
    }),
  ];
}

function textProblems(schema: Schema, value: unknown, where: string): string[] {
  if (typeof value !== "string") return [`${where}: no text`];
  if (schema["format"] === "uri" && !URL.canParse(value)) return [`${where}: no address`];
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
  return schema["format"] === "date-time" && !isTime ? [`${where}: no time`] : [];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
