/** The description finds what is wrong, so that a server that it lets pass is like the real one. */
import { ok, strictEqual } from "node:assert/strict";
import { answerProblems, operation, requestProblems } from "./api_description.ts";
import { SLUG, withEnvironment } from "./machine.ts";

Deno.test("answerProblems() finds missing, undescribed and wrongly typed fields", () =>
  withEnvironment(async ({ server }) => {
    server.addRelease(SLUG, "fx-0.3.2", "body", { "fx-0.3.2.tar.gz": "x" });
    const list = operation("/repos/{owner}/{repo}/releases", "get");
    const answer = await (await fetch(`${server.apiUrl}/repos/${SLUG}/releases`)).json();
    const check = (value: unknown, expected: string | null) => {
      const [first = null] = answerProblems(list, 200, [{ ...answer[0], ...Object(value) }]);
      strictEqual(first, expected === null ? null : `get /repos/{owner}/{repo}/releases 200[0]${expected}`);
    };
    check({}, null);
    check({ tag_name: 1 }, ".tag_name: no text");
    check({ tag_name: undefined }, ": tag_name is missing");
    check({ tag: "x" }, ": tag is not described");
    check({ draft: "false" }, ".draft: no truth value");
    check({ html_url: "here" }, ".html_url: no address");
    check({ created_at: "now" }, ".created_at: no time");
    check({ assets: [{}] }, ".assets[0]: id is missing");
    ok(answerProblems(list, 299, []).length > 0);
    const create = operation("/repos/{owner}/{repo}/releases", "post");
    strictEqual(requestProblems(create, { tag_name: "x", draft: false })[0], undefined);
    ok(requestProblems(create, { draft: false }).length > 0);
  }));
