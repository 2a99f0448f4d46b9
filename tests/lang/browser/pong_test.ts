/** Pong as `lang new` writes it, played in a browser by keys, mouse and fingers. */
import assert from "node:assert/strict";
import { browserTest, copyPackage, GamePage, TEMPLATE } from "./game_page.ts";

const PLAYER = "#50c8ff";

async function paddle(game: GamePage): Promise<number> {
  const found = (await game.rectangles()).find(({ color, height }) => color === PLAYER && height > 50);
  assert.ok(found !== undefined, "the player's paddle is painted");
  return found.y;
}

browserTest(
  "Pong is played with the keyboard: the paddle moves, points are counted, tones are heard",
  async (browser) => {
    await using pong = await copyPackage(TEMPLATE);
    await pong.build();
    await using game = await GamePage.open(browser, pong.folder);
    assert.ok((await game.texts()).includes("PONG"));
    assert.equal(await game.tones(), 0);

    await game.page.keyboard.press("Space", { delay: 50 });
    await game.page.waitForFunction("!seen.texts.includes('PONG') && seen.tones > 0");
    const before = await paddle(game);
    await game.page.keyboard.down("ArrowUp");
    await game.page.waitForFunction(
      `seen.rectangles.some((each) => each.color === "${PLAYER}" && each.height > 50 && each.y < ${before} - 50)`,
    );
    await game.page.keyboard.up("ArrowUp");

    // The paddle stays at the top, so the computer wins sooner or later.
    await game.pause();
    const steps = await game.advance(20_000, "seen.texts.includes('THE COMPUTER WINS')");
    assert.ok(steps < 20_000, "somebody wins");
    assert.ok((await game.texts()).some((text) => /^[0-6] to 7$/.test(text)), `${await game.texts()}`);
    assert.ok(await game.tones() > 7, "each point has a tone");
    assert.deepEqual(game.errors, []);
  },
);

browserTest("Pong is played with a finger, and pauses", async (browser) => {
  await using pong = await copyPackage(TEMPLATE);
  await pong.build();
  await using game = await GamePage.open(browser, pong.folder, { isPhone: true });
  await game.page.touchscreen.tap(200, 350);
  await game.page.waitForFunction("!seen.texts.includes('PONG')");
  const before = await paddle(game);
  const session = await game.page.context().newCDPSession(game.page);
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: 200, y: 430 }] });
  await game.page.waitForFunction(
    `seen.rectangles.some((each) => each.color === "${PLAYER}" && each.height > 50 && each.y > ${before})`,
  );
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await game.page.keyboard.press("p", { delay: 50 });
  await game.page.waitForFunction("seen.texts.includes('PAUSED')");
  assert.deepEqual(game.errors, []);
});

browserTest("the picture fills the window as far as its shape allows", async (browser) => {
  await using pong = await copyPackage(TEMPLATE);
  await pong.build();
  await using game = await GamePage.open(browser, pong.folder);
  for (const [width, height] of [[1280, 360], [400, 800], [640, 360]] as const) {
    await game.page.setViewportSize({ width, height });
    await game.page.waitForFunction(`document.querySelector("canvas").width === ${width}`);
    const frames = await game.number("seen.frames");
    await game.page.waitForFunction(`seen.frames > ${frames} + 1`);
    const panel = (await game.rectangles()).filter((each) => each.color === "#101220").at(-1);
    const scale = Math.min(width / 640, height / 360);
    assert.ok(panel !== undefined && Math.abs(panel.width - 440 * scale) <= 1, `${panel?.width} ${scale}`);
    assert.ok(Math.abs(panel.x + panel.width / 2 - width / 2) <= 1, "it stands in the middle");
  }
});
