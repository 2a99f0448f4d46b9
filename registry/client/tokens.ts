/**
 * Tokens: `auth.toml` by registry, then `HOST_TOKEN` for every registry.
 *
 *     [tokens]
 *     "octo-games/packages" = "…"
 */
import { parse } from "smol-toml";
import { editToml, tomlText } from "../manifest/toml_edit.ts";
import type { RegistryHost } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";

/** Owner alone may read and write. */
const FILE_MODE = 0o600;

/** The token of a registry; null when there is none. */
export async function tokenFor(host: RegistryHost, slug: string): Promise<string | null> {
  const { authFile, hostToken } = host.surroundings;
  const text = await host.files.readText(authFile);
  const stored = text === null ? null : readTokens(text, authFile).get(slug) ?? null;
  return stored ?? hostToken;
}

function readTokens(text: string, file: string): Map<string, string> {
  let tokens: unknown;
  try {
    tokens = parse(text)["tokens"] ?? {};
  } catch {
    throw damaged(file);
  }
  if (typeof tokens !== "object" || tokens === null) throw damaged(file);
  return new Map(
    Object.entries(tokens).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function damaged(file: string): RegistryError {
  return new RegistryError("bad-auth-file", `Cannot read ${file}: it is not TOML with a table [tokens]`, {
    hint: "Mend it, or remove it and run `lang pkg login` again.",
  });
}

/** Stores the token of a registry, readable by its owner alone. */
export async function storeToken(host: RegistryHost, slug: string, token: string): Promise<void> {
  if (!/^[\x21-\x7e]{1,1000}$/.test(token)) {
    throw new RegistryError("bad-token", "Cannot store the token: it has characters that no token has", {
      kind: "usage",
      hint: "PKG_LOGIN_TOKEN holds the token alone, without spaces and line breaks.",
    });
  }
  const { authFile } = host.surroundings;
  const before = await host.files.readText(authFile) ?? "";
  readTokens(before, authFile);
  const after = editToml(before, { table: "tokens", key: slug, value: tomlText(token) });
  if (after === null) throw damaged(authFile);
  await host.files.write(authFile, after, { mode: FILE_MODE });
}
