/** Every function that the library asks of a page: each kind of picture, sound, storage, log, time and chance. */
import assert from "node:assert/strict";
import { LIBRARY_MODULES } from "../../../lang/library/library.ts";
import { browserTest, GamePage, packageOf } from "./game_page.ts";

const PICTURES = `
use std.math
use web.canvas
type State = { ticks: Int }
pub fn init(_seed: Int) -> State { State { ticks: 0 } }
pub fn step(state: inout State) { state.ticks += 1 }
pub fn draw(_state: State) uses Draw {
  canvas.size(100.0, 60.0)
  canvas.clear(Color.navy)
  canvas.rect(0.0, 0.0, 10.0, 10.0, Color.red)
  canvas.rect_outline(10.0, 0.0, 10.0, 10.0, 2.0, Color.green)
  canvas.circle(25.0, 5.0, 5.0, Color.yellow)
  canvas.circle_outline(35.0, 5.0, 4.0, 2.0, Color.orange)
  canvas.line(42.0, 5.0, 48.0, 5.0, 2.0, Color.cyan)
  canvas.polygon([(50.0, 0.0), (60.0, 0.0), (55.0, 10.0)], Color.magenta)
  canvas.image("dot.svg", 60.0, 0.0, 10.0, 10.0)
  canvas.sprite("dot.svg", (1.0, 0.0, 1.0, 2.0), (70.0, 0.0, 10.0, 10.0))
  canvas.push()
  canvas.alpha(0.5)
  canvas.rect(80.0, 0.0, 10.0, 10.0, Color.white)
  canvas.pop()
  canvas.push()
  canvas.translate(20.0, 30.0)
  canvas.rotate(math.pi / 2.0)
  canvas.scale(2.0, 1.0)
  canvas.rect(0.0, 0.0, 5.0, 4.0, Color.pink)
  canvas.pop()
  canvas.rect(90.0, 0.0, 10.0, 10.0, Color.lime)
  canvas.text_with(50.0, 50.0, "ÄÖ – 漢", 12.0, Center, Color.white)
  canvas.rect(0.0, 58.0, 200.0, 2.0, Color.silver)
}
`;

/** Middle of a place in units, and the color there. */
const COLORS: readonly (readonly [number, number, string])[] = [
  [5, 5, "255,0,0"],
  [10.8, 5, "0,255,0"],
  [15, 5, "0,0,128"],
  [25, 5, "255,255,0"],
  [31, 5, "255,165,0"],
  [35, 5, "0,0,128"],
  [45, 5, "0,255,255"],
  [55, 3, "255,0,255"],
  [51, 9, "0,0,128"],
  [62, 5, "1,2,3"],
  [68, 5, "4,5,6"],
  [72, 5, "4,5,6"],
  [85, 5, "128,128,192"],
  [18, 38, "255,192,203"],
  [22, 32, "0,0,128"],
  [95, 5, "50,205,50"],
  [50, 59, "192,192,192"],
];

browserTest("every command of the picture is painted", async (browser) => {
  await using pictures = await packageOf({ "main.lang": PICTURES });
  const halves =
    `<rect width="1" height="2" fill="rgb(1,2,3)"/><rect x="1" width="1" height="2" fill="rgb(4,5,6)"/>`;
  await Deno.writeTextFile(
    `${pictures.folder}/web/dot.svg`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2">${halves}</svg>`,
  );
  await pictures.build();
  await using game = await GamePage.open(browser, pictures.folder);
  await game.page.waitForFunction(
    `performance.getEntriesByType("resource").some(({ name }) => name.endsWith("dot.svg"))`,
  );
  const frames = await game.number("seen.frames");
  await game.page.waitForFunction(`seen.frames > ${frames} + 3`);
  const colors = await game.page.evaluate<string[]>(`(() => {
    const canvas = document.querySelector("canvas");
    const scale = canvas.width / 100;
    const top = (canvas.height - 60 * scale) / 2;
    const at = ([x, y]) => canvas.getContext("2d").getImageData(x * scale, top + y * scale, 1, 1).data;
    return ${JSON.stringify(COLORS)}.map((place) => Array.from(at(place)).slice(0, 3).join());
  })()`);
  assert.deepEqual(
    COLORS.map(([x, y], index) => [x, y, colors[index]]),
    COLORS,
  );
  assert.deepEqual(await game.texts(), ["ÄÖ – 漢"]);
  assert.deepEqual(game.errors, []);
});

