/**
 * Trap sites: the custom section `lang.sites` of a compiled module, which says where and why each trap happens.
 *
 * Format: count of files, their paths; count of kinds, their names; count of sites, each kind, file, line and column.
 * Numbers are LEB128, texts have their length before them; line 0 stands for no place.
 */

/** What one site is for. */
export interface TrapPosition {
  readonly kind: string;
  /** Null where the compiler's own code traps. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | null;
}

/** The sites of a compiled module, in the order of their numbers. */
export function trapSitesOf(module: WebAssembly.Module): readonly TrapPosition[] {
  const [section] = WebAssembly.Module.customSections(module, "lang.sites");
  return section === undefined ? [] : decodeTrapSites(new Uint8Array(section));
}

/** The sites that a section holds. */
function decodeTrapSites(bytes: Uint8Array): readonly TrapPosition[] {
  let at = 0;
  const unsigned = (): number => {
    let value = 0;
    for (let shift = 0;; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) throw new RangeError("Cannot read the trap sites: the section ends too early");
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  const text = (): string => {
    const length = unsigned();
    const value = new TextDecoder().decode(bytes.subarray(at, at + length));
    at += length;
    return value;
  };
  const list = <Item>(read: () => Item): Item[] => Array.from({ length: unsigned() }, read);
  const files = list(text);
  const kinds = list(text);
  return list(() => {
    const kind = kinds[unsigned()] ?? "";
    const file = files[unsigned()] ?? "";
    const line = unsigned();
    const column = unsigned();
    return { kind, place: line === 0 ? null : { file, line, column } };
  });
}
