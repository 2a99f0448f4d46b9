/**
 * Runs a game in the page: loads its WebAssembly, gives it what it may ask for, and calls `step` 60 times a second.
 *
 * There is nothing to install and nothing to build: change it as you like. The picture is in `screen.js`, keyboard
 * and mouse in `player.js`, sound in `sound.js`; `state.js` carries a running game over to a new build, `trace.js`
 * finds the line where a game stopped. The game calls imported functions with numbers; texts and bytes are an address
 * and a length in its memory.
 */
import { Player } from "./player.js";
import { Reader } from "./reader.js";
import { Screen } from "./screen.js";
import { Sound } from "./sound.js";
import { loadState, saveState, stateLayout, stateOfText, stateText } from "./state.js";
import { callerOf } from "./trace.js";

const STEPS_A_SECOND = 60;
/** A page that was asleep does not make up for more than this many steps at once. */
const MAX_STEPS_A_FRAME = 5;

/**
 * Starts the game of a canvas.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {{ url?: string, seed?: number }} options where the WebAssembly is, and the seed of the game's chance
 */
export async function run(canvas, options = {}) {
  try {
    const module = await fetchGame(options.url);
    const game = new Game(canvas, module, options.seed ?? seedOfPage());
    followBuilds(game, options.url);
    return game;
  } catch (error) {
    showProblem("The game cannot be loaded", error.message);
    throw error;
  }
}

/** `?seed=7` in the address gives the same game each time; without it each visit has another one. */
function seedOfPage() {
  const seed = new URLSearchParams(location.search).get("seed");
  return seed === null ? crypto.getRandomValues(new Int32Array(1))[0] : Number(seed) | 0;
}

/** Where the source map of a module is. */
const maps = new WeakMap();

/**
 * The game stands beside the page; a plain file server that shows the package's folder has it at `target/main.wasm`.
 */
async function fetchGame(url) {
  const urls = url !== undefined
    ? [url]
    : location.pathname.includes("/web/")
    ? ["../target/main.wasm", "main.wasm"]
    : ["main.wasm"];
  let problem = "";
  for (const each of urls) {
    const address = new URL(each, location.href).href;
    const response = await fetch(address, { cache: "no-cache" });
    if (response.ok) {
      const module = await WebAssembly.compile(coreModule(new Uint8Array(await response.arrayBuffer())));
      maps.set(module, `${address}.map`);
      return module;
    }
    problem ||= `${address} answers ${response.status}. Run "lang build" first.`;
  }
  throw new Error(problem);
}

/**
 * `target/main.wasm` is a component, which browsers cannot load yet. It begins with a header of eight bytes; then
 * come sections, each with a byte that says what it is, its length and its contents. The first section of kind 1 is
 * the module that we want.
 */
export function coreModule(bytes) {
  const isComponent = bytes[6] === 1;
  if (!isComponent) return bytes;
  for (const reader = new Reader(bytes, 8); reader.at < bytes.length;) {
    const kind = reader.byte();
    const length = reader.number();
    if (kind === 1) return bytes.subarray(reader.at, reader.at + length);
    reader.at += length;
  }
  throw new Error("The file holds no module.");
}

// New builds, while `lang serve --watch` is at work

/** Where the state of a game waits while the page is loaded again. */
const WAITING = "lang.state";

function waitingText() {
  try {
    const text = sessionStorage.getItem(WAITING);
    sessionStorage.removeItem(WAITING);
    return text;
  } catch {
    // The browser forbids storage, so nothing was kept.
    return null;
  }
}

/**
 * `lang serve --watch` tells the page of each new build by an event. When only the program is another one, the game
 * goes on with it at once; when the page's own files are, the page is loaded again and finds the state that was kept
 * for it.
 */
