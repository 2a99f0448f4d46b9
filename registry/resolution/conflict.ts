/** Explains why requirements do not fit together: who needs what because of whom, and what would help. */
import type { PackageVersion } from "../names.ts";
import { RegistryError } from "../registry_error.ts";
import type { IndexEntry } from "../registry_index.ts";
import type { Resolution } from "./resolver.ts";

/** One requirement on the way from a package to the manifest. */
export interface Step {
  /** Null: the manifest itself. */
  readonly requirer: PackageVersion | null;
  readonly name: string;
  readonly requirement: string;
}

/** A requirement that nothing satisfied. */
export interface Conflict {
  readonly name: string;
  /** The requirement, then why its package is there, up to the manifest. */
  readonly chain: readonly Step[];
  /** Those that the version in the way is there for. */
  readonly others: readonly (readonly Step[])[];
  /** The version in the way. */
  readonly taken: string | null;
  /** Whether no registry has a version that satisfies it. */
  readonly isUnknown: boolean;
  /** A version that would, had it not been taken back. */
  readonly yanked: IndexEntry | null;
}

/** Most ways out that are listed. */
const WAYS = 3;

/** The error of a conflict. */
export function explainConflict(
  conflict: Conflict,
  { root, requirements, solve }: {
    readonly root: string;
    readonly requirements: ReadonlyMap<string, string>;
    readonly solve: (requirements: ReadonlyMap<string, string>) => Resolution | null;
  },
): RegistryError {
  const { name, chain, others, taken, yanked } = conflict;
  const lines = [chain, ...others].map((steps) => `  ${chainText(steps, root)}`);
  if (yanked !== null) {
    return new RegistryError(
      "yanked",
      `Cannot choose a version of ${name}: each that fits was taken back\n${lines.join("\n")}\n` +
        `  ${name} ${yanked.version} was taken back: ${yanked.yanked ?? ""}`,
      { hint: `Require another version of ${name}.` },
    );
  }
  if (conflict.isUnknown) lines.push(`  no registry has a version of ${name} for the first`);
  const directNames = [chain, ...others].map((steps) => steps.at(-1)?.name ?? "");
  const ways = [...new Set(directNames)].flatMap((direct) => {
    const found = solve(new Map([...requirements, [direct, "*"]]))?.direct.get(direct);
    if (found === undefined || found === requirements.get(direct)) return [];
    return [`\`lang pkg add ${direct}@${found}\``];
  });
  return new RegistryError(
    "conflict",
    `Cannot choose a version of ${name}: no version fits these requirements${
      taken === null ? "" : ` (${name} ${taken} is chosen for the second)`
    }\n${lines.join("\n")}`,
    {
      hint: ways.length === 0
        ? `No other version of a package that ${root} needs would help; one of those that need ${name} must change.`
        : `This would resolve it: ${ways.slice(0, WAYS).join(", or ")}.`,
    },
  );
}

/** `pong 1.2.0 needs fx ^0.3 because my_game needs pong ^1.0`. */
function chainText(steps: readonly Step[], root: string): string {
  return steps.map(({ requirer, name, requirement }) => {
    const who = requirer === null ? root : `${requirer.name} ${requirer.version}`;
    return `${who} needs ${name} ${requirement}`;
  }).join(" because ");
}
