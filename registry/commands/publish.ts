/**
 * `publish`: writes the tarball and its checksum file into `.lang/publish/`, and with a token makes the release and
 * uploads both.
 *
 * Before anything is written the package is looked at: its manifest, the tag of its version, links in its tree,
 * dependencies that no other machine has.
 */
import { packTree } from "../archive/pack.ts";
import { formatSidecar } from "../archive/sidecar.ts";
import { isExcluded, publishedFiles, sha256, type TreeFile } from "../archive/tree.ts";
import { checkLocked, openProject, type Project, type Session } from "../client/project.ts";
import { tokenFor } from "../client/tokens.ts";
import { REGISTRY_LIMITS } from "../limits.ts";
import { hasReadableTag, type PackageVersion, sidecarName, tagOf, tarballName } from "../names.ts";
import { RegistryError } from "../registry_error.ts";
import { checkRequirement } from "../requirement.ts";
import { PUBLISH_FOLDER, uploadRelease } from "./upload_release.ts";

/** What was published. */
export interface PublishOutcome {
  readonly release: PackageVersion;
  readonly slug: string;
  readonly files: readonly string[];
  readonly hash: string;
  readonly bytes: number;
  /** Relative paths of the artifacts; empty for a dry run. */
  readonly artifacts: readonly string[];
  /** The release's page; null when nothing was sent. */
  readonly url: string | null;
  /** Whether a token was there. */
  readonly hasToken: boolean;
}

/** Publishes the package. */
export async function publishPackage(
  session: Session,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<PublishOutcome> {
  const { host, root } = session;
  const project = await openProject(session);
  if (session.isLocked) checkLockfile(session, project);
  const release = checkPublishable(project);
  const files = publishedFiles(await host.files.walk(root, isExcluded));
  const slug = project.manifest.registries[0] ?? "";
  const tarball = await packed(session, release, files);
  const hash = sha256(tarball);
  const sidecar = new TextEncoder().encode(formatSidecar(release, hash));
  const token = await tokenFor(host, slug);
  const outcome = {
    release,
    slug,
    files: files.map(({ path }) => path),
    hash,
    bytes: tarball.length,
    hasToken: token !== null,
  };
  if (isDryRun) return { ...outcome, artifacts: [], url: null };
  const artifacts = [tarballName(release), sidecarName(release)].map((name) => `${PUBLISH_FOLDER}/${name}`);
  const [tarballPath = "", sidecarPath = ""] = artifacts;
  await host.files.write(`${root}/${tarballPath}`, tarball);
  await host.files.write(`${root}/${sidecarPath}`, sidecar);
  if (token === null || session.isOffline) return { ...outcome, artifacts, url: null };
  const url = await uploadRelease(session, {
    slug,
    token,
    release,
    manifest: project.manifestText,
    files: [
      { name: tarballName(release), contentType: "application/gzip", bytes: tarball, hash },
      { name: sidecarName(release), contentType: "text/plain", bytes: sidecar, hash: sha256(sidecar) },
    ],
  });
  return { ...outcome, artifacts, url };
}

function checkPublishable({ manifest }: Project): PackageVersion {
  const { name, version, dependencies } = manifest;
  const refuse = (reason: string, hint: string) =>
    new RegistryError("unpublishable", `Cannot publish ${name}: ${reason}`, { hint });
  if (!manifest.hasVersion) {
    throw refuse("project.toml has no version", 'Write `version = "0.1.0"`.');
  }
  const release = { name, version };
  if (!hasReadableTag(release)) {
    throw refuse(
      `its tag ${tagOf(release)} would be read as another package`,
      "A version's suffix may not begin with a digit, nor have a dash before a digit.",
    );
  }
  for (const [other, { kind }] of dependencies) {
    if (kind === "registry") continue;
    throw refuse(
      `it needs ${other} from ${
        kind === "path" ? "a folder" : "a git repository"
      }, which a registry cannot offer`,
      `Publish ${other} first, then \`lang pkg add ${other}\`.`,
    );
  }
  if (manifest.yanked !== null) throw refuse("its manifest says that it was taken back", "Remove `yanked`.");
  return release;
}

/** Whether the lockfile locks all that the manifest asks for: what was tested is then what it names. */
function checkLockfile(session: Session, { manifest, locked }: Project): void {
  checkLocked(session, locked, locked);
  for (const [name, dependency] of manifest.dependencies) {
    const isLocked = locked.some((each) =>
      each.name === name &&
      (dependency.kind !== "registry" || checkRequirement(dependency.requirement).allows(each.version))
    );
    if (isLocked) continue;
    throw new RegistryError(
      "locked",
      `Cannot keep to project.lock: it has no ${name} that fits project.toml`,
      {
        hint: "Without `--locked`, `lang pkg fetch` brings it up to date; commit it then.",
      },
    );
  }
}

async function packed(
  { host, root }: Session,
  release: PackageVersion,
  files: readonly TreeFile[],
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const read = async (path: string) => {
    const bytes = await host.files.readBytes(`${root}/${path}`);
    if (bytes === null) throw new RegistryError("disk", `Cannot pack ${path}: it is gone`);
    return bytes;
  };
  for await (const piece of packTree(release, files, read)) pieces.push(piece);
  const tarball = new Uint8Array(await new Blob(pieces).arrayBuffer());
  if (tarball.length <= REGISTRY_LIMITS.tarballBytes) return tarball;
  throw new RegistryError(
    "too-large",
    `Cannot publish ${release.name}: its tarball has ${tarball.length} bytes`,
  );
}
