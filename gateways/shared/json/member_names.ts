/**
 * The names of a row's members in JSON: the columns' names, told apart where several columns have one name.
 *
 * Invariant: no name occurs twice, and the first column of a name keeps it.
 */

/** The members' names, in column order: `a`, `a_2`, `a_3` for three columns named `a`. */
export function memberNames(columns: readonly { readonly name: string }[]): string[] {
  const taken = new Set(columns.map(({ name }) => name));
  if (taken.size === columns.length) return columns.map(({ name }) => name);
  const counts = new Map<string, number>();
  return columns.map(({ name }) => {
    let count = (counts.get(name) ?? 0) + 1;
    let member = name;
    if (count > 1) {
      while (taken.has(member = `${name}_${count}`)) count++;
      taken.add(member);
    }
    counts.set(name, count);
    return member;
  });
}
