/** Paths on disk that must not lead out of a folder, wherever links point. */

/** Where a path leads when all links are followed, with `/` between its parts; null when there is nothing. */
export function realPathOf(path: string): string | null {
  try {
    const real = Deno.realPathSync(path);
    return Deno.build.os === "windows" ? real.replace(/^\\\\\?\\/, "").replaceAll("\\", "/") : real;
  } catch {
    // Missing, a link to nothing, or not to be looked at.
    return null;
  }
}

/** Whether a real path is a folder or something in it. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
