/**
 * What is run of a module beside its functions: tests, properties, evals, and the examples of its documentation.
 */
import type * as ast from "../syntax/ast.ts";
import type { TypedTest } from "../typed/tree.ts";
import { FLOAT, isError, isNever, resolve, UNIT } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import { Body, type Session } from "./body.ts";
import { docExamples, exampleScope } from "./doc_examples.ts";
import { check, DISCARDED, infer } from "./infer.ts";
import { newSession } from "./module_body.ts";
import { Variable } from "./symbols.ts";
import { typeOf } from "./type_expressions.ts";

/** Whether values of a type can be made up: no functions, and no names of values in pools. */
function isGenerated(type: Type): boolean {
  const at = resolve(type);
  switch (at.kind) {
    case "function":
    case "parameter":
      return false;
    case "tuple":
      return at.elements.every(isGenerated);
    case "named":
      if (at.definition.module === "std.pool") return false;
      return at.arguments.every(isGenerated);
    default:
      return true;
  }
}

/** Checks the tests, properties and evals of a module. */
export function checkTests(session: Session): TypedTest[] {
  const { scope } = session;
  const tests: TypedTest[] = [];
  for (const declaration of scope.module.declarations) {
    switch (declaration.kind) {
      case "test":
        tests.push(testOf(session, declaration, "test", declaration.body, []));
        break;
      case "property": {
        const parameters = declaration.parameters.map((parameter, index) => {
          const context = { graph: session.graph, scope, typeParameters: [] };
          if (parameter.type === null) {
            session.reporter.report(
              "TY0015",
              parameter.span,
              `The parameter \`${parameter.name.text}\` needs a type.`,
              {
                hint: "A property is tried with values of its parameters' types.",
              },
            );
          }
          const type = parameter.type === null ? UNIT : typeOf(context, parameter.type);
          if (!isGenerated(type)) {
            session.reporter.report(
              "TY0046",
              parameter.type?.span ?? parameter.span,
              `No values of \`${typeText(type)}\` can be made up to try the property with.`,
              { hint: "Values are made of numbers, texts, lists, maps, records and unions." },
            );
          }
          const variable = new Variable({
            id: index,
            name: parameter.name.text,
            type,
            kind: "parameter",
            span: parameter.name.span,
            depth: 0,
            origin: "parameter",
          });
          session.symbols?.define(variable.span, variable);
          return variable;
        });
        tests.push(testOf(session, declaration, "property", declaration.body, parameters));
        break;
      }
      case "eval":
        tests.push(evalOf(session, declaration));
        break;
      default:
        break;
    }
  }
  return tests;
}

function testOf(
  session: Session,
  declaration: ast.TestDeclaration | ast.PropertyDeclaration,
  kind: "test" | "property",
  block: ast.Block,
  parameters: readonly Variable[],
): TypedTest {
  const body = new Body(session, { parameters });
  body.returns = { type: UNIT, reason: null, isDiscarded: false, isClosure: false };
  const typed = check(body, block, DISCARDED, null);
  return {
    kind,
    name: declaration.name.value,
    file: session.scope.file,
    span: declaration.name.span,
    parameters,
    body: typed,
    cases: [],
    threshold: null,
  };
}

/** Examples are tests of a scope of their own; null when there are none. */
export function checkExamples(
  session: Session,
): { readonly session: Session; readonly tests: readonly TypedTest[] } | null {
  const { scope } = session;
  const { examples, diagnostics } = docExamples(scope.module);
  for (const diagnostic of diagnostics) scope.reporter.add(diagnostic);
  if (examples.length === 0) return null;
  const inner = newSession(session.graph, exampleScope(scope), session.symbols);
  const tests = examples.map((example): TypedTest => {
    const body = new Body(inner, {});
    body.returns = { type: UNIT, reason: null, isDiscarded: false, isClosure: false };
    return {
      kind: "example",
      name: example.name,
      file: scope.file,
      span: example.span,
      parameters: [],
      body: check(body, example.body, DISCARDED, null),
      cases: [],
      threshold: null,
    };
  });
  return { session: inner, tests };
}

function evalOf(session: Session, declaration: ast.EvalDeclaration): TypedTest {
  const threshold = check(new Body(session, {}), declaration.threshold, FLOAT, {
    kind: "index",
    what: "A threshold",
  });
  const cases = declaration.cases.map((each) => {
    const body = new Body(session, {});
    const score = infer(body, each.score, null);
    session.late.push(() => {
      const at = resolve(score.type);
      const fits = isError(at) || isNever(at) ||
        at.kind === "primitive" && (at.name === "Bool" || at.name === "Float") ||
        at.kind === "variable" && at.literal === "float";
      if (fits) return;
      session.reporter.report(
        "TY0040",
        each.score.span,
        "The score of a case is a `Float` from 0.0 to 1.0, or a `Bool`.",
      );
    });
    return { name: each.name.value, span: each.name.span, score };
  });
  return {
    kind: "eval",
    name: declaration.name.value,
    file: session.scope.file,
    span: declaration.name.span,
    parameters: [],
    body: null,
    cases,
    threshold,
  };
}
