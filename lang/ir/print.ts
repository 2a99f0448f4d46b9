/**
 * The intermediate representation as text: what `lang build --emit ir` prints. One statement a line, bodies indented.
 */
import type { IrExpression, IrFunction, IrLocal, IrModule, Statement } from "./node.ts";

/** A whole module. */
export function printModule(module: IrModule): string {
  const lines: string[] = [];
  for (const imported of module.imports) {
    lines.push(
      `import ${signature(imported)} from "${imported.imported?.module}" "${imported.imported?.name}"`,
    );
  }
  for (const global of module.globals) {
    lines.push(`global ${global.name}: ${global.type} = ${global.initial}`);
  }
  for (const segment of module.data) lines.push(`data ${segment.address}: ${segment.bytes.length} bytes`);
  for (const exported of module.exports) lines.push(`export "${exported.name}" = ${exported.function.name}`);
  for (const own of module.functions) lines.push("", printFunction(own));
  return lines.join("\n") + "\n";
}

/** One function. */
function printFunction(target: IrFunction): string {
  const lines = [`${signature(target)} {`];
  printBody(target.body ?? [], "  ", lines);
  lines.push("}");
  return lines.join("\n");
}

function signature(target: IrFunction): string {
  const parameters = target.parameters.map((parameter) =>
    `${localName(parameter)}: ${parameter.isBorrowed || parameter.pointer === null ? "" : "own "}${
      typeName(parameter)
    }`
  );
  const results = target.results.map(typeName);
  return `fn ${target.name}(${parameters.join(", ")})${
    results.length > 0 ? ` -> ${results.join(", ")}` : ""
  }`;
}

function typeName(
  slot: { readonly type: string; readonly pointer: { readonly name: string } | null },
): string {
  return slot.pointer === null ? slot.type : `*${slot.pointer.name}`;
}

function localName(local: IrLocal): string {
  return `${local.name}.${local.id}`;
}

function printBody(body: readonly Statement[], indent: string, lines: string[]): void {
  for (const statement of body) printStatement(statement, indent, lines);
}

function printStatement(statement: Statement, indent: string, lines: string[]): void {
  const inner = indent + "  ";
  const line = (text: string): void => {
    lines.push(indent + text);
  };
  switch (statement.kind) {
    case "set": {
      const { local } = statement;
      line(
        `${localName(local)}${local.isMutable ? "" : `: ${typeName(local)}`} = ${
          expressionText(statement.value)
        }`,
      );
      return;
    }
    case "multi":
      line(`${statement.locals.map(localName).join(", ")} = ${expressionText(statement.call)}`);
      return;
    case "set-global":
      line(`global ${statement.global.name} = ${expressionText(statement.value)}`);
      return;
    case "store":
      line(
        `${statement.op} ${expressionText(statement.address)}+${statement.offset}, ${
          expressionText(statement.value)
        }`,
      );
      return;
    case "call":
      line(expressionText(statement.call));
      return;
    case "copy":
      line(
        `memory.copy ${expressionText(statement.to)}, ${expressionText(statement.from)}, ${
          expressionText(statement.bytes)
        }`,
      );
      return;
    case "fill":
      line(
        `memory.fill ${expressionText(statement.to)}, ${expressionText(statement.byte)}, ${
          expressionText(statement.bytes)
        }`,
      );
      return;
    case "if":
      line(`if ${expressionText(statement.condition)} {`);
      printBody(statement.then, inner, lines);
      if (statement.otherwise.length > 0) {
        line("} else {");
        printBody(statement.otherwise, inner, lines);
      }
      line("}");
      return;
    case "block":
    case "loop":
      line(`${statement.kind} ${statement.label.name} {`);
      printBody(statement.body, inner, lines);
      line("}");
      return;
    case "branch":
      line(`branch ${statement.label.name}`);
      return;
    case "switch":
      line(`switch ${expressionText(statement.index)} {`);
      for (const [index, body] of statement.cases.entries()) {
        lines.push(`${indent}case ${index === statement.cases.length - 1 ? "_" : index}:`);
        printBody(body, inner, lines);
      }
      line("}");
      return;
    case "return":
      line(`return ${statement.values.map(expressionText).join(", ")}`.trimEnd());
      return;
    case "check":
      line(`check ${expressionText(statement.condition)} "${statement.site.kind}"`);
      return;
    case "trap":
      line(`trap "${statement.site.kind}"`);
      return;
    case "retain":
    case "release":
    case "unique":
    case "touch":
      line(`${statement.kind} ${localName(statement.local)}`);
      return;
    case "charge":
      line(
        `charge ${statement.amount}${
          statement.bytes === null ? "" : ` + ${expressionText(statement.bytes)}`
        }`,
      );
      return;
    case "at": {
      const { line: row, column } = statement.place.file.positionOf({
        start: statement.place.offset,
        end: statement.place.offset,
      });
      line(`// ${statement.place.file.path}:${row}:${column}`);
      return;
    }
  }
}

/** One expression. */
function expressionText(expression: IrExpression): string {
  switch (expression.kind) {
    case "const":
      return `${expression.value}${expression.type === "i32" ? "" : `:${expression.type}`}`;
    case "get":
      return localName(expression.local);
    case "own":
      return `own ${localName(expression.local)}`;
    case "op":
      return `${expression.op}(${expression.args.map(expressionText).join(", ")})`;
    case "load":
      return `${expression.op}(${expressionText(expression.address)}+${expression.offset})`;
    case "select":
      return `select(${expressionText(expression.condition)}, ${expressionText(expression.then)}, ${
        expressionText(expression.otherwise)
      })`;
    case "global":
      return `global ${expression.global.name}`;
    case "memory-size":
      return "memory.size";
    case "memory-grow":
      return `memory.grow(${expressionText(expression.pages)})`;
    case "call":
      return `${expression.function.name}(${expression.args.map(expressionText).join(", ")})`;
    case "indirect":
      return `indirect ${expressionText(expression.index)}(${
        expression.args.map(expressionText).join(", ")
      })`;
  }
}
