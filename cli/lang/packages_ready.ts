/**
 * Before a package is built, what it uses is fetched, if that was not done yet. A package that uses none pays one
 * look at its manifest.
 */
import type { Context } from "./shared/context.ts";
import { findPackage } from "./shared/package_folder.ts";

/** Fetches what is missing; false when that failed, which has been reported and has set the exit code. */
export async function readyPackages(
  context: Context,
  path: string | undefined,
  format: "human" | "json" = "human",
): Promise<boolean> {
  const { root, isAlone } = findPackage(path);
  if (isAlone || !mayUsePackages(root)) return true;
  const { bringPackages } = await import("./pkg/bring.ts");
  return await bringPackages(context, root, format);
}

function mayUsePackages(root: string): boolean {
  try {
    return Deno.readTextFileSync(`${root}/project.toml`).includes("dependencies");
  } catch {
    return false; // The command that opens the package reports it.
  }
}
