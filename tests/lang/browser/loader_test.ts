/** The page's scripts: what they give to games, and what they show when one stops. */
import assert from "node:assert/strict";
import { coreModule } from "../../../lang/page_runtime/web/loader.js";
import { KEYS } from "../../../lang/page_runtime/web/player.js";
import { browserTest, copyPackage, GamePage, packageOf, TEMPLATE } from "./game_page.ts";

/** A game that remembers words and shows them. */
const WORDS = `
use web.canvas
use web.input
type State = { words: List[String], ticks: Int }
pub fn init(seed: Int) -> State { State { words: ["seed {seed}"], ticks: 0 } }
pub fn step(state: inout State, input: Input) {
  state.ticks += 1
  if input.pressed(A) { for n in 0..400 { state.words.push("word {n}") } }
  if input.pressed(B) { state.words.push("end {state.words.len()}") }
  if input.pressed(X) { panic("{state.words.len()} words are too many") }
  if input.pressed(Y) { state.words[state.ticks - state.ticks - 7] = "" }
  if input.pressed(Z) { state.ticks = far(state.words) }
  if input.pressed(Q) { state.ticks = state.words.swap_remove(99_999).len() }
}
fn far(words: List[String]) -> Int {
  let other = words.map(fn(word) { word.len() }).filter(fn(length) { length > 1_000 })
  other.max().unwrap()
}
pub fn draw(state: State) uses Draw {
  canvas.clear(Color.black)
  canvas.text(10.0, 20.0, state.words[state.words.len() - 1], Color.white)
  canvas.text(10.0, 40.0, state.words[0], Color.white)
  let right = state.words.count(fn(word) { word.starts_with("word ") })
  canvas.text(10.0, 60.0, "count {state.words.len()} {right}", Color.white)
}
`;

Deno.test("the first module of a component is found, a bare module is left alone", async () => {
  const bare = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  assert.equal(coreModule(bare), bare);
  const component = Uint8Array.of(
    ...[0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0],
    ...[0, 3, 1, 0x78, 9], // a custom section
    ...[1, bare.length, ...bare],
    ...[1, 8, 0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  );
  const found = coreModule(component);
  assert.deepEqual(found, bare);
  assert.equal(found.byteOffset, 15);
  assert.throws(() => coreModule(component.subarray(0, 13)), /no module/);
  await using pong = await copyPackage(TEMPLATE);
  assert.ok(WebAssembly.validate(coreModule(await pong.build())));
});

Deno.test("the keys of the page are in the order of the library's type", async () => {
  const source = await Deno.readTextFile(
    new URL("../../../lang/library/modules/input.lang", import.meta.url),
  );
  const [, variants = ""] = /pub type Key =([^/]*)/.exec(source) ?? [];
  const names = variants.split("|").map((name) => name.trim()).filter((name) => name !== "");
  const codes = names.map((name) => name === "Equals" ? "Equal" : name.length === 1 ? `Key${name}` : name);
  assert.deepEqual(KEYS, codes);
  assert.equal(KEYS.length, 78);
});

browserTest("a game that stops says why and where", async (browser) => {
  await using words = await packageOf({ "main.lang": WORDS });
  await words.build();
  for (
    const [key, message, place] of [
      ["x", "1 words are too many", "src/main.lang:10:25"],
      ["y", "A list of length 1 has no element at the index -7.", "src/main.lang:11:25"],
      // What goes wrong in the library is reported by the line that called it, also through calls that stay calls.
      [
        "z",
        "Cannot unwrap the option: it is None",
        "src/main.lang:17:3",
      ],
      [
        "q",
        "Cannot remove the element at 99999: the list has 1",
        "src/main.lang:13:39\nin the library: std:list:87:5",
      ],
    ] as const
  ) {
    await using game = await GamePage.open(browser, words.folder);
    await game.page.keyboard.press(key, { delay: 40 });
    const panel = game.page.locator(".problem");
    await panel.getByText(place.split("\n").at(-1) ?? "").waitFor();
    assert.equal(await panel.locator("pre").textContent(), `${message}\n\n${place}`);
    const frames = await game.number("seen.frames");
    await game.page.evaluate(
      "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))",
    );
    assert.equal(await game.number("seen.frames"), frames, "the clock stands still");
  }
});

browserTest("a page without its module says what to do", async (browser) => {
  await using words = await packageOf({ "main.lang": WORDS });
  await using game = await GamePage.open(browser, words.folder);
  assert.match(
    await game.page.locator(".problem").innerText(),
    /main\.wasm answers 404\. Run "lang build" first/,
  );
});

browserTest("a snapshot brings a game back, also in a page that was loaded again", async (browser) => {
  await using words = await packageOf({ "main.lang": WORDS });
  await words.build();
  await using game = await GamePage.open(browser, words.folder, { seed: 5 });
  await game.pause();
  await game.page.keyboard.press("a", { delay: 20 });
  await game.advance(2);
  assert.deepEqual(await game.texts(), ["word 399", "seed 5", "count 401 400"]);
  const kept = await game.page.evaluate<string>(`(async () => {
    const { stateText } = await import("./state.js");
    return stateText(game.snapshot());
  })()`);
  await game.page.keyboard.press("b", { delay: 20 });
  await game.advance(1);
  assert.deepEqual(await game.texts(), ["end 401", "seed 5", "count 402 400"]);

  await game.page.goto(game.page.url().replace("seed=5", "seed=6"));
  await game.page.waitForFunction("globalThis.game?.stats.steps > 2");
  await game.pause();
  await game.advance(1);
  assert.deepEqual(await game.texts(), ["seed 6", "seed 6", "count 1 0"]);
  await game.page.evaluate(`(async () => {
    const { stateOfText } = await import("./state.js");
    game.restore(stateOfText(${JSON.stringify(kept)}));
  })()`);
  // What is taken from now on must not lie where the words are.
  await game.page.keyboard.press("a", { delay: 20 });
  await game.advance(3);
  await game.page.keyboard.press("b", { delay: 20 });
  await game.advance(1);
  assert.deepEqual(await game.texts(), ["end 801", "seed 5", "count 802 800"]);
  assert.equal(
    await game.page.evaluate(`try { game.restore({ type: "other" }) } catch (error) { error.message }`),
    "The snapshot is of a game with another state.",
  );
});
