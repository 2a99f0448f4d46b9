/** The particle demo in a browser: it moves, follows the pointer, and takes no memory while it runs. */
import assert from "node:assert/strict";
import { browserTest, copyPackage, GamePage } from "./game_page.ts";
import { measureParticles } from "./particle_times.ts";

const FOLDER = new URL("../../../lang/examples/particles", import.meta.url).pathname;

browserTest("the particle demo paints 20 000 particles and its heap stays flat", async (browser) => {
  const times = await measureParticles(browser, 60, { isRelease: false });
  assert.equal(times.heapBytesAfter, times.heapBytesBefore);
  assert.equal(times.memoryBytesAfter, times.memoryBytesBefore);
  assert.ok(times.heapBytesBefore > 20_000 * 32, "the particles are in the heap");
  assert.deepEqual(times.errors, []);
});

browserTest("many rectangles are painted at once as one by one", async (browser) => {
  await using particles = await copyPackage(FOLDER);
  await particles.build();
  await using game = await GamePage.open(browser, particles.folder);
  await game.pause();
  await game.advance(3);
  await game.page.evaluate(`
    globalThis.pixels = () => {
      const canvas = document.querySelector("canvas");
      return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    };
    globalThis.quick = pixels();
    // With an opacity of its own for the canvas, the page paints one by one.
    const { clip } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clip = function (...args) {
      clip.apply(this, args);
      this.globalAlpha = 0.9999;
    };
  `);
  assert.ok(await game.number("seen.rectangles.length") < 10, "painted at once");
  await game.page.evaluate("game.exports.draw()");
  assert.ok(await game.number("seen.rectangles.length") > 20_000, "painted one by one");
  assert.ok(await game.number("new Set(quick).size") > 20, "the picture shows something");
  // The opacity may change a color by one or two.
  assert.equal(
    await game.number("pixels().reduce((count, value, at) => count + (Math.abs(value - quick[at]) > 2), 0)"),
    0,
  );
});
