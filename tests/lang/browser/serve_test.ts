/** Pong under `lang serve --watch`: what is saved while somebody plays is seen at once, without losing the game. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { unzipSync } from "fflate";
import { runHere, ServeProcess } from "../serve/serve_process.ts";
import { browserTest, copyPackage, GamePage, type Package, packageOf, TEMPLATE } from "./game_page.ts";
import { serveFolder } from "./static_server.ts";

const PICTURES = Deno.env.get("LANG_PICTURES");

async function keepPicture(game: GamePage, name: string): Promise<void> {
  if (PICTURES !== undefined) await game.screenshot(`${PICTURES}/${name}.png`);
}

/** A package's page from `lang serve --watch`. */
async function watched(
  browser: Browser,
  { folder }: Package,
): Promise<{ game: GamePage; server: ServeProcess }> {
  const server = await ServeProcess.start(folder, ["--watch"]);
  try {
    return { server, game: await GamePage.openAt(browser, { address: server.address, server }) };
  } catch (error) {
    await server.end();
    throw error;
  }
}

async function edit({ folder }: Package, path: string, change: (text: string) => string): Promise<void> {
  const before = await Deno.readTextFile(`${folder}/${path}`);
  const after = change(before);
  assert.notEqual(after, before, "the edit changes something");
  await Deno.writeTextFile(`${folder}/${path}`, after);
}

/** The two points of the score as they are painted. */
async function score(game: GamePage): Promise<string[]> {
  return (await game.texts()).filter((text) => /^\d+$/.test(text));
}

/** The color in the middle of the ball. */
async function ballColor(game: GamePage): Promise<string> {
  return await game.page.evaluate<string>(`(() => {
    const [x, y] = seen.ball;
    const { data } = document.querySelector("canvas").getContext("2d").getImageData(x, y, 1, 1);
    return Array.from(data).slice(0, 3).join();
  })()`);
}

/** Writes down where the ball, the only circle, is painted in pixels. */
const BALL_OBSERVER = `{
  const { arc } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
    const { a, d, e, f } = this.getTransform();
    seen.ball = [Math.round(x * a + e), Math.round(y * d + f)];
    arc.call(this, x, y, ...rest);
  };
}`;

browserTest(
  "Pong is played, its ball's color changed, the program broken and fixed, and the score stays",
  async (browser) => {
    await using pong = await copyPackage(TEMPLATE);
    const { game, server } = await watched(browser, pong);
    await using _game = game;
    await game.page.evaluate(BALL_OBSERVER);
    const loaded = await game.page.evaluate<number>("performance.timeOrigin");

    await game.page.keyboard.press("Space", { delay: 50 });
    await game.page.waitForFunction("!seen.texts.includes('PONG')");
    await game.page.keyboard.down("ArrowUp");
    await game.page.waitForFunction(
      "seen.rectangles.some((each) => each.color === '#50c8ff' && each.y < 40)",
    );
    await game.page.keyboard.up("ArrowUp");
    // The paddle stays at the top, so the computer gets a point.
    await game.pause();
    const steps = await game.advance(
      5_000,
      "seen.texts.filter((text) => /^[0-9]+$/.test(text)).join() === '0,2'",
    );
    assert.ok(steps < 5_000, "the computer has two points");
    await game.advance(60);
    assert.deepEqual(await score(game), ["0", "2"]);
    assert.equal(await ballColor(game), "235,240,255");

    await edit(
      pong,
      "src/main.lang",
      (text) => text.replace("physics.ball_radius, bright)", "physics.ball_radius, Color.rgb(255, 80, 160))"),
    );
    assert.match(await server.line(/^built/), /^built, \d+ ms$/);
    await game.page.waitForFunction(`(() => {
      game.advance();
      const [x, y] = seen.ball;
      const { data } = document.querySelector("canvas").getContext("2d").getImageData(x, y, 1, 1);
      return Array.from(data).slice(0, 3).join() === "255,80,160";
    })()`);
    assert.deepEqual(await score(game), ["0", "2"]);
    assert.equal(await game.page.evaluate("performance.timeOrigin"), loaded, "the page was not loaded again");
    await keepPicture(game, "serve-color");

    await edit(pong, "src/main.lang", (text) => text.replace("state.ticks += 1", 'state.ticks += "one"'));
    const overlay = game.page.locator("lang-serve .problems");
    await overlay.waitFor();
    const report = await overlay.locator("pre").textContent() ?? "";
    assert.match(report, /error\[TY\d{4}\]/);
    assert.match(report, /--> src\/main\.lang:\d+:\d+/);
    assert.match(report, /state\.ticks \+= "one"\n.*\^\^/);
    assert.match(await overlay.locator("h1").innerText(), /^1 error$/);
    // What the page shows is what the terminal shows.
    assert.ok(server.errors.includes(report.trim()), server.errors);
    const marks = await overlay.locator("pre .error").allInnerTexts();
    assert.ok(marks.some((text) => /^\^+$/.test(text)), "carets have the color of errors");
    await keepPicture(game, "serve-overlay");

    await edit(pong, "src/main.lang", (text) => text.replace('state.ticks += "one"', "state.ticks += 1"));
    await overlay.waitFor({ state: "detached" });
    assert.deepEqual(await score(game), ["0", "2"]);
    await keepPicture(game, "serve-fixed");
    assert.deepEqual(game.errors, []);
  },
);

