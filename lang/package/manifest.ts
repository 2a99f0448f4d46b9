/**
 * `project.toml`, the manifest of a package.
 *
 *     name = "pong"              # letters, digits, `_` and `-`, beginning with a small letter
 *     version = "0.1.0"          # semantic version
 *     target = "wasm32-web"      # what `build` makes; inferred from the entry points when it is left out
 *     description = "…"          # and authors, license, repository: for people
 *
 * The tables `[registry]` and `[dependencies]` belong to `lang pkg`. Other keys are warned about, because they are
 * most likely misspelt.
 */
import { parse, TomlError } from "smol-toml";
import type { Diagnostic, Fix } from "../diagnostics/diagnostic.ts";
import { codePage } from "../diagnostics/codes/registry.ts";
import { SourceFile, type Span } from "../source/source_file.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { keySpan, valueSpan } from "./manifest_place.ts";

/** What a package may be built for. */
export const TARGETS = ["wasm32-web", "wasm32-wasi", "wasm32-db"] as const;

/** One of them. */
export type PackageTarget = typeof TARGETS[number];

/** Whether the text names a target. */
export function isTarget(text: string): text is PackageTarget {
  return TARGETS.some((target) => target === text);
}

/** What a manifest says. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  /** Null: told by the entry points. */
  readonly target: PackageTarget | null;
  readonly description: string | null;
}

/** A manifest and what is wrong with it. */
export interface ParsedManifest {
  /** Null when there are errors. */
  readonly manifest: Manifest | null;
  readonly diagnostics: readonly Diagnostic[];
}

const TEXT_KEYS = ["name", "version", "target", "description", "license", "repository"] as const;
const OTHER_KEYS = ["authors", "registry", "dependencies"] as const;

/** Reads a manifest. */
export function parseManifest(text: string, path = "project.toml"): ParsedManifest {
  const file = new SourceFile(path, text);
  const reader = new ManifestReader(file);
  const manifest = reader.read();
  const hasErrors = reader.diagnostics.some(({ severity }) => severity === "error");
  return { manifest: hasErrors ? null : manifest, diagnostics: reader.diagnostics };
}

class ManifestReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly #file: SourceFile;

  constructor(file: SourceFile) {
    this.#file = file;
  }

  read(): Manifest | null {
    let table: Record<string, unknown>;
    try {
      table = parse(this.#file.text);
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const start = Math.min(
        (this.#file.lineStarts[error.line - 1] ?? 0) + Math.max(0, error.column - 1),
        this.#file.text.length,
      );
      const [, reason = error.message] = /: ([^\n]*)/.exec(error.message) ?? [];
      this.#report("PK0001", { start, end: Math.min(start + 1, this.#file.text.length) }, {
        message: `Cannot read the manifest: ${reason}.`,
        hint: 'A manifest is TOML: `name = "pong"`, one key in a line, texts in quotes.',
      });
      return null;
    }
    for (const key of Object.keys(table)) this.#checkKey(key);
    const texts = new Map<string, string>();
    for (const key of TEXT_KEYS) {
      const value = table[key];
      if (typeof value === "string") texts.set(key, value);
      else if (value !== undefined) this.#reportType(key, value);
    }
    const name = this.#name(texts.get("name"), table["name"] !== undefined);
    const version = this.#version(texts.get("version"));
    const target = this.#target(texts.get("target"));
    return { name, version, target, description: texts.get("description") ?? null };
  }

  #name(name: string | undefined, isThere: boolean): string {
    if (name === undefined) {
      if (!isThere) {
        this.#report("PK0002", { start: 0, end: 0 }, {
          message: "The manifest has no `name`.",
          fixes: [this.#fix("add a name", "placeholder", { start: 0, end: 0 }, 'name = "my_package"\n')],
        });
      }
      return "";
    }
    if (isPackageName(name)) return name;
    const fixed = packageNameOf(name);
    this.#report("PK0004", this.#value("name"), {
      message: `\`${name}\` is not a valid package name.`,
      hint:
        "Package names begin with a lower-case letter and contain lower-case letters, digits, `_` and `-`, at most 64 characters.",
      fixes: fixed === null
        ? []
        : [this.#fix(`name it \`${fixed}\``, "maybe", this.#value("name"), JSON.stringify(fixed))],
    });
    return name;
  }

  #version(version: string | undefined): string {
    if (version === undefined || isVersion(version)) return version ?? "0.0.0";
    const span = this.#value("version");
    const numbers = version.replace(/^v/i, "").split(".").map((part) => part.trim());
    const padded = [...numbers, "0", "0"].slice(0, Math.max(3, numbers.length)).join(".");
    this.#report("PK0005", span, {
      message: `\`${version}\` is not a valid version.`,
      hint: "A version consists of three numbers: `1.4.0`. A pre-release is written `1.4.0-beta.1`.",
      fixes: isVersion(padded)
        ? [this.#fix(`write \`${padded}\``, "maybe", span, JSON.stringify(padded))]
        : [],
    });
    return version;
  }

  #target(target: string | undefined): PackageTarget | null {
    if (target === undefined) return null;
    if (isTarget(target)) return target;
    const span = this.#value("target");
    const near = nearest(target, TARGETS)[0] ?? nearest(`wasm32-${target}`, TARGETS)[0];
    const choices = near === undefined ? TARGETS : [near];
    this.#report("PK0006", span, {
      message: `\`${target}\` is not a target.`,
      hint: `Targets are ${TARGETS.map((each) => `\`${each}\``).join(", ")}.`,
      fixes: choices.map((each) => this.#fix(`build for \`${each}\``, "maybe", span, JSON.stringify(each))),
    });
    return null;
  }

  #checkKey(key: string): void {
    const known: readonly string[] = [...TEXT_KEYS, ...OTHER_KEYS];
    if (known.includes(key)) return;
    const span = keySpan(this.#file.text, key);
    const near = nearest(key, known)[0];
    this.#report("PK0007", span, {
      message: `\`${key}\` is not a key of the manifest.`,
      hint: near === undefined
        ? `Known are ${known.map((each) => `\`${each}\``).join(", ")}.`
        : `Did you mean \`${near}\`?`,
      fixes: near === undefined ? [] : [this.#fix(`write \`${near}\``, "maybe", span, near)],
    });
  }

  #reportType(key: string, value: unknown): void {
    const span = this.#value(key);
    const isPlain = typeof value === "number" || typeof value === "boolean";
    const written = this.#file.text.slice(span.start, span.end);
    this.#report("PK0003", span, {
      message: `\`${key}\` must be a string, found ${nameOf(value)}.`,
      fixes: isPlain ? [this.#fix("put it in quotes", "safe", span, JSON.stringify(written))] : [],
    });
  }

  #value(key: string): Span {
    return valueSpan(this.#file.text, key);
  }

  #fix(title: string, applicability: Fix["applicability"], span: Span, text: string): Fix {
    return { title, applicability, edits: [{ file: this.#file, span, text }] };
  }

  #report(
    code: string,
    span: Span,
    details: { readonly message: string; readonly hint?: string; readonly fixes?: readonly Fix[] },
  ): void {
    const { title, severity } = codePage(code);
    this.diagnostics.push({
      code,
      severity,
      title,
      message: details.message,
      file: this.#file,
      span,
      labels: [],
      ...(details.hint === undefined ? {} : { hint: details.hint }),
      fixes: details.fixes ?? [],
      seeAlso: [],
    });
  }
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" || typeof value === "bigint") return "a number";
  if (typeof value === "boolean") return "a boolean";
  return value instanceof Date ? "a date" : "a table";
}

/** Whether a package may have this name. */
export function isPackageName(name: string): boolean {
  return /^[a-z][a-z0-9_-]{0,63}$/.test(name);
}

/** A valid name made of a text: `My Game` becomes `my_game`; null when nothing is left. */
export function packageNameOf(text: string): string | null {
  const name = text.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "_").replace(/^[^a-z]+/, "").replace(/_+$/, "")
    .slice(0, 64);
  return isPackageName(name) ? name : null;
}

/** Whether it is a semantic version (semver.org 2.0.0). */
export function isVersion(text: string): boolean {
  const number = "(0|[1-9]\\d*)";
  const word = "(0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)";
  return new RegExp(
    `^${number}\\.${number}\\.${number}(-${word}(\\.${word})*)?(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$`,
  ).test(text);
}
