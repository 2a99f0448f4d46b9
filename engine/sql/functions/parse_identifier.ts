/** `parse_ident`: a qualified name taken apart, as SQL reads it. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";

const SPACE = /[ \t\n\r\f]*/y;
/** Letters, `_` and everything beyond ASCII begin a name; digits and `$` may go on with it. */
const PLAIN = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const QUOTED = /"((?:[^"]|"")*)"/y;

/** The parts of a name; `strict`: 22023 for what follows it. */
export function parseIdentifier(text: string, strict: boolean): string[] {
  const refuse = (detail?: string) => {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `string is not a valid identifier: "${text}"`,
      detail === undefined ? {} : { detail },
    );
  };
  let at = 0;
  const accept = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  const parts: string[] = [];
  accept(SPACE);
  for (;;) {
    if (text[at] === '"') {
      const quoted = accept(QUOTED)?.[1];
      if (quoted === undefined) refuse("String has unclosed double quotes.");
      if (quoted === "") refuse("Quoted identifier must not be empty.");
      parts.push((quoted ?? "").replaceAll('""', '"'));
    } else {
      const plain = accept(PLAIN);
      if (plain !== null) parts.push(plain[0].replace(/[A-Z]+/g, (letters) => letters.toLowerCase()));
      else if (text[at] === ".") refuse('No valid identifier before ".".');
      else refuse(parts.length > 0 ? 'No valid identifier after ".".' : undefined);
    }
    accept(SPACE);
    if (text[at] === ".") {
      at++;
      accept(SPACE);
    } else {
      if (at < text.length && strict) refuse();
      return parts;
    }
  }
}