function followBuilds(game, url) {
  game.takeWaiting();
  addEventListener("lang:build", ({ detail }) => {
    if (detail.reload === "page") game.keepWaiting();
    else detail.respondWith(fetchGame(url).then((module) => game.replace(module)));
  });
  // A report of errors covers the page: nobody can play behind it.
  addEventListener("lang:problems", ({ detail }) => game.hold(detail.isShown));
}

// The game and its loop

class Game {
  #module;
  #imports;
  #instance;
  #layout;
  #seed;
  /** Whether it ended with an error: then its state may be half of one step and half of the next. */
  #isBroken = false;
  /** Whether it runs on when nothing covers it any more. */
  #isHeld = false;
  #late = 0;
  #before = 0;
  #isRunning = false;
  /** How many steps were made, and milliseconds that the last ones and the last pictures took. */
  stats = { steps: 0, stepTime: 0, drawTime: 0 };

  constructor(canvas, module, seed) {
    this.#seed = seed;
    const screen = new Screen(canvas);
    const memory = new Memory(() => this.exports);
    this.#imports = {
      "lang:web/canvas@1.0.0": {
        flush: (address, length) => screen.draw(memory.words(address, length)),
      },
      ...inputImports(memory, new Player(canvas, screen)),
      ...audioImports(memory, new Sound()),
      ...storageImports(memory),
      ...hostImports(memory),
    };
    this.#start(module, null);
    if (!this.#isBroken) this.resume();
  }

  /**
   * Begins with a fresh memory: with a state that was saved when it fits, and says whether it did; else with that of
   * `init`.
   */
  #start(module, saved) {
    const instance = new WebAssembly.Instance(module, this.#imports);
    const layout = stateLayout(module);
    const fits = saved !== null && layout !== null && loadState(instance.exports, layout, saved);
    this.#module = module;
    this.#instance = instance;
    this.#layout = layout;
    this.#isBroken = false;
    if (!fits) this.#guard(() => this.exports.init(this.#seed));
    return fits;
  }

  get exports() {
    return this.#instance.exports;
  }

  /** Goes on after `pause`. */
  resume() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#before = performance.now();
    requestAnimationFrame((now) => this.#frame(now));
  }

  /** Stops calling `step` and `draw`. */
  pause() {
    this.#isRunning = false;
  }

  /** Stops for as long as something covers the game. */
  hold(isHeld) {
    if (isHeld) {
      this.#isHeld ||= this.#isRunning;
      this.pause();
    } else if (this.#isHeld) {
      this.#isHeld = false;
      this.resume();
    }
  }

