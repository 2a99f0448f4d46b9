/** What a new resolution changes in the lockfile. */
import { type LockedPackage, sortPackages } from "../manifest/lockfile.ts";
import { sourceText } from "../names.ts";
import { compatibleLine } from "../requirement.ts";

/** One change. */
export type LockChange =
  | { readonly kind: "added"; readonly name: string; readonly to: string }
  | { readonly kind: "removed"; readonly name: string; readonly from: string }
  | { readonly kind: "changed"; readonly name: string; readonly from: string; readonly to: string }
  | { readonly kind: "moved"; readonly name: string; readonly to: string; readonly source: string };

/** The changes from one lockfile to another, by name. */
export function lockChanges(before: readonly LockedPackage[], after: readonly LockedPackage[]): LockChange[] {
  const names = [...new Set([...before, ...after].map(({ name }) => name))].sort();
  return names.flatMap((name) => {
    const old = sortPackages(before.filter((each) => each.name === name));
    const now = sortPackages(after.filter((each) => each.name === name));
    const gone = old.filter(({ version }) => now.every((each) => each.version !== version));
    const fresh = now.filter(({ version }) => old.every((each) => each.version !== version));
    const changes: LockChange[] = [];
    for (const each of fresh) {
      // The same line first; when there is but one of each, it is the successor.
      const index = gone.findIndex(({ version }) =>
        compatibleLine(version) === compatibleLine(each.version) || gone.length === 1 && fresh.length === 1
      );
      const [predecessor] = index < 0 ? [] : gone.splice(index, 1);
      changes.push(
        predecessor === undefined
          ? { kind: "added", name, to: each.version }
          : { kind: "changed", name, from: predecessor.version, to: each.version },
      );
    }
    for (const each of gone) changes.push({ kind: "removed", name, from: each.version });
    for (const each of now) {
      const same = old.find(({ version }) => version === each.version);
      if (same === undefined || sourceText(same.source) === sourceText(each.source)) continue;
      changes.push({ kind: "moved", name, to: each.version, source: sourceText(each.source) });
    }
    return changes;
  });
}

/** Whether two lockfiles lock the same packages with the same hashes. */
export function sameLock(left: readonly LockedPackage[], right: readonly LockedPackage[]): boolean {
  const key = (packages: readonly LockedPackage[]) =>
    sortPackages(packages).map(({ name, version, source, hash }) =>
      `${name} ${version} ${sourceText(source)} ${hash ?? ""}`
    ).join("\n");
  return key(left) === key(right);
}