const HOST = `
use std.log
use std.random
use std.time
use web.audio
use web.canvas
use web.input
use web.storage
type State = { seen: List[String] }
pub fn init(_seed: Int) -> State uses Random, Store, Time {
  var rng = Rng.from_host()
  let visits = storage.get("visits").and_then(fn(text) { text.parse_int() }).unwrap_or(0) + 1
  storage.set("visits", "{visits}")
  storage.set("gone", "x")
  storage.remove("gone")
  storage.set("empty", "")
  let gone = storage.get("gone").is_none() and storage.get("empty") == Some("")
  State { seen: ["visits {visits}", "gone {gone}", "time {time.now() > 1.0e12}", "{rng.next_float()}"] }
}
pub fn step(state: inout State, input: Input) uses Audio, Log {
  let pointer = input.pointer
  if pointer.wheel != 0.0 { state.seen.push("wheel {pointer.wheel}") }
  if pointer.pressed(Secondary) { state.seen.push("at {pointer.x} {pointer.y} {pointer.is_inside}") }
  if input.pressed(Space) {
    log.print("pressed")
    log.error("badly")
    for wave in [Sine, Square, Triangle, Sawtooth, Noise] { audio.play(Tone { ..Tone.of(300.0), wave: wave }) }
    audio.sample("tone.wav", 0.5)
    audio.loop("tone.wav", 0.5)
    audio.stop("tone.wav")
  }
}
pub fn draw(state: State) uses Draw {
  canvas.size(320.0, 200.0)
  canvas.clear(Color.black)
  for (line, text) in state.seen.enumerate() { canvas.text(4.0, 20.0 + line.to_float() * 18.0, text, Color.white) }
}
`;

browserTest("storage, log, time, chance, mouse and sound reach the game", async (browser) => {
  await using host = await packageOf({ "main.lang": HOST });
  await Deno.writeFile(`${host.folder}/web/tone.wav`, silence());
  const bytes = await host.build();
  assert.ok(bytes.length > 1000);
  await using game = await GamePage.open(browser, host.folder);
  const lines: string[] = [];
  game.page.on("console", (message) => lines.push(`${message.type()} ${message.text()}`));
  const [first, second, third, chance] = await game.texts();
  assert.deepEqual([first, second, third], ["visits 1", "gone true", "time true"]);
  await game.page.keyboard.press("Space", { delay: 40 });
  await game.page.keyboard.press("Space", { delay: 40 });
  await game.page.waitForFunction("seen.tones >= 4");
  await game.page.mouse.move(480, 300);
  await game.page.mouse.wheel(0, 120);
  await game.page.waitForFunction("seen.texts.includes('wheel 120.0')");
  await game.page.mouse.click(480, 300, { button: "right", delay: 40 });
  await game.page.waitForFunction("seen.texts.includes('at 160.0 100.0 true')");
  assert.ok(lines.includes("log pressed") && lines.includes("error badly"), `${lines}`);

  await game.page.reload();
  await game.page.waitForFunction("globalThis.game?.stats.steps > 2");
  const [again, , , otherChance] = await game.texts();
  assert.equal(again, "visits 2");
  assert.notEqual(otherChance, chance);
  assert.deepEqual(game.errors, []);
});

const INPUTS = `
use web.canvas
use web.input
type State = { pad: String, fingers: String, pressed: Int }
pub fn init(_seed: Int) -> State { State { pad: "", fingers: "", pressed: 0 } }
pub fn step(state: inout State, input: Input) {
  if let Some(pad) = input.gamepads.first() {
    state.pad = "pad {pad.axis(0)} {pad.axis(1)} {pad.held(0)} {pad.held(1)}"
    if pad.pressed(0) { state.pressed += 1 }
  }
  let places = input.touches.map(fn(touch) { "{touch.x.round()},{touch.y.round()}" })
  state.fingers = "fingers {places.join(" ")}"
}
pub fn draw(state: State) uses Draw {
  canvas.size(390.0, 700.0)
  canvas.text(0.0, 20.0, state.pad, Color.white)
  canvas.text(0.0, 40.0, state.fingers, Color.white)
  canvas.text(0.0, 60.0, "pressed {state.pressed}", Color.white)
}
`;

