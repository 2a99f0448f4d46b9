/** The commands of `lang pkg`: what each is asked, and what it prints. */
import { type FetchOutcome, fetchPackages } from "../../../registry/client/fetch_packages.ts";
import { storeToken } from "../../../registry/client/tokens.ts";
import { openProject } from "../../../registry/client/project.ts";
import {
  addDependency,
  removeDependency,
  updateDependencies,
} from "../../../registry/commands/change_dependencies.ts";
import { listPackages, packageInfo, searchPackages } from "../../../registry/commands/look_up.ts";
import { publishPackage } from "../../../registry/commands/publish.ts";
import { vendorPackages, verifyPackages } from "../../../registry/commands/vendor.ts";
import { setting } from "../../../registry/host/deno_host.ts";
import { checkSlug, tarballName } from "../../../registry/names.ts";
import { RegistryError } from "../../../registry/registry_error.ts";
import { printable } from "../../../registry/printable.ts";
import type { LockChange } from "../../../registry/resolution/changes.ts";
import { sizeText } from "../../../lang/commands/size_text.ts";
import { type EffectChange, newEffects } from "./effects.ts";
import type { PkgAnswer, PkgContext } from "./run.ts";

type PkgCommand = (context: PkgContext) => Promise<PkgAnswer>;

/** By name. */
export const PKG_COMMANDS: ReadonlyMap<string, PkgCommand> = new Map<string, PkgCommand>([
  ["add", add],
  ["remove", remove],
  ["update", update],
  ["fetch", fetchAll],
  ["list", list],
  ["search", search],
  ["info", info],
  ["login", login],
  ["publish", publish],
  ["vendor", vendor],
  ["verify", verify],
]);

async function add({ session, request }: PkgContext): Promise<PkgAnswer> {
  const [name = "", inline] = splitAtFirst(request.argument ?? "", "@");
  const { require, path, git, rev } = request.options;
  if (inline !== undefined && (require ?? path ?? git) !== undefined) {
    throw usage(
      `Cannot add ${name}: it is asked for in two ways`,
      "Write one of @requirement, --version, --path and --git.",
    );
  }
  if (rev !== undefined && git === undefined) {
    throw usage("Cannot use --rev: it belongs to --git");
  }
  const outcome = await addDependency(session, {
    name,
    requirement: inline ?? require ?? null,
    path: path ?? null,
    git: git ?? null,
    revision: rev ?? null,
  });
  const { written, version, isUnresolved, changes } = outcome;
  if (isUnresolved) {
    const again = inline === undefined && require === undefined
      ? `; \`lang pkg add ${name}\` then requires what there is`
      : "";
    session.host.reporter.warn(
      `No cached index has ${name} for ${written}: it is locked as ${version}, unresolved. ` +
        `\`lang pkg update --refresh\` asks the registries${again}`,
    );
  }
  const state = isUnresolved ? ", unresolved" : "";
  return {
    json: { name, requirement: written, version, unresolved: isUnresolved, changes },
    text: `added ${name} = ${written} (${version}${state})\n${
      changesText(changes.filter((each) => each.name !== name))
    }`,
  };
}

