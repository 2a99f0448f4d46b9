/**
 * Makes a release and uploads its files.
 *
 * A release cannot be made together with its files. When an earlier run was stopped in between, the release is there
 * without them: the next run finds it by its tag and, if it is of the same manifest and what it has are the same
 * bytes, uploads what is missing.
 */
import type { Purpose } from "../client/http_client.ts";
import type { Session } from "../client/project.ts";
import { REGISTRY_LIMITS } from "../limits.ts";
import { type PackageVersion, tagOf } from "../names.ts";
import { createReleaseRequest, listReleasesRequest, uploadAssetRequest } from "../protocol/requests.ts";
import {
  type CreatedRelease,
  findRelease,
  type HostedFile,
  parseCreatedRelease,
} from "../protocol/responses.ts";
import { mayUploadTo } from "../protocol/trust.ts";
import { RegistryError } from "../registry_error.ts";

/** Where artifacts go, relative to the package. */
export const PUBLISH_FOLDER = ".lang/publish";

/** A file of a release. */
export interface ReleaseFile {
  readonly name: string;
  readonly contentType: "application/gzip" | "text/plain";
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256. */
  readonly hash: string;
}

/** What is uploaded. */
export interface Upload {
  readonly slug: string;
  readonly token: string;
  readonly release: PackageVersion;
  /** The release's body. */
  readonly manifest: string;
  readonly files: readonly ReleaseFile[];
}

/** Makes the release with its files; gives the address of its page. */
export async function uploadRelease(session: Session, upload: Upload): Promise<string> {
  const { slug, token, release, files } = upload;
  const purpose = { doing: `publish ${release.name} ${release.version} in ${slug}`, slug, token };
  let pageUrl: string | null = null;
  try {
    const { created, missing } = await createRelease(session, upload, purpose);
    pageUrl = created.pageUrl;
    const { uploadUrl } = created;
    if (!mayUploadTo(uploadUrl, session.host.surroundings.apiUrl)) {
      throw new RegistryError(
        "bad-answer",
        `Cannot ${purpose.doing}: the server names an upload address elsewhere`,
      );
    }
    for (const file of files) {
      if (!missing.includes(file)) continue;
      await session.http.text(
        uploadAssetRequest({ uploadUrl, ...file }),
        { ...purpose, doing: `upload ${file.name} to ${slug}` },
        REGISTRY_LIMITS.pageBytes,
      );
    }
    return pageUrl;
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    const kept = `Both files are in ${PUBLISH_FOLDER}/, to be uploaded by hand.`;
    const made = pageUrl === null
      ? ""
      : ` The release ${pageUrl} is there, but not whole; \`lang pkg publish\` goes on with it.`;
    const hint = `${error.hint === null ? "" : `${error.hint} `}${kept}${made}`;
    throw new RegistryError(error.code, error.message, { hint, cause: error });
  }
}

interface MadeRelease {
  readonly created: CreatedRelease;
  /** The files that it does not have yet. */
  readonly missing: readonly ReleaseFile[];
}

async function createRelease(session: Session, upload: Upload, purpose: Purpose): Promise<MadeRelease> {
  const { slug, release, manifest, files } = upload;
  const { apiUrl } = session.host.surroundings;
  try {
    const request = createReleaseRequest({ apiUrl, slug, release, manifest });
    const { text } = await session.http.text(request, purpose, REGISTRY_LIMITS.pageBytes);
    return { created: parseCreatedRelease(text), missing: files };
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code !== "refused") throw error;
    const isTaken = /already exists|immutable/i.test(error.message);
    const half = isTaken ? await findHalf(session, upload, purpose) : null;
    if (half !== null) return half;
    const hint = isTaken
      ? "A version is published once: raise `version` in project.toml."
      : /repository is empty/i.test(error.message)
      ? `Tags point at a commit: ${slug} needs one, such as a README.`
      : null;
    throw new RegistryError(error.code, error.message, { hint, cause: error });
  }
}

/**
 * The release of an earlier run that was stopped; null when there is none, or one that is whole or of something else.
 */
async function findHalf(session: Session, upload: Upload, purpose: Purpose): Promise<MadeRelease | null> {
  const { host, http } = session;
  const { slug, release, manifest, files } = upload;
  for (let page = 1; page <= REGISTRY_LIMITS.pages; page++) {
    const request = listReleasesRequest({
      apiUrl: host.surroundings.apiUrl,
      slug,
      page,
      validators: null,
    });
    const { text } = await http.text(request, purpose, REGISTRY_LIMITS.pageBytes);
    const { count, found } = findRelease(text, tagOf(release));
    if (found !== null) {
      const missing = files.filter(({ name }) => found.files.every((each) => each.name !== name));
      const isOurs = sameText(found.body, manifest) && found.files.every((each) => isOneOf(each, files));
      if (!isOurs || missing.length === 0) return null;
      host.reporter.note(
        `${release.name} ${release.version} was published in part; uploading what is missing`,
      );
      return { created: found, missing };
    }
    if (count < REGISTRY_LIMITS.releasesPerPage) return null;
  }
  return null;
}

function isOneOf({ name, size, hash, isWhole }: HostedFile, files: readonly ReleaseFile[]): boolean {
  const file = files.find((each) => each.name === name);
  return file !== undefined && isWhole && size === file.bytes.length && (hash === null || hash === file.hash);
}

/** Services keep texts with line ends of their own. */
function sameText(left: string, right: string): boolean {
  const plain = (text: string) => text.replaceAll("\r\n", "\n").trimEnd();
  return plain(left) === plain(right);
}