browserTest("gamepads and several fingers reach the game", async (browser) => {
  await using inputs = await packageOf({ "main.lang": INPUTS });
  await inputs.build();
  await using game = await GamePage.open(browser, inputs.folder, { isPhone: true });
  await game.page.evaluate(`
    globalThis.pad = { index: 0, buttons: [{ pressed: true }, { pressed: false }], axes: [0.5, -1] };
    navigator.getGamepads = () => [null, pad];
  `);
  await game.page.waitForFunction("seen.texts.includes('pad 0.5 -1.0 true false')");
  // A button that is held counts once, and again when it was let go.
  assert.ok((await game.texts()).includes("pressed 1"));
  await game.page.evaluate("pad.buttons[0].pressed = false");
  await game.page.waitForFunction("seen.texts.includes('pad 0.5 -1.0 false false')");
  await game.page.evaluate("pad.buttons[0].pressed = true");
  await game.page.waitForFunction("seen.texts.includes('pressed 2')");

  const session = await game.page.context().newCDPSession(game.page);
  const touch = (
    type: "touchStart" | "touchMove" | "touchEnd",
    points: readonly (readonly [number, number])[],
  ) =>
    session.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: points.map(([x, y], id) => ({ x, y, id })),
    });
  await touch("touchStart", [[100, 200], [300, 600]]);
  await game.page.waitForFunction("seen.texts.includes('fingers 100.0,200.0 300.0,600.0')");
  await touch("touchMove", [[110, 200], [300, 650]]);
  await game.page.waitForFunction("seen.texts.includes('fingers 110.0,200.0 300.0,650.0')");
  await touch("touchEnd", []);
  await game.page.waitForFunction("seen.texts.includes('fingers ')");
  assert.deepEqual(game.errors, []);
});

browserTest("a game runs where the browser forbids storage", async (browser) => {
  await using host = await packageOf({ "main.lang": HOST });
  await host.build();
  await using game = await GamePage.open(browser, host.folder);
  await game.page.addInitScript(`Object.defineProperty(globalThis, "localStorage", {
    get() { throw new DOMException("forbidden", "SecurityError"); },
  })`);
  await game.page.reload();
  await game.page.waitForFunction("globalThis.game?.stats.steps > 2");
  // Nothing was read from before, and what was written in this page is there.
  assert.deepEqual((await game.texts()).slice(0, 2), ["visits 1", "gone true"]);
  assert.deepEqual(game.errors, []);
});

Deno.test("the page has every function that the library's modules for pages import", async () => {
  const loader = await Deno.readTextFile(
    new URL("../../../lang/page_runtime/web/loader.js", import.meta.url),
  );
  const forPages = LIBRARY_MODULES.filter(({ name }) => name !== "host.process");
  let count = 0;
  for (const { file } of forPages) {
    for (const [, module = "", name = ""] of file.text.matchAll(/^extern "([^"]*)" fn (\w+)/gm)) {
      if (module.startsWith("lang:test/")) continue;
      count++;
      assert.ok(loader.includes(`"${module}"`), module);
      assert.match(loader, new RegExp(`\\b${name}(:|\\()`), `${module} ${name}`);
    }
  }
  assert.ok(count >= 13, `${count}`);
});

/** A tenth of a second of silence as a WAV file. */
function silence(): Uint8Array {
  const samples = 800;
  const bytes = new Uint8Array(44 + samples);
  const view = new DataView(bytes.buffer);
  const text = (at: number, value: string) => bytes.set(new TextEncoder().encode(value), at);
  text(0, "RIFF");
  view.setUint32(4, 36 + samples, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 8000, true);
  view.setUint32(28, 8000, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  text(36, "data");
  view.setUint32(40, samples, true);
  bytes.fill(128, 44);
  return bytes;
}