browserTest("a game whose state has another type starts anew and says so", async (browser) => {
  await using pong = await copyPackage(TEMPLATE);
  const { game } = await watched(browser, pong);
  await using _game = game;
  await game.page.keyboard.press("Space", { delay: 50 });
  await game.page.waitForFunction("!seen.texts.includes('PONG')");
  await edit(
    pong,
    "src/main.lang",
    (text) =>
      text.replace("  ticks: Int,\n", "  ticks: Int,\n  rounds: Int,\n").replace(
        "    ticks: 0,\n",
        "    ticks: 0,\n    rounds: 0,\n",
      ),
  );
  const notice = game.page.locator("lang-serve .notice");
  await notice.waitFor();
  assert.equal(await notice.innerText(), "The game starts anew: its state has another type now.");
  await game.page.waitForFunction("seen.texts.includes('PONG')");
  await keepPicture(game, "serve-anew");
  assert.deepEqual(game.errors, []);
});

const FRAGILE = `
use web.canvas
use web.input
type State = { ticks: Int }
pub fn init(_seed: Int) -> State { State { ticks: 0 } }
pub fn step(state: inout State, input: Input) {
  state.ticks += 1
  if input.pressed(X) { panic("enough") }
}
pub fn draw(state: State) uses Draw {
  canvas.clear(Color.black)
  canvas.text(10.0, 20.0, if state.ticks > 0 { "running" } else { "new" }, Color.white)
}
`;

browserTest(
  "a game that had ended with an error starts anew with the next build, and its message goes",
  async (browser) => {
    await using fragile = await packageOf({ "main.lang": FRAGILE });
    const { game } = await watched(browser, fragile);
    await using _game = game;
    await game.page.keyboard.press("x", { delay: 50 });
    const problem = game.page.locator(".problem");
    await problem.waitFor();
    assert.match(await problem.innerText(), /enough\s+src\/main\.lang:8:/);
    await edit(fragile, "src/main.lang", (text) => text.replace('panic("enough")', "state.ticks = 1"));
    await problem.waitFor({ state: "detached" });
    assert.equal(
      await game.page.locator("lang-serve .notice").innerText(),
      "The game starts anew: it had stopped.",
    );
    const steps = await game.number("game.stats.steps");
    await game.page.waitForFunction(`game.stats.steps > ${steps} && seen.texts.includes("running")`);
  },
);