function splitAtFirst(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

async function remove({ session, request }: PkgContext): Promise<PkgAnswer> {
  const name = request.argument ?? "";
  const { changes } = await removeDependency(session, name);
  return {
    json: { name, changes },
    text: `removed ${name}\n${changesText(changes.filter((each) => each.name !== name))}`,
  };
}

async function update({ session, request }: PkgContext): Promise<PkgAnswer> {
  const refresh = request.options.refresh ?? false;
  const { changes, packages } = await updateDependencies(session, { name: request.argument, refresh });
  const hasUnresolved = packages.some((each) => each.isUnresolved);
  for (const { name, version } of packages.filter((each) => each.isUnresolved)) {
    session.host.reporter.warn(`No index has ${name} ${version}: it is unresolved`);
  }
  // With the network allowed, what is new is fetched, and then its effects are known.
  const fetched = refresh && !hasUnresolved ? await fetchPackages(session) : null;
  const all = [...changes, ...fetched?.changes ?? []];
  const effects = fetched === null ? [] : await newEffects(session, fetched.record);
  const nothing = packages.length === 0 ? "there are no dependencies\n" : "nothing changes\n";
  return {
    json: { changes: all, effects },
    text: (all.length === 0 ? nothing : changesText(all)) + effectsText(effects) + fetchedText(fetched),
  };
}

async function fetchAll({ session }: PkgContext): Promise<PkgAnswer> {
  const outcome = await fetchPackages(session);
  const effects = await newEffects(session, outcome.record);
  const { changes, unpacked, downloaded, record } = outcome;
  const count = record.packages.length;
  const still = unpacked.length === 0 ? `${countText(count, "package")}, nothing to do\n` : "";
  return {
    json: { packages: count, unpacked, downloaded, changes, effects },
    text: changesText(changes) + fetchedText(outcome) + effectsText(effects) + still,
  };
}

function fetchedText(outcome: FetchOutcome | null): string {
  return (outcome?.unpacked ?? []).map(({ name, version }) => {
    const isNew = outcome?.downloaded.some((each) => each.name === name && each.version === version);
    return `fetched ${name} ${version}${isNew ? "" : " (from the cache)"}\n`;
  }).join("");
}

function changesText(changes: readonly LockChange[]): string {
  return changes.map((change) => {
    switch (change.kind) {
      case "added":
        return `  + ${change.name} ${change.to}\n`;
      case "removed":
        return `  - ${change.name} ${change.from}\n`;
      case "changed":
        return `  ~ ${change.name} ${change.from} -> ${change.to}\n`;
      case "moved":
        return `  ~ ${change.name} ${change.to} now from ${change.source}\n`;
    }
  }).join("");
}

function effectsText(effects: readonly EffectChange[]): string {
  return effects.map(({ name, version, effects }) =>
    `${name} ${version} newly uses ${effects.join(" and ")}\n`
  )
    .join("");
}

async function list({ session }: PkgContext): Promise<PkgAnswer> {
  const packages = await listPackages(session);
  const width = Math.max(0, ...packages.map(({ name, version }) => `${name} ${version}`.length));
  const lines = packages.map((each) => {
    const marks = [
      each.isDirect ? "" : "through others",
      each.isUnresolved ? "unresolved" : each.isFetched ? "" : "not fetched",
      each.yanked === null ? "" : `taken back: ${printable(each.yanked)}`,
    ].filter((mark) => mark !== "");
    return `${`${each.name} ${each.version}`.padEnd(width)}  ${each.source}${
      marks.length === 0 ? "" : `  (${marks.join("; ")})`
    }\n`;
  });
  return { json: { packages }, text: lines.length === 0 ? "there are no dependencies\n" : lines.join("") };
}

async function search({ session, request }: PkgContext): Promise<PkgAnswer> {
  const packages = await searchPackages(session, request.argument ?? "");
  const width = Math.max(0, ...packages.map(({ name, version }) => `${name} ${version}`.length));
  const lines = packages.map(({ name, version, description, registry }) =>
    `${`${name} ${version}`.padEnd(width)}  ${
      description === null ? "" : `${printable(description)}  `
    }(${registry})\n`
  );
  return { json: { packages }, text: lines.length === 0 ? "nothing found\n" : lines.join("") };
}

async function info({ session, request }: PkgContext): Promise<PkgAnswer> {
  const found = await packageInfo(session, request.argument ?? "");
  const needs = Object.entries(found.dependencies ?? {}).map(([name, requirement]) =>
    `  needs ${name} ${requirement}\n`
  );
  const versions = found.versions.map(({ version, registry, yanked, url }) =>
    `  ${version}  ${registry}${yanked === null ? "" : `  taken back: ${printable(yanked)}`}${
      url === "" ? "" : `  ${printable(url)}`
    }\n`
  );
  const description = found.description === null ? "" : `: ${printable(found.description)}`;
  return { json: { ...found }, text: `${found.name}${description}\n${needs.join("")}${versions.join("")}` };
}

async function login({ session, host, request }: PkgContext): Promise<PkgAnswer> {
  const slug = request.argument === null
    ? (await openProject(session)).manifest.registries[0] ?? ""
    : checkSlug(request.argument);
  const token = setting("PKG_LOGIN_TOKEN");
  if (token === null) {
    throw usage(
      "Cannot log in: PKG_LOGIN_TOKEN is not set",
      "It holds the token; there is no prompt, and no argument for it.",
    );
  }
  await storeToken(host, slug, token);
  const file = host.surroundings.authFile;
  return { json: { slug, file }, text: `stored the token of ${slug} in ${file}\n` };
}

async function publish({ session, request }: PkgContext): Promise<PkgAnswer> {
  const isDryRun = request.options.dryRun ?? false;
  const outcome = await publishPackage(session, { isDryRun });
  const { release, slug, files, hash, bytes, artifacts, url, hasToken } = outcome;
  const json = { ...release, registry: slug, files, hash, bytes, artifacts, url };
  if (url !== null) return { json, text: `${printable(url)}\n` };
  const what = `${tarballName(release)}  ${countText(files.length, "file")}, ${
    sizeText(bytes)
  }, sha256 ${hash}\n`;
  if (isDryRun) return { json, text: `${files.map((path) => `  ${path}\n`).join("")}${what}` };
  return {
    json,
    text: `${what}${
      hasToken
        ? "nothing was sent, because of --offline"
        : `nothing was sent, because there is no token for ${slug}`
    }; the files are\n${artifacts.map((path) => `  ${path}\n`).join("")}`,
  };
}

async function vendor({ session }: PkgContext): Promise<PkgAnswer> {
  const packages = await vendorPackages(session);
  return { json: { packages }, text: `copied ${countText(packages.length, "package")} into .lang/vendor/\n` };
}

async function verify({ session }: PkgContext): Promise<PkgAnswer> {
  const { packages, files, problems } = await verifyPackages(session);
  const summary = problems.length === 0
    ? `${countText(packages, "package")}, ${countText(files, "file")}: all as locked\n`
    : `${countText(problems.length, "difference")}\n`;
  return {
    json: { packages, files, problems },
    text: problems.map((each) => `${printable(each)}\n`).join("") + summary,
    exitCode: problems.length === 0 ? 0 : 1,
  };
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function usage(message: string, hint: string | null = null): RegistryError {
  return new RegistryError("usage", message, { kind: "usage", hint });
}
