/** Snake and the platformer, played in a browser. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { browserTest, copyPackage, GamePage } from "./game_page.ts";

const EXAMPLES = new URL("../../../lang/examples/", import.meta.url).pathname;

async function play(browser: Browser, name: string, work: (game: GamePage) => Promise<void>): Promise<void> {
  await using example = await copyPackage(EXAMPLES + name);
  await example.build();
  await using game = await GamePage.open(browser, example.folder);
  await work(game);
  assert.deepEqual(game.errors, []);
}

browserTest("Snake turns, eats, ends at the wall, and keeps its best score", async (browser) => {
  await play(browser, "snake", async (game) => {
    assert.ok((await game.texts()).includes("SNAKE"));
    await game.pause();
    await game.page.keyboard.press("Space", { delay: 20 });
    await game.advance(1);
    assert.ok(!(await game.texts()).includes("SNAKE"));

    // The head is the brightest square; the food a circle, which a script below finds.
    assert.ok(await eatOnce(game), "the snake reaches its food");
    assert.ok((await game.texts()).includes("score 1"));
    const steps = await game.advance(
      3_000,
      "seen.texts.includes('GAME OVER') || seen.texts.includes('NEW BEST')",
    );
    assert.ok(steps < 3_000, "the wall ends the game");
    const texts = await game.texts();
    assert.ok(texts.includes("NEW BEST") && texts.some((text) => /^best [1-9]/.test(text)), `${texts}`);

    await game.page.reload();
    await game.page.waitForFunction("globalThis.game !== undefined && seen.frames > 2");
    const best = texts.find((text) => text.startsWith("best "));
    assert.ok(best !== undefined && (await game.texts()).includes(best), "the page has kept it");
  });
});

/** Steers the snake by keys to where the red circle is painted. */
async function eatOnce(game: GamePage): Promise<boolean> {
  await game.page.evaluate(`
    const arc = CanvasRenderingContext2D.prototype.arc;
    CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
      if (this.fillStyle === "#e2463e") seen.food = [x, y - 1];
      arc.call(this, x, y, ...rest);
    };
    const place = ({ x, y, width, height }, scale, left, top) => [(x + width / 2 - left) / scale, (y + height / 2 - top) / scale];
    seen.head = () => {
      const head = seen.rectangles.filter((each) => each.color === "#96eb78").at(0);
      const scale = Math.min(innerWidth / 480, innerHeight / 360);
      return place(head, scale, Math.floor((innerWidth - 480 * scale) / 2), Math.floor((innerHeight - 360 * scale) / 2) + 40 * scale);
    };
  `);
  for (let turn = 0; turn < 60; turn++) {
    await game.advance(1);
    if ((await game.texts()).includes("score 1")) return true;
    const [food, head] = await game.page.evaluate<[number, number][]>("[seen.food, seen.head()]");
    if (food === undefined || head === undefined) return false;
    const [right, down] = [food[0] - head[0], food[1] - head[1]];
    // It cannot turn round at once: first aside, then back.
    const key = turn % 2 === 0
      ? (Math.abs(down) < 10 ? null : down > 0 ? "ArrowDown" : "ArrowUp")
      : (Math.abs(right) < 10 ? null : right > 0 ? "ArrowRight" : "ArrowLeft");
    if (key !== null) await game.page.keyboard.press(key);
    await game.advance(10);
  }
  return false;
}

browserTest("the platformer runs, jumps and collects coins", async (browser) => {
  await play(browser, "platformer", async (game) => {
    assert.ok((await game.texts()).includes("COINS AND BEETLES"));
    await game.pause();
    await game.page.keyboard.press("Space", { delay: 20 });
    await game.advance(5);
    const cap = async () =>
      (await game.rectangles()).find(({ color }) => color === "#3c50be") ?? assert.fail("no player");
    const before = await cap();
    await game.page.keyboard.down("ArrowRight");
    await game.advance(30);
    assert.ok((await cap()).x > before.x + 80, "it runs");
    const ground = (await cap()).y;
    await game.page.keyboard.down("Space");
    await game.advance(12);
    assert.ok((await cap()).y < ground - 40, "it jumps");
    await game.page.keyboard.up("Space");

    // Jumps again and again get past most of what stands in the way.
    const hasCoins = "seen.texts.some((text) => /^coins [1-9]/.test(text))";
    for (let jump = 0; jump < 40 && !await game.page.evaluate<boolean>(hasCoins); jump++) {
      await game.page.keyboard.down("Space");
      await game.advance(40, hasCoins);
      await game.page.keyboard.up("Space");
      await game.advance(2);
    }
    assert.ok(await game.page.evaluate<boolean>(hasCoins), `${await game.texts()}`);
  });
});