browserTest("a long report is read by scrolling, on a small screen too", async (browser) => {
  const wrong = Array.from(
    { length: 30 },
    (_, n) => `fn wrong_${n}() -> Int { "this is a text, and no number at all" }`,
  );
  await using broken = await packageOf({ "main.lang": FRAGILE + wrong.join("\n") });
  await using server = await ServeProcess.start(broken.folder, ["--watch"]);
  const page = await browser.newPage({ viewport: { width: 390, height: 700 } });
  await page.goto(server.address);
  const report = page.locator("lang-serve .problems pre");
  await report.waitFor();
  const sizes = await page.evaluate<Record<string, unknown>>(`(() => {
    const element = document.querySelector("lang-serve").shadowRoot.querySelector("pre");
    return {
      isHigher: element.scrollHeight > 3 * element.clientHeight,
      endsOnScreen: element.getBoundingClientRect().bottom <= innerHeight,
      font: getComputedStyle(element).fontSize,
      proseFits: [...element.querySelectorAll(".prose")].every((line) => line.scrollWidth <= line.clientWidth + 1),
    };
  })()`);
  assert.deepEqual(sizes, { isHigher: true, endsOnScreen: true, font: "14px", proseFits: true });
  await report.focus();
  await page.keyboard.press("End");
  await page.waitForFunction(
    "(({ scrollTop, scrollHeight, clientHeight }) => scrollTop + clientHeight > scrollHeight - 2)(document.querySelector('lang-serve').shadowRoot.querySelector('pre'))",
  );
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/serve-long.png` });
  await page.close();
});

browserTest("a change of the page loads it again, and the game goes on in it", async (browser) => {
  await using pong = await copyPackage(TEMPLATE);
  const { game } = await watched(browser, pong);
  await using _game = game;
  await game.page.keyboard.press("Space", { delay: 50 });
  await game.page.waitForFunction("!seen.texts.includes('PONG')");
  await game.page.keyboard.press("p", { delay: 50 });
  await game.page.waitForFunction("seen.texts.includes('PAUSED')");
  await edit(
    pong,
    "web/index.html",
    (text) => text.replace("<title>Pong</title>", "<title>Pong, again</title>"),
  );
  await game.page.waitForFunction(
    "document.title === 'Pong, again' && globalThis.seen?.texts.includes('PAUSED')",
  );
  assert.deepEqual(game.errors, []);
});

browserTest(
  "errors from the start are shown, and the page comes with the first good build",
  async (browser) => {
    await using broken = await packageOf({ "main.lang": "pub fn init(seed: Int) -> Int { seed + }\n" });
    await using server = await ServeProcess.start(broken.folder, ["--watch"]);
    const page = await browser.newPage();
    await page.goto(server.address);
    const overlay = page.locator("lang-serve .problems");
    await overlay.waitFor();
    assert.match(await overlay.innerText(), /There is no good build yet/);
    await page.keyboard.press("Escape");
    await overlay.waitFor({ state: "detached" });
    await edit(
      broken,
      "src/main.lang",
      () =>
        "use web.canvas\npub fn init(seed: Int) -> Int { seed }\npub fn step(_state: inout Int) {}\npub fn draw(_state: Int) uses Draw { canvas.clear(Color.black) }\n",
    );
    await page.waitForFunction(
      "globalThis.game !== undefined && document.querySelector('.problem') === null",
    );
    await page.close();
  },
);

browserTest("an unpacked archive runs on a plain host, below any path", async (browser) => {
  await using pong = await copyPackage(TEMPLATE);
  assert.equal((await runHere(["build", pong.folder, "--zip"])).code, 0);
  // A path of a host that looks like the folder of a package.
  const folder = `${pong.folder}/host/web/pong`;
  for (
    const [path, bytes] of Object.entries(unzipSync(await Deno.readFile(`${pong.folder}/target/pong.zip`)))
  ) {
    await Deno.mkdir(`${folder}/${path}`.replace(/[^/]*$/, ""), { recursive: true });
    await Deno.writeFile(`${folder}/${path}`, bytes);
  }
  const server = serveFolder(`${pong.folder}/host`);
  await using game = await GamePage.openAt(browser, { address: `${server.address}/web/pong/`, server });
  assert.ok((await game.texts()).includes("PONG"));
  assert.equal(await game.page.locator("lang-serve").count(), 0);
  assert.deepEqual(game.errors, []);
});

browserTest("a page waits for a server that comes back", async (browser) => {
  await using pong = await copyPackage(TEMPLATE);
  const first = await ServeProcess.start(pong.folder, ["--watch"]);
  const page = await browser.newPage();
  await page.goto(first.address);
  await page.waitForFunction("globalThis.game !== undefined");
  await page.evaluate("globalThis.isOld = true");
  assert.equal(await first.end(), 0);
  await using _second = await ServeProcess.start(pong.folder, ["--watch", "--port", String(first.port)]);
  await page.waitForFunction("globalThis.isOld === undefined && globalThis.game !== undefined");
  await page.close();
});
