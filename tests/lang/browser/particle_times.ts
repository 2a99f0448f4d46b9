/**
 * How long the particle demo takes for its frames in a browser, and whether its memory stays as it is.
 *
 * A frame is one call of `step` and one of `draw` with all that the page does to paint it; what the browser does
 * later on its own threads is not in it. `deno run -A tests/lang/browser/particle_times.ts [frames]` prints the
 * figures.
 */
import type { Browser } from "playwright-core";
import { copyPackage, GamePage, openBrowser } from "./game_page.ts";

/** What was measured. */
export interface ParticleTimes {
  readonly frames: number;
  /** In milliseconds. */
  readonly median: number;
  readonly mean: number;
  readonly percentile99: number;
  readonly medianStep: number;
  readonly heapBytesBefore: number;
  readonly heapBytesAfter: number;
  readonly memoryBytesBefore: number;
  readonly memoryBytesAfter: number;
  readonly errors: readonly string[];
}

const FOLDER = new URL("../../../lang/examples/particles", import.meta.url).pathname;

/** Plays so many frames, in batches between which the browser paints. */
export async function measureParticles(
  browser: Browser,
  frames: number,
  options: { readonly isRelease: boolean },
): Promise<ParticleTimes> {
  await using particles = await copyPackage(FOLDER);
  await particles.build(options);
  await using game = await GamePage.open(browser, particles.folder, { isWatched: false });
  await game.pause();
  const memory = () =>
    game.page.evaluate<[number, number]>(
      "[game.exports.heap_bytes.value, game.exports.memory.buffer.byteLength]",
    );
  await game.advance(60);
  const [heapBytesBefore, memoryBytesBefore] = await memory();
  const [times, steps] = await game.page.evaluate<[number[], number[]]>(measuring(frames));
  const [heapBytesAfter, memoryBytesAfter] = await memory();
  const sorted = times.toSorted((left, right) => left - right);
  return {
    frames,
    median: sorted[frames >> 1] ?? 0,
    mean: sorted.reduce((sum, each) => sum + each, 0) / frames,
    percentile99: sorted[Math.floor(frames * 0.99)] ?? 0,
    medianStep: steps.toSorted((left, right) => left - right)[frames >> 1] ?? 0,
    heapBytesBefore,
    heapBytesAfter,
    memoryBytesBefore,
    memoryBytesAfter,
    errors: game.errors,
  };
}

const measuring = (frames: number) =>
  `(async () => {
  const [times, steps] = [[], []];
  while (times.length < ${frames}) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const start = performance.now();
    game.advance();
    times.push(performance.now() - start);
    steps.push(game.stats.stepTime);
  }
  return [times, steps];
})()`;

if (import.meta.main) {
  await using browser = await openBrowser(["the particle demo"]);
  if (browser !== null) {
    const times = await measureParticles(browser, Number(Deno.args[0] ?? 10_000), { isRelease: true });
    console.log(JSON.stringify(times, null, 2));
  }
}
