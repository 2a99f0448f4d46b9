/** Clock, git and the settings from outside, as Deno has them. */
import { DEFAULT_API_URL } from "../protocol/requests.ts";
import type { Clock, Git, RegistryHost, Reporter, Surroundings } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";
import { DISK } from "./disk.ts";

/** The machine's clock. */
export const CLOCK: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  watchdog(milliseconds) {
    const controller = new AbortController();
    const start = () =>
      setTimeout(() => controller.abort(new Error("the server said nothing for a minute")), milliseconds);
    let timer = start();
    return {
      signal: controller.signal,
      touch() {
        clearTimeout(timer);
        timer = start();
      },
      stop: () => clearTimeout(timer),
    };
  },
};

/** `git`, without questions to the user and without protocols that run programs. */
export const GIT: Git = {
  async run(parameters) {
    let output: Deno.CommandOutput;
    try {
      output = await new Deno.Command("git", {
        args: [...parameters],
        stdin: "null",
        env: {
          GIT_TERMINAL_PROMPT: "0",
          GIT_ALLOW_PROTOCOL: "https:ssh:file:http",
          LC_ALL: "C",
        },
      }).output();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new RegistryError("no-git", "Cannot run git: it is not installed", {
        hint: "Packages from git repositories need the program `git`.",
      });
    }
    if (output.success) return output.stdout;
    const lines = new TextDecoder().decode(output.stderr).trim().split("\n");
    const said = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? "";
    throw new RegistryError("git-failed", `Cannot run git: ${said.replace(/^(fatal|error): /, "")}`);
  },
};

/** Gives a variable of the environment; null when it is not set or empty. */
export type ReadSetting = (name: string) => string | null;

/** The settings of this process. */
export function surroundings(version: string, read: ReadSetting = setting): Surroundings {
  const home = (read("HOME") ?? read("USERPROFILE") ?? ".").replaceAll("\\", "/");
  const data = Deno.build.os === "windows"
    ? (read("APPDATA") ?? `${home}/AppData/Roaming`).replaceAll("\\", "/")
    : `${home}/.config`;
  const cache = Deno.build.os === "windows"
    ? (read("LOCALAPPDATA") ?? `${home}/AppData/Local`).replaceAll("\\", "/")
    : read("XDG_CACHE_HOME") ?? `${home}/.cache`;
  const api = apiUrl(read("LANG_API_URL") ?? DEFAULT_API_URL);
  return {
    apiUrl: api,
    proxy: proxyFor(api, read),
    authFile: `${data}/lang/auth.toml`,
    cacheFolder: read("LANG_CACHE") ?? `${cache}/lang`,
    hostToken: read("HOST_TOKEN"),
    userAgent: `lang/${version}`,
  };
}

/** A variable of the environment; null when it is not set or empty. */
export function setting(name: string): string | null {
  const value = Deno.env.get(name);
  return value === undefined || value === "" ? null : value;
}

/**
 * Where the run time sends requests to the API, as far as variables say; without the user and password that may be
 * in them.
 */
function proxyFor(api: string, read: ReadSetting): string | null {
  const { protocol, hostname } = new URL(api);
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = [name, name.toLowerCase(), "ALL_PROXY", "all_proxy"].map(read).find((each) => each !== null);
  const exceptions = (read("NO_PROXY") ?? read("no_proxy") ?? "").split(",").map((each) => each.trim());
  const isExcepted = exceptions.some((each) =>
    each !== "" && `.${hostname}`.endsWith(`.${each.replace(/^\*?\./, "")}`)
  );
  if (proxy === undefined || isExcepted) return null;
  const url = proxy.includes("://") ? proxy : `http://${proxy}`;
  return URL.canParse(url) ? new URL(url).host : null;
}

function apiUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "") return text.replace(/\/+$/, "");
  throw new RegistryError(
    "bad-address",
    `Cannot use LANG_API_URL "${text}": it is no address of a web service`,
    {
      kind: "usage",
      hint: "It names the hosting service's API: `https://host.example/api/v3`.",
    },
  );
}

/** The world of this process. */
export function denoHost(reporter: Reporter, version: string): RegistryHost {
  return {
    files: DISK,
    fetch: (url, init) => fetch(url, init),
    clock: CLOCK,
    git: GIT,
    reporter,
    surroundings: surroundings(version),
  };
}
