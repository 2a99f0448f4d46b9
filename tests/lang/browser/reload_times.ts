/**
 * How long it takes from saving Pong's source to the page that shows the new build, in Chromium, and what the parts
 * of it take:
 *
 *     deno run -A tests/lang/browser/reload_times.ts [saves]
 *
 * - built: the server has heard of the change, waited for the burst to end, and built (of which the build itself, in
 *   brackets)
 * - told: the page has the message
 * - shown: the page has fetched, compiled and started the module, and painted a frame with it
 */
import { ServeProcess } from "../serve/serve_process.ts";
import { copyPackage, GamePage, openBrowser, TEMPLATE } from "./game_page.ts";

const saves = Number(Deno.args[0] ?? 20);

/** Writes down when messages come and which background is painted, by the clock that page and test share. */
const WATCH = `
  const now = () => performance.timeOrigin + performance.now();
  globalThis.marks = { told: 0, shown: 0, wanted: "" };
  addEventListener("lang:build", () => marks.told = now(), true);
  const { fillRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillRect = function (...args) {
    if (this.fillStyle === marks.wanted && marks.shown === 0) marks.shown = now();
    fillRect.apply(this, args);
  };
`;

const browser = await openBrowser(["times of reloads"]);
if (browser !== null) {
  await using _browser = browser;
  await using pong = await copyPackage(TEMPLATE);
  const server = await ServeProcess.start(pong.folder, ["--watch"]);
  await using game = await GamePage.openAt(browser, { address: server.address, server }, {
    isWatched: false,
  });
  await game.page.evaluate(WATCH);
  const path = `${pong.folder}/src/main.lang`;
  const text = await Deno.readTextFile(path);
  const rows: { build: number; built: number; told: number; shown: number }[] = [];
  for (let index = 0; index < saves + 3; index++) {
    const red = 100 + index;
    const wanted = `#${red.toString(16)}1220`;
    await game.page.evaluate(`Object.assign(marks, { told: 0, shown: 0, wanted: "${wanted}" })`);
    const start = performance.timeOrigin + performance.now();
    await Deno.writeTextFile(path, text.replace("Color.rgb(16, 18, 32)", `Color.rgb(${red}, 18, 32)`));
    const line = await server.line(/^built/);
    const built = performance.timeOrigin + performance.now() - start;
    await game.page.waitForFunction("marks.shown > 0");
    const [told = 0, shown = 0] = await game.page.evaluate<number[]>("[marks.told, marks.shown]");
    // The first ones warm up.
    if (index >= 3) {
      rows.push({ build: Number(/\d+/.exec(line)?.[0]), built, told: told - start, shown: shown - start });
    }
  }
  const middle = (pick: (row: typeof rows[number]) => number, share = 0.5) =>
    Math.round(rows.map(pick).toSorted((left, right) => left - right)[Math.floor(rows.length * share)] ?? 0);
  console.log(
    `${rows.length} saves, medians in ms: built ${middle((row) => row.built)} (build ${
      middle((row) => row.build)
    }), ` +
      `told ${middle((row) => row.told)}, shown ${middle((row) => row.shown)}; nine of ten shown within ${
        middle((row) => row.shown, 0.9)
      }`,
  );
}
