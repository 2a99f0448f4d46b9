/** Turns literals of a statement into parameters. */

/** A statement and the texts of its parameters. */
export interface Parametrized {
  readonly text: string;
  readonly parameters: readonly string[];
}

const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$\w*\$[\s\S]*?\$\w*\$|\d+(?:\.\d*)?(?:e[+-]?\d+)?|\w+|\s+|./gi;
/** Words after which a minus is a sign. */
const KEYWORD =
  /^(select|where|and|or|not|by|then|else|when|case|in|between|limit|offset|values|on|having|using|returning|set|is|from|all|distinct)$/i;
const OPERATOR = /^[=<>+*/%-]$/;

/**
 * Replaces the literals that are to the right of an operator; others are positions, precisions, patterns or parts
 * of other literals. Numbers get the type that the literal has; texts get the one that an untyped literal would get.
 */
export function parametrized(sql: string): Parametrized {
  const parameters: string[] = [];
  let text = "";
  let before = "", operand = "";
  for (const [token] of sql.matchAll(TOKEN)) {
    // A minus that no operand precedes is the literal's sign.
    const isSign = before === "-" && (!/[\w)'"\]]$/.test(operand) || KEYWORD.test(operand));
    const isLiteral = OPERATOR.test(before) && /^['\d]/.test(token) && !isSign;
    text += isLiteral ? placeholderOf(token, parameters) : token;
    if (/^(\s|--|\/\*)/.test(token)) continue;
    if (token === "-") operand = before;
    before = token;
  }
  return { text, parameters };
}

function placeholderOf(token: string, parameters: string[]): string {
  if (token.startsWith("'")) {
    parameters.push(token.slice(1, -1).replaceAll("''", "'"));
    return `$${parameters.length}`;
  }
  parameters.push(token);
  return `$${parameters.length}::${numberType(token)}`;
}

function numberType(token: string): string {
  if (!/^\d+$/.test(token)) return "numeric";
  const value = BigInt(token);
  return value < 2n ** 31n ? "integer" : value < 2n ** 63n ? "bigint" : "numeric";
}
