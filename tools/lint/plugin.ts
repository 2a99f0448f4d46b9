/**
 * The project's own `deno lint` rules. They hold what the architecture rests on and the compiler cannot see:
 *
 * - `db/layers`: imports only point down (the table is `../layers.ts`);
 * - `db/no-ambient`: the engine never asks the world for time, chance, disk or network outside `engine/host`;
 * - `db/synchronous-core`: no `async`, `await` or promise inside a statement;
 * - `db/no-empty-catch`: an error is handled, or a comment says why it need not be;
 * - `db/no-console`: only programs, tools and the scripts of pages write to the console.
 *
 * Limits: the rules read one file and no types. A name that the file itself declares is not taken for the global of
 * that name. Test files are exempt from all but `db/no-empty-catch`.
 */
import { importViolation, isTestFile, synchronousCore, synchronousCoreExceptions } from "../layers.ts";

const root = new URL("../../", import.meta.url).pathname;

/** Globals that reach outside the process, or whose value is not a function of the log. */
const ambientGlobals: ReadonlySet<string> = new Set([
  "Bun",
  "BroadcastChannel",
  "Date",
  "Deno",
  "EventSource",
  "WebSocket",
  "Worker",
  "XMLHttpRequest",
  "clearImmediate",
  "clearInterval",
  "clearTimeout",
  "crypto",
  "fetch",
  "globalThis",
  "localStorage",
  "navigator",
  "performance",
  "process",
  "self",
  "sessionStorage",
  "setImmediate",
  "setInterval",
  "setTimeout",
]);

function projectPath(filename: string): string {
  const path = filename.replaceAll("\\", "/");
  return path.startsWith(root) ? path.slice(root.length) : path.replace(/^\.?\//, "");
}

function isInEngineOutsideHost(path: string): boolean {
  return path.startsWith("engine/") && !path.startsWith("engine/host/") && !isTestFile(path);
}

function isInSynchronousCore(path: string): boolean {
  return synchronousCore.some((folder) => path.startsWith(`${folder}/`)) &&
    !isTestFile(path) && !synchronousCoreExceptions.includes(path);
}

/** Resolves a relative specifier against the file that holds it; `undefined` for packages and built-ins. */
function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return decodeURIComponent(new URL(specifier, `file:///${from}`).pathname.slice(1));
}

type ImportHandler = (node: Deno.lint.Node, specifier: string, typeOnly: boolean) => void;

/** Visits every form in which a file can name another one. */
function visitImports(handle: ImportHandler): Deno.lint.LintVisitor {
  return {
    ImportDeclaration(node) {
      handle(node, node.source.value, node.importKind === "type");
    },
    ExportNamedDeclaration(node) {
      if (node.source) handle(node, node.source.value, node.exportKind === "type");
    },
    ExportAllDeclaration(node) {
      handle(node, node.source.value, node.exportKind === "type");
    },
    ImportExpression(node) {
      if (node.source.type === "Literal" && typeof node.source.value === "string") {
        handle(node, node.source.value, false);
      }
    },
  };
}

const layersRule: Deno.lint.Rule = {
  create(context) {
    const from = projectPath(context.filename);
    return visitImports((node, specifier, typeOnly) => {
      const to = resolveImport(from, specifier);
      if (to === undefined) return;
      const violation = importViolation({ from, to, typeOnly });
      if (violation !== undefined) {
        context.report({ node, message: violation, hint: "The layer table is tools/layers.ts" });
      }
    });
  },
};

/** The names that a binding pattern declares. */
function declaredNames(pattern: Deno.lint.Node | null | undefined): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name];
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => declaredNames(element));
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        declaredNames(property.type === "Property" ? property.value : property)
      );
    case "AssignmentPattern":
      return declaredNames(pattern.left);
    case "RestElement":
      return declaredNames(pattern.argument);
    default:
      return [];
  }
}

/** Whether an identifier is where a value or a type is looked up, and not where a member or a key is named. */
function isReference(node: Deno.lint.Identifier): boolean {
  const parent: Deno.lint.Node = node.parent;
  switch (parent.type) {
    case "MemberExpression":
      return parent.computed || !isSameNode(parent.property, node);
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
      return parent.computed || !isSameNode(parent.key, node);
    case "TSPropertySignature":
    case "TSMethodSignature":
      return parent.computed || !isSameNode(parent.key, node);
    case "ImportSpecifier":
    case "ExportSpecifier":
    case "LabeledStatement":
    case "TSQualifiedName":
    case "TSEnumMember":
    case "TSNamedTupleMember":
      return false;
    default:
      return true;
  }
}

