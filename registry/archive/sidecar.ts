/** The file next to a tarball that says its SHA-256: `<64 hexadecimal digits>  <name>-<version>.tar.gz`, one line. */
import { type PackageVersion, tarballName } from "../names.ts";

/** The sidecar's text, which `sha256sum -c` reads. */
export function formatSidecar(release: PackageVersion, hash: string): string {
  return `${hash}  ${tarballName(release)}\n`;
}

/**
 * Reads a checksum: bare digits, `sha256:` and digits, or the whole line, whose name must be the tarball's.
 * Null when the text is none of them.
 */
export function parseSidecar(text: string, release: PackageVersion): string | null {
  const line = text.trim();
  const [, bare] = /^(?:sha256:)?([0-9a-fA-F]{64})$/.exec(line) ?? [];
  if (bare !== undefined) return bare.toLowerCase();
  const [, digits, name] = /^([0-9a-fA-F]{64}) [ *](\S+)$/.exec(line) ?? [];
  return digits !== undefined && name === tarballName(release) ? digits.toLowerCase() : null;
}
