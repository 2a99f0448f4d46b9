/**
 * A running game is carried over to another build by the page's script `state.js`: every kind of value, sharing, and
 * what does not fit.
 */
import assert from "node:assert/strict";
import {
  loadState,
  saveState,
  stateLayout,
  stateOfText,
  stateText,
} from "../../../lang/page_runtime/web/state.js";
import { compile } from "../../../lang/compiler/compile.ts";
import { checkSource } from "../../../lang/wasm/testing.ts";

/** A state with every kind of value; `greeting` and `padding` move the static data and the code. */
function source(greeting: string, padding = ""): string {
  return `
use std.log
use std.random
type Tree = Leaf | Node(left: Tree, value: Int, right: Tree)
type Shape = Round(radius: Float) | Named(name: String, sides: List[Int]) | Nothing
type Wide = { a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int, i: Int, j: Int, k: Int, l: Int, m: Int, n: Int, o: Int, p: Int, label: String }
type Ball = { x: Float, name: String }
type State = {
  ticks: Int, big: Int64, ratio: F32, letter: Char, flag: Bool,
  words: List[String], tree: Tree, shapes: List[Shape], wide: Wide, pair: (Int, String),
  scores: Map[String, List[Int]], seen: Set[Int], balls: Pool[Ball], maybe: Option[String], raw: Bytes, rng: Rng, empty: List[Tree],
}
${padding}
fn grow(tree: Tree, value: Int) -> Tree {
  match tree {
    Leaf => Node(Leaf, value, Leaf)
    Node(left, own, right) => if value < own { Node(grow(left, value), own, right) } else { Node(left, own, grow(right, value)) }
  }
}
pub fn init(seed: Int) -> State {
  State {
    ticks: 0, big: 1, ratio: 0.5, letter: 'ä', flag: true, words: ["${greeting}"], tree: Leaf, shapes: [Nothing, Round(1.5)],
    wide: Wide { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, k: 11, l: 12, m: 13, n: 14, o: 15, p: 16, label: "wide" },
    pair: (seed, "pair"), scores: Map.empty(), seen: Set.empty(), balls: Pool.empty(), maybe: None, raw: "bytes".to_bytes(), rng: Rng.seeded(seed), empty: [],
  }
}
pub fn step(state: inout State) {
  state.ticks += 1
  state.big = state.big *% 3
  let chance = state.rng.next_int(0..1000)
  state.words.push("word {chance}")
  let again = state.words[0]
  state.words.push(again)
  state.tree = grow(state.tree, chance)
  state.shapes.push(Named("shape {chance}", [chance, state.ticks]))
  state.shapes.push(state.shapes[state.shapes.len() - 1])
  state.wide.p += chance
  var list = state.scores.get("key {chance % 7}").unwrap_or([])
  list.push(chance)
  state.scores["key {chance % 7}"] = list
  let _new = state.seen.insert(chance)
  let _id = state.balls.insert(Ball { x: chance.to_float(), name: "ball {chance}" })
  state.maybe = if chance % 2 == 0 { Some("maybe {chance}") } else { None }
  state.flag = not state.flag
}
pub fn draw(state: State) uses Log { log.print("{state}") }
`;
}

/** An instance of a game that writes its state when it draws. */
class Running {
  readonly layout;
  readonly exports: WebAssembly.Exports;
  #shown = "";

  constructor(text: string) {
    const module = new WebAssembly.Module(compile(checkSource(text).program, { target: "wasm32-web" }).bytes);
    const layout = stateLayout(module);
    assert.ok(layout !== null);
    this.layout = layout;
    const write = (address: number, length: number) => {
      this.#shown = new TextDecoder().decode(new Uint8Array(this.memory.buffer, address, length));
    };
    const imports = { "lang:host/log@1.0.0": { write, write_error: write } };
    this.exports = new WebAssembly.Instance(module, imports).exports;
  }

  get memory(): WebAssembly.Memory {
    const { memory } = this.exports;
    assert.ok(memory instanceof WebAssembly.Memory);
    return memory;
  }

  get heapBytes(): number {
    const global = this.exports["heap_bytes"];
    assert.ok(global instanceof WebAssembly.Global);
    return global.value;
  }

  call(name: string, ...args: number[]): void {
    const target = this.exports[name];
    assert.ok(typeof target === "function", name);
    target(...args);
  }

