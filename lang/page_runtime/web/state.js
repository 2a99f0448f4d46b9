/**
 * Takes the state of a game out of its memory, and puts it into another instance of the game, also of a new build.
 *
 * The section `lang.state` of the module says where the state lies and where pointers are in it. What they lead to is
 * copied along; code and constants are not, so the new build has its own. Numbers in the section have seven bits in
 * each byte: see `Reader`.
 */
import { Reader } from "./reader.js";

/** Bytes before the elements of a list or text: count of its owners, length, capacity, and four that are not used. */
const HEADER = 16;

/** What the section says; null when the module has no state. */
export function stateLayout(module) {
  const [section] = WebAssembly.Module.customSections(module, "lang.state");
  if (section === undefined) return null;
  const reader = new Reader(new Uint8Array(section));
  const address = reader.number();
  // Two builds have states of the same type when all that follows is the same.
  const type = Array.from(new Uint8Array(section, reader.at)).join();
  reader.at += 8;
  const pointers = () => reader.list(() => ({ offset: reader.number(), kind: reader.number() }));
  const cell = () => ({ size: reader.number(), pointers: pointers() });
  const state = cell();
  const kinds = reader.list(() => {
    const form = ["block", "cell", "tagged", "function"][reader.byte()];
    if (form === "tagged") {
      return { form, variants: new Map(reader.list(() => [reader.number(), cell()])) };
    }
    return form === "function" ? { form } : { form, ...cell() };
  });
  return { address, type, state, kinds };
}

/**
 * The state as it is between two steps: pieces of memory one after the other, the state's own first; a pointer in
 * them is the number of a piece, 0 for none. Null when it holds functions, which belong to their build.
 */
export function saveState(exports, { address, type, state, kinds }) {
  const memory = new Uint8Array(exports.memory.buffer);
  const view = new DataView(exports.memory.buffer);
  const numbers = kinds.map(() => new Map());
  const pieces = [{ kind: -1, size: state.size }];
  const addresses = [address];
  const out = new Bytes();
  // More pieces are found while they are copied.
  for (let number = 0; number < pieces.length; number++) {
    const { kind, size } = pieces[number];
    const from = addresses[number];
    const start = out.add(memory.subarray(from, from + size));
    const holdsFunction = !eachPointer(view, from, kind < 0 ? state : kinds[kind], (at, to) => {
      const target = view.getInt32(at, true);
      if (target === 0) return true;
      if (kinds[to].form === "function") return false;
      let found = numbers[to].get(target);
      if (found === undefined) {
        found = pieces.length;
        numbers[to].set(target, found);
        pieces.push({ kind: to, size: sizeAt(view, target, kinds[to]) });
        addresses.push(target);
      }
      out.view.setInt32(start + at - from, found, true);
      return true;
    });
    if (holdsFunction) return null;
  }
  return { type, pieces, bytes: out.taken() };
}

/** Puts a state in the place of the one that a new instance has, and gives whether it fits. */
export function loadState(exports, { address, type, state, kinds }, saved) {
  if (saved.type !== type) return false;
  const { pieces, bytes } = saved;
  const addresses = pieces.map(({ size }, number) => number === 0 ? address : exports.allocate(size));
  // The memory is another one when it has grown, so it is looked at after all has been allocated.
  const memory = new Uint8Array(exports.memory.buffer);
  const view = new DataView(exports.memory.buffer);
  let start = 0;
  pieces.forEach(({ kind, size }, number) => {
    const at = addresses[number];
    memory.set(bytes.subarray(start, start + size), at);
    start += size;
    if (kind < 0) return;
    // Owners are counted below; a list has room for what is in it.
    view.setInt32(at, 0, true);
    if (kinds[kind].form === "block") view.setInt32(at + 8, view.getInt32(at + 4, true), true);
  });
  pieces.forEach(({ kind }, number) => {
    eachPointer(view, addresses[number], kind < 0 ? state : kinds[kind], (at) => {
      const found = view.getInt32(at, true);
      if (found === 0) return true;
      const target = addresses[found];
      view.setInt32(at, target, true);
      view.setInt32(target, view.getInt32(target, true) + 1, true);
      return true;
    });
  });
  return true;
}

/** What a cell holds: of a tagged one it depends on the tag. */
function cellAt(view, address, kind) {
  return kind.form === "tagged" ? kind.variants.get(view.getInt32(address + 4, true)) : kind;
}

function sizeAt(view, address, kind) {
  if (kind.form === "block") return HEADER + view.getInt32(address + 4, true) * kind.size;
  return cellAt(view, address, kind).size;
}

/**
 * Looks at each pointer of a piece of memory: its address, and what kind of thing it leads to. Ends with false when
 * `look` gives that.
 */
function eachPointer(view, address, kind, look) {
  if (kind.form !== "block") {
    return cellAt(view, address, kind).pointers.every((each) => look(address + each.offset, each.kind));
  }
  if (kind.pointers.length === 0) return true;
  const end = address + sizeAt(view, address, kind);
  for (let at = address + HEADER; at < end; at += kind.size) {
    for (const each of kind.pointers) if (!look(at + each.offset, each.kind)) return false;
  }
  return true;
}

/** Bytes to which more are added. */
class Bytes {
  #bytes = new Uint8Array(1024);
  #length = 0;
  view = new DataView(this.#bytes.buffer);

  /** Gives where they begin. */
  add(more) {
    const start = this.#length;
    this.#length += more.length;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length);
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.view = new DataView(larger.buffer);
    }
    this.#bytes.set(more, start);
    return start;
  }

  taken() {
    return this.#bytes.slice(0, this.#length);
  }
}

/** A state as a text, for places that keep nothing else. */
export function stateText({ type, pieces, bytes }) {
  let characters = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    characters += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return JSON.stringify({
    type,
    pieces: pieces.map(({ kind, size }) => [kind, size]),
    bytes: btoa(characters),
  });
}

/** The state of such a text. */
export function stateOfText(text) {
  const { type, pieces, bytes } = JSON.parse(text);
  return {
    type,
    pieces: pieces.map(([kind, size]) => ({ kind, size })),
    bytes: Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0)),
  };
}