function isSameNode(left: Deno.lint.Node, right: Deno.lint.Node): boolean {
  return left.range[0] === right.range[0] && left.range[1] === right.range[1];
}

const noAmbientRule: Deno.lint.Rule = {
  create(context) {
    if (!isInEngineOutsideHost(projectPath(context.filename))) return {};
    const declared = new Set<string>();
    const references: Deno.lint.Identifier[] = [];
    const declare = (names: readonly string[]) => names.forEach((name) => declared.add(name));
    const declareParameters = (node: { readonly params: readonly Deno.lint.Parameter[] }) => {
      for (const parameter of node.params) {
        if (parameter.type !== "TSParameterProperty") declare(declaredNames(parameter));
      }
    };
    const hint = "Time, chance, disk and network come from the ports of engine/host";
    return {
      ...visitImports((node, specifier) => {
        if (specifier.startsWith("node:")) {
          context.report({ node, message: `the engine may not import ${specifier}`, hint });
        }
      }),
      ImportSpecifier: (node) => declare(declaredNames(node.local)),
      ImportDefaultSpecifier: (node) => declare(declaredNames(node.local)),
      ImportNamespaceSpecifier: (node) => declare(declaredNames(node.local)),
      VariableDeclarator: (node) => declare(declaredNames(node.id)),
      FunctionDeclaration(node) {
        declare(declaredNames(node.id));
        declareParameters(node);
      },
      FunctionExpression: declareParameters,
      ArrowFunctionExpression: declareParameters,
      ClassDeclaration: (node) => declare(declaredNames(node.id)),
      TSTypeAliasDeclaration: (node) => declare(declaredNames(node.id)),
      TSInterfaceDeclaration: (node) => declare(declaredNames(node.id)),
      CatchClause: (node) => declare(declaredNames(node.param)),
      TSFunctionType: declareParameters,
      TSMethodSignature: declareParameters,
      Identifier(node) {
        if (ambientGlobals.has(node.name) && isReference(node)) references.push(node);
      },
      MemberExpression(node) {
        const { object, property } = node;
        const isMath = object.type === "Identifier" && object.name === "Math";
        const isRandom = (property.type === "Identifier" && !node.computed && property.name === "random") ||
          (property.type === "Literal" && property.value === "random");
        if (isMath && isRandom) {
          context.report({ node, message: "the engine may not use Math.random", hint });
        }
      },
      "Program:exit"() {
        for (const node of references) {
          if (!declared.has(node.name)) {
            context.report({ node, message: `the engine may not use ${node.name}`, hint });
          }
        }
      },
    };
  },
};

const synchronousCoreRule: Deno.lint.Rule = {
  create(context) {
    if (!isInSynchronousCore(projectPath(context.filename))) return {};
    const report = (node: Deno.lint.Node, what: string) =>
      context.report({
        node,
        message: `${what} in the synchronous core`,
        hint: "Only durability, sockets and sessions are asynchronous",
      });
    const refuseAsync = (node: Deno.lint.Node & { readonly async: boolean }) => {
      if (node.async) report(node, "async function");
    };
    return {
      FunctionDeclaration: refuseAsync,
      FunctionExpression: refuseAsync,
      ArrowFunctionExpression: refuseAsync,
      AwaitExpression: (node) => report(node, "await"),
      ForOfStatement(node) {
        if (node.await) report(node, "for await");
      },
      Identifier(node) {
        if (node.name === "Promise" && isReference(node)) report(node, "Promise");
      },
    };
  },
};

const noEmptyCatchRule: Deno.lint.Rule = {
  create(context) {
    return {
      CatchClause(node) {
        if (node.body.body.length > 0) return;
        if (/\/[/*]\s*\S/.test(context.sourceCode.getText(node.body))) return;
        context.report({
          node,
          message: "an error is swallowed",
          hint: "Handle it, or say in a comment why nothing needs to be done",
        });
      },
    };
  },
};

const noConsoleRule: Deno.lint.Rule = {
  create(context) {
    const path = projectPath(context.filename);
    if (path.startsWith("cli/") || path.includes("/web/") || isTestFile(path)) return {};
    return {
      MemberExpression(node) {
        if (node.object.type === "Identifier" && node.object.name === "console") {
          context.report({ node, message: "console is for cli/, tools/, tests/ and pages only" });
        }
      },
    };
  },
};

const plugin: Deno.lint.Plugin = {
  name: "db",
  rules: {
    "layers": layersRule,
    "no-ambient": noAmbientRule,
    "synchronous-core": synchronousCoreRule,
    "no-empty-catch": noEmptyCatchRule,
    "no-console": noConsoleRule,
  },
};

export default plugin;
