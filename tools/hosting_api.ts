/**
 * `deno task hosting-api`: takes the operations that `lang pkg` uses out of the hosting service's own description of
 * its API and writes them to `tests/registry/fixtures/hosting_api.json`, which the fake server of the tests is held
 * to.
 *
 * The description is a package of 390 MB, so it is fetched by this task alone, with the settings in
 * `tests/registry/openapi.json`.
 */
import { projectRoot } from "./project.ts";

const OPERATIONS = [
  ["/repos/{owner}/{repo}/releases", "get"],
  ["/repos/{owner}/{repo}/releases", "post"],
  ["/repos/{owner}/{repo}/releases/{release_id}/assets", "post"],
  ["/repos/{owner}/{repo}/releases/assets/{asset_id}", "get"],
] as const;

/** What says nothing about the form of answers. */
const LEFT_OUT = [
  "description",
  "example",
  "examples",
  "title",
  "summary",
  "externalDocs",
  "tags",
  "x-github",
];

type Value = null | string | number | boolean | Value[] | { [key: string]: Value };

function withoutProse(value: Value, isProperties = false): Value {
  if (Array.isArray(value)) return value.map((each) => withoutProse(each));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([key]) => isProperties || !LEFT_OUT.includes(key))
      .map(([key, part]) => [key, withoutProse(part, key === "properties")]),
  );
}

function member(value: Value | undefined, ...path: readonly string[]): Value {
  let at = value;
  for (const key of path) {
    at = typeof at === "object" && at !== null && !Array.isArray(at) ? at[key] : undefined;
  }
  if (at === undefined) throw new Error(`Cannot find ${path.join(" ")} in the description`);
  return at;
}

if (import.meta.main) {
  const specifier = "@octokit/openapi/generated/api.github.com.deref.json";
  const { default: description } = await import(specifier, { with: { type: "json" } });
  const slice = OPERATIONS.map(([path, method]) => {
    const operation = member(description, "paths", path, method);
    const { parameters = [], requestBody = null, responses = {} } = operation as { [key: string]: Value };
    return { path, method, parameters, requestBody, responses };
  });
  const version = member(description, "info", "version");
  const text = JSON.stringify({ version, operations: withoutProse(slice as unknown as Value) }, null, 1);
  await Deno.writeTextFile(`${projectRoot}/tests/registry/fixtures/hosting_api.json`, `${text}\n`);
  console.log(`tests/registry/fixtures/hosting_api.json: ${OPERATIONS.length} operations`);
}
