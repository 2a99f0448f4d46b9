/** Remembering the last result: one argument of a function is mostly the same for all rows. */

/** The function, which gives the same result again while its text stays the same. */
export function remembering<T>(parse: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly value: T } | null = null;
  return (text) => {
    if (last?.text !== text) last = { text, value: parse(text) };
    return last.value;
  };
}