  /** One step and one picture, whether the game is paused or not. */
  advance() {
    this.#guard(() => {
      this.#step();
      this.#draw();
    });
  }

  #frame(now) {
    if (!this.#isRunning) return;
    this.#late = Math.min(this.#late + (now - this.#before) * STEPS_A_SECOND / 1000, MAX_STEPS_A_FRAME);
    this.#before = now;
    this.#guard(() => {
      // Screens do not show exactly 60 pictures a second: a step that is due within a tenth of its time is made now.
      for (; this.#late >= 0.9; this.#late--) this.#step();
      this.#draw();
    });
    if (this.#isRunning) requestAnimationFrame((next) => this.#frame(next));
  }

  #step() {
    const start = performance.now();
    this.exports.step();
    this.stats.steps++;
    this.stats.stepTime = performance.now() - start;
  }

  #draw() {
    const start = performance.now();
    this.exports.draw();
    this.stats.drawTime = performance.now() - start;
  }

  /** Runs a part of the game; a game that ends with an error stops and says what and where. */
  #guard(work) {
    try {
      work();
    } catch (error) {
      this.pause();
      this.#isHeld = false;
      this.#isBroken = true;
      this.#tell(error);
    }
  }

  /**
   * Says what and where. What went wrong inside of the library is reported by the line that called it, as soon as
   * that is found.
   */
  #tell(error) {
    const { message, place } = this.#problem(error);
    const show = (where) => where === "" ? message : `${message}\n\n${where}`;
    const text = showProblem("The game has stopped", show(place));
    console.error(show(place), error);
    if (!/^\w+:\w/.test(place)) return;
    callerOf(error, maps.get(this.#module)).then((caller) => {
      if (caller !== null) text.textContent = show(`${caller}\nin the library: ${place}`);
    }, console.warn);
  }

  /** Before a game stops it leaves the number of the place in `trap_site`; the section `lang.sites` has the places. */
  #problem(error) {
    const unknown = (message) => ({ message, place: "" });
    if (!(error instanceof WebAssembly.RuntimeError)) return unknown(String(error));
    const [section] = WebAssembly.Module.customSections(this.#module, "lang.sites");
    if (section === undefined) return unknown(error.message);
    const reader = new Reader(new Uint8Array(section));
    const files = reader.list(() => reader.text());
    const kinds = reader.list(() => reader.text());
    const sites = reader.list(() => ({
      kind: kinds[reader.number()],
      file: files[reader.number()],
      line: reader.number(),
      column: reader.number(),
    }));
    const site = sites[this.exports.trap_site.value];
    if (site === undefined) return unknown(error.message);
    const { kind, file, line, column } = site;
    const message = kind === "panic"
      ? this.#panicText()
      : kind === "index"
      ? this.#indexText()
      : PROBLEMS[kind] ?? kind;
    return line === 0 ? unknown(message) : { message, place: `${file}:${line}:${column}` };
  }

  #indexText() {
    const { trap_index: index, trap_length: length } = this.exports;
    if (index === undefined) return PROBLEMS.index;
    return `A list of length ${length.value} has no element at the index ${index.value}.`;
  }

  #panicText() {
    const address = this.exports.trap_text.value;
    if (address === 0) return "panic";
    const length = new DataView(this.exports.memory.buffer).getInt32(address + 4, true);
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, address + 16, length));
  }

  /** All that the game knows, to be put back by `restore`; null when it holds functions, or has ended with an error. */
  snapshot() {
    return this.#isBroken || this.#layout === null ? null : saveState(this.exports, this.#layout);
  }

  /** Goes back to a snapshot, also of another build of the game whose state is of the same type. */
  restore(snapshot) {
    if (snapshot.type !== this.#layout?.type) {
      throw new Error("The snapshot is of a game with another state.");
    }
    this.#start(this.#module, snapshot);
  }

  /** Goes on as another build of the game. Gives a text for the player when it cannot, and begins anew instead. */
  replace(module) {
    const wasBroken = this.#isBroken;
    const saved = this.snapshot();
    for (const panel of document.querySelectorAll(".problem")) panel.remove();
    const fits = this.#start(module, saved);
    if (wasBroken && !this.#isBroken) this.resume();
    if (fits) return "";
    return `The game starts anew: ${wasBroken ? "it had stopped" : this.#reason(saved)}.`;
  }

  #reason(saved) {
    return saved === null ? "its state holds functions" : "its state has another type now";
  }

  /** Keeps the state for the page that comes next. */
  keepWaiting() {
    const saved = this.snapshot();
    for (const text of [saved === null ? "" : stateText(saved), ""]) {
      try {
        return sessionStorage.setItem(WAITING, text);
      } catch (error) {
        // No room for it: the next page learns that there was a state.
        console.warn(error);
      }
    }
  }

  /** Goes on with the state that the page before has kept, if there was one. */
  takeWaiting() {
    const text = waitingText();
    if (text === null) return;
    const saved = text === "" ? null : stateOfText(text);
    if (saved !== null && this.#start(this.#module, saved)) return;
    const reason = saved === null ? "its state cannot be kept while the page is loaded" : this.#reason(saved);
    dispatchEvent(new CustomEvent("lang:notice", { detail: `The game starts anew: ${reason}.` }));
  }
}

