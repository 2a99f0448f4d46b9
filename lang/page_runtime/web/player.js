/** What the player does with keyboard, mouse, fingers and gamepads, as `web.input` of the library reads it. */

/** `code` of keyboard events, in the order of the type `Key` of `web.input`. */
export const KEYS = [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("").map((letter) => `Key${letter}`),
  ..."0123456789".split("").map((digit) => `Digit${digit}`),
  "ArrowLeft ArrowRight ArrowUp ArrowDown Space Enter Escape Tab Backspace Shift Control Alt Meta Insert Delete Home End",
  "PageUp PageDown Minus Equal BracketLeft BracketRight Backslash Semicolon Quote Comma Period Slash Backquote",
  "F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12",
].flatMap((names) => names.split(" "));
const KEY_NUMBERS = new Map(KEYS.map((code, number) => [code, number]));
/** Keys that would scroll the page. */
const SCROLLING = /^(Arrow|Space|Page|Home|End|Tab|Backspace)/;

/** Bits that are held now, and those that went down or up since the last step. */
class Bits {
  held = 0n;
  pressed = 0n;
  released = 0n;

  down(number) {
    const bit = 1n << BigInt(number);
    if ((this.held & bit) === 0n) this.pressed |= bit;
    this.held |= bit;
  }

  up(number) {
    const bit = 1n << BigInt(number);
    if ((this.held & bit) !== 0n) this.released |= bit;
    this.held &= ~bit;
  }

  allUp() {
    this.released |= this.held;
    this.held = 0n;
  }

  /** What happened until now is over for the next step. */
  settle() {
    this.pressed = 0n;
    this.released = 0n;
  }
}

/** Collects what happens to the canvas and its page until the next step asks for it. */
export class Player {
  #screen;
  #keys = new Bits();
  #buttons = new Bits();
  #pads = new Map();
  #touches = new Map();
  #x = 0;
  #y = 0;
  #wheel = 0;
  #isInside = false;

  constructor(canvas, screen) {
    this.#screen = screen;
    addEventListener("keydown", (event) => this.#key(event, true));
    addEventListener("keyup", (event) => this.#key(event, false));
    addEventListener("blur", () => this.#letGo());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#move(event);
      if (event.isPrimary) this.#buttons.down([0, 2, 1][event.button] ?? 0);
      if (event.pointerType === "touch") {
        this.#touches.set(event.pointerId, this.#screen.toUnits(event.clientX, event.clientY));
      }
    });
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const kind of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(kind, (event) => {
        if (event.isPrimary) this.#buttons.up([0, 2, 1][event.button] ?? 0);
        this.#touches.delete(event.pointerId);
      });
    }
    canvas.addEventListener("pointerleave", () => this.#isInside = false);
    canvas.addEventListener("wheel", (event) => {
      this.#wheel += event.deltaY;
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  #key(event, isDown) {
    if (event.ctrlKey || event.metaKey) return;
    const number = KEY_NUMBERS.get(event.code.replace(/^(Shift|Control|Alt|Meta)(Left|Right)$/, "$1"));
    if (number === undefined) return;
    if (SCROLLING.test(event.code)) event.preventDefault();
    if (isDown) this.#keys.down(number);
    else this.#keys.up(number);
  }

  #move(event) {
    const place = this.#screen.toUnits(event.clientX, event.clientY);
    if (this.#touches.has(event.pointerId)) this.#touches.set(event.pointerId, place);
    if (!event.isPrimary) return;
    [this.#x, this.#y] = place;
    this.#isInside = this.#x >= 0 && this.#y >= 0 && this.#x < this.#screen.width &&
      this.#y < this.#screen.height;
  }

  /** A page that loses the keyboard does not hear that keys are let go. */
  #letGo() {
    this.#keys.allUp();
    this.#buttons.allUp();
    this.#touches.clear();
  }

  /** The record that `web.input` reads: see there. */
  read() {
    const out = [];
    const integer = (value) => out.push(value | 0);
    const float = (value) => out.push(new Int32Array(Float32Array.of(value).buffer)[0]);
    const bits = ({ held, pressed, released }, words) => {
      for (const set of [held, pressed, released]) {
        for (let word = 0; word < words; word++) {
          out.push(Number(BigInt.asIntN(32, set >> BigInt(word * 32))));
        }
      }
    };
    integer(1);
    bits(this.#keys, 4);
    for (const value of [this.#x, this.#y, this.#wheel]) float(value);
    bits(this.#buttons, 1);
    integer(this.#isInside ? 1 : 0);
    integer(this.#touches.size);
    for (const [number, [x, y]] of this.#touches) {
      integer(number);
      float(x);
      float(y);
    }
    const pads = (navigator.getGamepads?.() ?? []).filter((pad) => pad !== null);
    integer(pads.length);
    for (const { index, buttons, axes } of pads) {
      if (!this.#pads.has(index)) this.#pads.set(index, new Bits());
      const pressed = this.#pads.get(index);
      buttons.forEach((button, number) => button.pressed ? pressed.down(number) : pressed.up(number));
      bits(pressed, 1);
      pressed.settle();
      integer(axes.length);
      axes.forEach(float);
    }
    this.#keys.settle();
    this.#buttons.settle();
    this.#wheel = 0;
    return new Uint8Array(Int32Array.from(out).buffer);
  }
}
