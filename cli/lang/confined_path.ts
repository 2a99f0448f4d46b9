/** Paths on disk that must not lead out of a folder, wherever links point. */

/** Where a path leads when all links are followed; null when there is nothing. */
export function realPathOf(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    // Missing, a link to nothing, or not to be looked at.
    return null;
  }
}

/** Whether a real path is a folder or something in it. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`) ||
    path.startsWith(`${folder}\\`);
}