const PROBLEMS = {
  overflow: "A number does not fit in its type.",
  division: "A number is divided by zero.",
  index: "A list has no element at this index.",
  conversion: "A number does not fit in the type that it is converted to.",
  expect: "What is expected does not hold.",
  depth: "Functions call one another without end.",
  memory: "The memory is full.",
  gas: "The gas is used up.",
};

/** Shows an error in the page; gives the element with its message. */
function showProblem(title, message) {
  const panel = document.createElement("div");
  panel.className = "problem";
  panel.setAttribute("role", "alert");
  const heading = document.createElement("strong");
  heading.textContent = title;
  const text = document.createElement("pre");
  text.textContent = message;
  panel.append(heading, text);
  document.body.append(panel);
  return text;
}

/** What is in the game's memory. Its buffer is a new one whenever the memory has grown. */
class Memory {
  #exports;

  constructor(exports) {
    this.#exports = exports;
  }

  get buffer() {
    return this.#exports().memory.buffer;
  }

  text(address, length) {
    return new TextDecoder().decode(new Uint8Array(this.buffer, address, length));
  }

  /** Words of four bytes, as whole numbers and as floats. */
  words(address, length) {
    return {
      bytes: new Uint8Array(this.buffer, address, length),
      integers: new Int32Array(this.buffer, address, length / 4),
      floats: new Float32Array(this.buffer, address, length / 4),
    };
  }

  /** Gives bytes to the game: it finds their address and length where `result` says. */
  give(bytes, result) {
    const address = bytes.length === 0 ? 0 : this.#exports().allocate(bytes.length);
    new Uint8Array(this.buffer).set(bytes, address);
    const view = new DataView(this.buffer);
    view.setInt32(result, address, true);
    view.setInt32(result + 4, bytes.length, true);
  }
}

// The functions that a game imports

function inputImports(memory, player) {
  return { "lang:web/input@1.0.0": { read: (result) => memory.give(player.read(), result) } };
}

function audioImports(memory, sound) {
  return {
    "lang:web/audio@1.0.0": {
      play_tone: (...tone) => sound.play(tone),
      play_sample: (address, length, volume, speed, isLooped) =>
        sound.playSample(memory.text(address, length), { volume, speed, isLooped: isLooped !== 0 }),
      stop_sample: (address, length) => sound.stopSample(memory.text(address, length)),
    },
  };
}

// What stays when the page is closed

function storageImports(memory) {
  // Games of one address do not see each other's texts.
  const nameOf = (address, length) => `${location.pathname}#${memory.text(address, length)}`;
  // Where the browser forbids storage or has no room for more, texts stay as long as the page.
  const kept = new Map();
  const tryStorage = (work) => {
    try {
      return work(localStorage);
    } catch (error) {
      console.warn(error);
    }
  };
  return {
    "lang:web/storage@1.0.0": {
      read(address, length, result) {
        const name = nameOf(address, length);
        const value = tryStorage((storage) => storage.getItem(name)) ?? kept.get(name) ?? null;
        memory.give(value === null ? new Uint8Array() : new TextEncoder().encode(`\u0001${value}`), result);
      },
      write(address, length, valueAddress, valueLength) {
        const [name, value] = [nameOf(address, length), memory.text(valueAddress, valueLength)];
        kept.set(name, value);
        tryStorage((storage) => storage.setItem(name, value));
      },
      erase(address, length) {
        const name = nameOf(address, length);
        kept.delete(name);
        tryStorage((storage) => storage.removeItem(name));
      },
    },
  };
}

// Log, time and chance

function hostImports(memory) {
  return {
    "lang:host/log@1.0.0": {
      write: (address, length) => console.log(memory.text(address, length)),
      write_error: (address, length) => console.error(memory.text(address, length)),
    },
    "lang:host/time@1.0.0": {
      now_milliseconds: () => Date.now(),
      elapsed_milliseconds: () => performance.now(),
    },
    "lang:host/random@1.0.0": {
      seed: () => crypto.getRandomValues(new BigInt64Array(1))[0],
    },
  };
}
