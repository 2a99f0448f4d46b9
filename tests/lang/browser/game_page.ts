/**
 * A game in headless Chromium: its package is built, served by a plain file server, and opened in a page that writes
 * down what is painted and played.
 *
 * What a test sees is what the page does with its canvas: the texts and rectangles of the last frame, and the number
 * of tones. Nothing looks into the game.
 */
import { type Browser, chromium, type Page } from "playwright-core";
import { isInstalled, reportNotRun } from "../../../tools/not_run.ts";
import { DiskFiles } from "../../../cli/lang/shared/disk_files.ts";
import { build } from "../../../lang/commands/build.ts";
import { Workspace } from "../../../lang/commands/workspace.ts";
import { PAGE_RUNTIME } from "../../../lang/page_runtime/page_runtime.ts";
import { serveFolder } from "./static_server.ts";

const PROGRAM = "chromium";

/** What a test in a browser does. */
type BrowserTest = (browser: Browser) => Promise<void>;

const tests: { readonly name: string; readonly work: BrowserTest }[] = [];

/** A test that needs Chromium. Those of a file share one; where it is not installed, each is reported by its name. */
export function browserTest(name: string, work: BrowserTest): void {
  if (tests.length === 0) {
    Deno.test("in Chromium", async (context) => {
      await using browser = await openBrowser(tests.map((each) => each.name));
      if (browser === null) return;
      for (const each of tests) await context.step(each.name, () => each.work(browser));
    });
  }
  tests.push({ name, work });
}

/** Chromium; null when it is not installed, which is reported for all that it is wanted for. */
export async function openBrowser(purposes: readonly string[]): Promise<Browser | null> {
  if (!await isInstalled(PROGRAM)) {
    for (const purpose of purposes) reportNotRun(purpose, "chromium is not installed");
    return null;
  }
  const which = await new Deno.Command("which", { args: [PROGRAM], stdout: "piped" }).output();
  return await chromium.launch({
    executablePath: new TextDecoder().decode(which.stdout).trim(),
    // The sandbox of Chromium does not run as root, as machines that check projects do.
    args: ["--no-sandbox"],
  });
}

/** A package's folder in a temporary place. */
export interface Package extends AsyncDisposable {
  readonly folder: string;
  /** Builds it and tells how large the module is. */
  build(options?: { readonly isRelease?: boolean }): Promise<Uint8Array<ArrayBuffer>>;
}

/** A copy of a game's folder with the scripts of its page, as `lang new` writes them. */
export async function copyPackage(source: string): Promise<Package> {
  const folder = await Deno.makeTempDir({ prefix: "lang-package-" });
  await copyFolder(source, folder);
  for (const [path, text] of PAGE_RUNTIME) await Deno.writeTextFile(`${folder}/web/${path}`, text);
  return packageAt(folder);
}

/** A package of sources and the page of the game template. */
export async function packageOf(sources: Readonly<Record<string, string>>): Promise<Package> {
  const game = await copyPackage(TEMPLATE);
  await Deno.remove(`${game.folder}/src`, { recursive: true });
  await Deno.mkdir(`${game.folder}/src`);
  for (const [path, text] of Object.entries(sources)) {
    await Deno.writeTextFile(`${game.folder}/src/${path}`, text);
  }
  return game;
}

/** The template of games. */
export const TEMPLATE = new URL("../../../lang/templates/game", import.meta.url).pathname;

function packageAt(folder: string): Package {
  return {
    folder,
    async build(options = {}) {
      const { built, diagnostics } = await build(new Workspace(new DiskFiles(folder)), options);
      if (built === null) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
      return built.bytes;
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** A rectangle in pixels of the canvas. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly color: string;
}

/** How a page is opened. */
export interface PageOptions {
  readonly seed?: number;
  readonly isPhone?: boolean;
  /** Whether what is painted is written down, which takes time. */
  readonly isWatched?: boolean;
}

/** What a page shows. */
export class GamePage implements AsyncDisposable {
  readonly page: Page;
  /** Errors that nobody caught. */
  readonly errors: string[] = [];
  readonly #server: AsyncDisposable;

  constructor(page: Page, server: AsyncDisposable) {
    this.page = page;
    this.#server = server;
    page.on("pageerror", (error) => this.errors.push(error.message));
  }

  /** Opens the page of a package that was built, served by a plain file server. */
  static async open(browser: Browser, folder: string, options: PageOptions = {}): Promise<GamePage> {
    const server = serveFolder(folder);
    return await GamePage.openAt(browser, { address: `${server.address}/web/`, server }, options);
  }

  /** Opens the page at an address; the server ends with the page. */
  static async openAt(
    browser: Browser,
    site: { readonly address: string; readonly server: AsyncDisposable },
    options: PageOptions = {},
  ): Promise<GamePage> {
    const context = await browser.newContext(
      options.isPhone === true
        ? { viewport: { width: 390, height: 700 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }
        : { viewport: { width: 960, height: 600 } },
    );
    const page = await context.newPage();
    const isWatched = options.isWatched ?? true;
    if (isWatched) await page.addInitScript(OBSERVER);
    const game = new GamePage(page, site.server);
    await page.goto(`${site.address}?seed=${options.seed ?? 1}`);
    await page.waitForFunction(
      `globalThis.game?.stats.steps > ${isWatched ? 2 : 0} || document.querySelector(".problem")`,
    );
    return game;
  }

  /** Texts of the last frame. */
  texts(): Promise<string[]> {
    return this.page.evaluate<string[]>("seen.texts");
  }

  /** Rectangles of the last frame. */
  rectangles(): Promise<Rectangle[]> {
    return this.page.evaluate<Rectangle[]>("seen.rectangles");
  }

  /** Tones that were begun since the page was opened. */
  tones(): Promise<number> {
    return this.page.evaluate<number>("seen.tones");
  }

  /** A number that an expression of the page gives. */
  number(expression: string): Promise<number> {
    return this.page.evaluate<number>(expression);
  }

  /** Stops the clock of the game: from now on {@link advance} moves it. */
  async pause(): Promise<void> {
    await this.page.evaluate("game.pause()");
  }

  /** Makes steps until an expression of the page holds, and says how many; `limit` when it never does. */
  advance(limit: number, until = "false"): Promise<number> {
    return this.page.evaluate<number>(
      `(() => { let steps = 0; while (steps < ${limit} && !(${until})) { game.advance(); steps++; } return steps; })()`,
    );
  }

  /** The page as a picture. */
  async screenshot(path: string): Promise<void> {
    await this.page.screenshot({ path });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
    await this.#server[Symbol.asyncDispose]();
  }
}

/** Writes down what is painted and played. A frame of the loader begins with the clip of its picture. */
const OBSERVER = `
  const seen = globalThis.seen = { frames: 0, texts: [], rectangles: [], tones: 0 };
  const { clip, fillText, fillRect } = CanvasRenderingContext2D.prototype;
  Object.assign(CanvasRenderingContext2D.prototype, {
    clip(...args) {
      seen.frames++;
      seen.texts = [];
      seen.rectangles = [];
      clip.apply(this, args);
    },
    fillText(...args) {
      seen.texts.push(args[0]);
      fillText.apply(this, args);
    },
    fillRect(x, y, width, height) {
      const { a, d, e, f } = this.getTransform();
      seen.rectangles.push({ x: x * a + e, y: y * d + f, width: width * a, height: height * d, color: this.fillStyle });
      fillRect.call(this, x, y, width, height);
    },
  });
  const { start } = OscillatorNode.prototype;
  OscillatorNode.prototype.start = function (...args) {
    seen.tones++;
    start.apply(this, args);
  };
`;