  steps(count: number): this {
    for (let step = 0; step < count; step++) this.call("step");
    return this;
  }

  shown(): string {
    this.call("draw");
    return this.#shown;
  }
}

function started(text: string, seed = 7): Running {
  const game = new Running(text);
  game.call("init", seed);
  return game;
}

Deno.test("a state of every kind of value goes on in another build as if nothing had happened", () => {
  const before = started(source("hello")).steps(200);
  const saved = saveState(before.exports, before.layout);
  const after = new Running(
    source("hello there, you", 'pub fn more() -> List[String] { ["a", "bc", "hello"] }'),
  );
  assert.ok(saved !== null && loadState(after.exports, after.layout, stateOfText(stateText(saved))));
  assert.equal(after.shown(), before.shown());
  // The same chance, the same lists grown further, the same trees taken apart.
  assert.equal(after.steps(100).shown(), before.steps(100).shown());
  assert.match(after.shown(), /words: \["hello", /);
  // Nothing of the old memory is needed or lost: `init` lets go of all that was carried over.
  after.call("init", 1);
  assert.equal(after.heapBytes, started(source("hello there, you"), 1).heapBytes);
});

Deno.test("what was shared is shared again, and written for one owner only", () => {
  const before = started(source("x")).steps(1);
  const saved = saveState(before.exports, before.layout);
  const after = new Running(source("x"));
  assert.ok(loadState(after.exports, after.layout, saved));
  // With a copy for each owner there would be more; room for growth is not carried over.
  assert.ok(after.heapBytes <= before.heapBytes, `${after.heapBytes} ${before.heapBytes}`);
  assert.equal(after.steps(50).shown(), before.steps(50).shown());
});

const SMALL = `
type State = { score: Int, name: String }
pub fn init(_seed: Int) -> State { State { score: 1, name: "a" } }
pub fn step(state: inout State) { state.score += 1 }
`;

for (
  const [change, text] of [
    [
      "a field more",
      SMALL.replace("score: Int,", "score: Int, lives: Int,").replace("score: 1,", "score: 1, lives: 3,"),
    ],
    ["another type of a field", SMALL.replace("score: Int", "score: Int64")],
    ["another name of a field", SMALL.replaceAll("score", "points")],
  ] as const
) {
  Deno.test(`a state with ${change} does not fit`, () => {
    const before = started(SMALL);
    const after = started(text);
    assert.equal(loadState(after.exports, after.layout, saveState(before.exports, before.layout)), false);
  });
}

Deno.test("a state that holds a function cannot be carried over, one that only might can", () => {
  const text = (value: string) => `
    type State = { rule: Option[fn(Int) -> Int], count: Int }
    pub fn init(seed: Int) -> State { State { rule: ${value}, count: seed } }
    pub fn step(state: inout State) { state.count += 1 }
  `;
  const without = started(text("None"));
  const after = new Running(text("None"));
  assert.ok(loadState(after.exports, after.layout, saveState(without.exports, without.layout)));
  const withOne = started(text("Some(fn(n) { n + seed })"));
  assert.equal(saveState(withOne.exports, withOne.layout), null);
});

Deno.test("a long chain and a large list are carried over without recursion", () => {
  const text = `
    use std.log
    type Chain = End | Link(value: Int, next: Chain)
    type State = { chain: Chain, dots: List[(Float, Float)] }
    pub fn init(_seed: Int) -> State { State { chain: End, dots: [] } }
    pub fn step(state: inout State) {
      for n in 0..50000 {
        state.chain = Link(n, state.chain)
        state.dots.push((n.to_float(), 0.5))
      }
    }
    pub fn draw(state: State) uses Log {
      var sum = 0
      var at = state.chain
      var more = true
      while more {
        match at {
          End => more = false
          Link(value, next) => {
            sum = (sum + value) % 1000003
            at = next
          }
        }
      }
      log.print("{sum} {state.dots.len()} {state.dots[49999]}")
    }
  `;
  const before = started(text).steps(1);
  const after = new Running(text);
  assert.ok(loadState(after.exports, after.layout, saveState(before.exports, before.layout)));
  assert.equal(after.shown(), before.shown());
  assert.match(after.shown(), /50000 \(49999\.0, 0\.5\)$/);
});
