/** A machine for tests: its own home, cache, clock and packages on the disk, and a hosting service that it asks. */
import { DISK } from "../../registry/host/disk.ts";
import { openSession, type Session } from "../../registry/client/project.ts";
import type { RegistryHost } from "../../registry/ports.ts";
import { CLOCK, GIT } from "../../registry/host/deno_host.ts";
import { RegistryError } from "../../registry/registry_error.ts";
import { HostingServer } from "./hosting_server.ts";

/** One machine. */
export class Machine {
  readonly home: string;
  readonly host: RegistryHost;
  /** What was told, in its order. */
  readonly warnings: string[] = [];
  readonly notes: string[] = [];
  /** How long was slept. */
  readonly sleeps: number[] = [];
  /** Milliseconds since 1970. */
  now = 1_790_000_000_000;

  constructor(home: string, apiUrl: string, options: { readonly hostToken?: string } = {}) {
    this.home = home;
    this.host = {
      files: DISK,
      fetch: (url, init) => fetch(url, init),
      clock: {
        now: () => this.now,
        sleep: (milliseconds) => {
          this.sleeps.push(milliseconds);
          this.now += milliseconds;
          return Promise.resolve();
        },
        watchdog: (milliseconds) => CLOCK.watchdog(milliseconds),
      },
      git: GIT,
      reporter: {
        warn: (text) => void this.warnings.push(text),
        note: (text) => void this.notes.push(text),
        progress: () => {},
      },
      surroundings: {
        apiUrl,
        authFile: `${home}/config/lang/auth.toml`,
        cacheFolder: `${home}/cache`,
        hostToken: options.hostToken ?? null,
        proxy: null,
        userAgent: "lang/test",
      },
    };
  }

  /** A command on one of its packages. */
  session(
    name: string,
    options: { readonly isOffline?: boolean; readonly isLocked?: boolean } = {},
  ): Session {
    return openSession({ host: this.host, root: `${this.home}/${name}`, ...options });
  }

  /** Writes a package; gives its folder. */
  async write(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    for (const [path, text] of Object.entries(files)) await DISK.write(`${this.home}/${name}/${path}`, text);
    return `${this.home}/${name}`;
  }

  /** The text of a file in its home. */
  async read(path: string): Promise<string> {
    return await Deno.readTextFile(`${this.home}/${path}`);
  }

  /** Whether there is such a file. */
  async has(path: string): Promise<boolean> {
    return await DISK.size(`${this.home}/${path}`) !== null;
  }
}

/** What a test works with. */
export interface World {
  readonly server: HostingServer;
  readonly folder: string;
  machine(name: string, options?: { readonly hostToken?: string }): Machine;
}

/** The registry of the tests, and the token that may write to it. */
export const SLUG = "octo/games";
/** A token. */
export const TOKEN = "secret-token";

/**
 * Runs a test with a hosting service that has one repository; afterwards everything that it answered must be as
 * described.
 */
export async function withEnvironment(work: (world: World) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "registry-" });
  const server = HostingServer.start();
  server.addRepository(SLUG);
  server.tokens.set(TOKEN, [SLUG]);
  try {
    await work({
      server,
      folder,
      machine: (name, options) => new Machine(`${folder}/${name}`, server.apiUrl, options),
    });
    if (server.violations.length > 0) {
      throw new Error(`Not as the API is described:\n${server.violations.join("\n")}`);
    }
  } finally {
    await server.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A manifest of a package in the tests' registry. */
export function manifest(
  name: string,
  version: string,
  dependencies: Readonly<Record<string, string>> = {},
): string {
  const needs = Object.entries(dependencies).map(([other, requirement]) => `${other} = "${requirement}"\n`);
  return `name = "${name}"
version = "${version}"

[registry]
default = "${SLUG}"
${needs.length === 0 ? "" : `\n[dependencies]\n${needs.join("")}`}`;
}

/** The failure that some work of the registry must end with. */
export async function failure(work: Promise<unknown>): Promise<RegistryError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof RegistryError) return error;
    throw error;
  }
  throw new Error("It did not fail");
}
