/**
 * Builds the package of a page as `lang serve` wants it: for the web, in debug mode, in a component's envelope, into
 * `target/main.wasm`.
 */
import { CommandError } from "../../commands/command_error.ts";
import { build } from "../../commands/build.ts";
import type { Workspace } from "../../commands/workspace.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";

/** What came of a build. */
export type BuildAttempt =
  | {
    readonly kind: "built";
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly sourceMap: string | null;
    /** Warnings. */
    readonly diagnostics: readonly Diagnostic[];
  }
  /** The program has errors. */
  | { readonly kind: "errors"; readonly diagnostics: readonly Diagnostic[] }
  /** The package cannot be built for another reason: a missing manifest, or a fault of the compiler. */
  | {
    readonly kind: "failed";
    readonly message: string;
    /** What was thrown, for a fault of the compiler; else null. */
    readonly fault: { readonly thrown: unknown } | null;
  };

/** Builds once; what has not changed since the last time costs little. */
export async function buildPage(workspace: Workspace): Promise<BuildAttempt> {
  try {
    const { built, diagnostics } = await build(workspace, { target: "wasm32-web" });
    if (built === null) return { kind: "errors", diagnostics };
    const map = built.paths.find((path) => path.endsWith(".map"));
    const sourceMap = map === undefined ? null : workspace.files.read(map) ?? null;
    return { kind: "built", bytes: built.bytes, sourceMap, diagnostics };
  } catch (error) {
    if (error instanceof CommandError) {
      const message = error.hint === null ? error.message : `${error.message}\n\n${error.hint}`;
      return { kind: "failed", message, fault: null };
    }
    // The next build may well succeed, so a fault of the compiler does not end the server.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "failed", message, fault: { thrown: error } };
  }
}
