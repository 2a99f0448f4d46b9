/** The parts of a possibly quoted, possibly qualified name, folded. */
export function splitName(text: string): string[] {
  const parts: string[] = [];
  for (const match of text.matchAll(/"((?:[^"]|"")*)"|[^."\s]+/g)) {
    parts.push(match[1] === undefined ? match[0].toLowerCase() : match[1].replaceAll('""', '"'));
  }
  return parts;
}
