/**
 * The picture of a game on a canvas.
 *
 * A game draws in units of its own, and hands over one frame as a list of commands: words of four bytes, first the
 * number of the command, then its arguments. Lengths and places are floats, colors whole numbers 0xRRGGBBAA;
 * `web.canvas` of the library lists all commands.
 */

const FONT = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const ALIGNMENTS = ["left", "center", "right"];

/** So many rectangles one after the other are painted as one picture. */
const FEWEST_DOTS = 512;
/** Words of the command that paints a rectangle, with its number. */
const RECTANGLE_WORDS = 6;

/** Scales the picture to the canvas and paints its frames. */
export class Screen {
  #canvas;
  #context;
  #pictures = new Map();
  #colors = new Map();
  /** Size of the picture in units of the game. */
  width = 320;
  height = 200;
  /** Pixels for a unit, and where on the canvas the picture begins. */
  #scale = 1;
  #left = 0;
  #top = 0;

  // The frame that is being painted.
  #bytes = new Uint8Array();
  #integers = new Int32Array();
  #floats = new Float32Array();
  #filled = 0;
  #isTurned = false;
  #stack = [];
  /** Rectangles up to this word are painted one by one. */
  #afterRun = 0;
  #dots = null;

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
    new ResizeObserver(() => this.#fit()).observe(canvas);
    this.#fit();
  }

  /** Makes the picture as large as the canvas allows, with bars at the sides where the shapes differ. */
  #fit() {
    const canvas = this.#canvas;
    const width = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio));
    const height = Math.max(1, Math.round(canvas.clientHeight * devicePixelRatio));
    // To set a size clears the canvas.
    canvas.width = width;
    canvas.height = height;
    this.#scale = Math.min(width / this.width, height / this.height);
    this.#left = Math.floor((width - this.width * this.#scale) / 2);
    this.#top = Math.floor((height - this.height * this.#scale) / 2);
  }

  /** A place of the page in units of the game. */
  toUnits(clientX, clientY) {
    const box = this.#canvas.getBoundingClientRect();
    return [
      ((clientX - box.left) * devicePixelRatio - this.#left) / this.#scale,
      ((clientY - box.top) * devicePixelRatio - this.#top) / this.#scale,
    ];
  }

  /** Paints a frame. */
  draw({ bytes, integers, floats }) {
    this.#bytes = bytes;
    this.#integers = integers;
    this.#floats = floats;
    if (integers[0] === 15) this.#setSize(floats[1], floats[2]);
    const context = this.#context;
    context.save();
    context.beginPath();
    context.rect(
      this.#left,
      this.#top,
      Math.round(this.width * this.#scale),
      Math.round(this.height * this.#scale),
    );
    context.clip();
    context.setTransform(this.#scale, 0, 0, this.#scale, this.#left, this.#top);
    context.imageSmoothingEnabled = false;
    context.lineCap = "round";
    this.#isTurned = false;
    this.#afterRun = 0;
    this.#filled = -1;
    this.#fillWith(0);
    for (let at = 0; at < integers.length;) at = this.#paint(integers[at], at + 1);
    for (; this.#stack.length > 0; this.#stack.pop()) context.restore();
    context.restore();
  }

  /** Paints one command and tells where the next one begins. */
  #paint(command, at) {
    switch (command) {
      case 0:
        return this.#clear(at);
      case 1:
        return this.#rectangle(at);
      case 2:
        return this.#rectangleOutline(at);
      case 3:
        return this.#circle(at);
      case 4:
        return this.#circleOutline(at);
      case 5:
        return this.#line(at);
      case 6:
        return this.#polygon(at);
      case 7:
        return this.#text(at);
      case 8:
        return this.#image(at);
      case 9:
        this.#context.globalAlpha = Math.min(1, Math.max(0, this.#floats[at]));
        return at + 1;
      case 10:
        return this.#push(at);
      case 11:
        return this.#pop(at);
      case 12:
        this.#context.translate(this.#snap(this.#floats[at]), this.#snap(this.#floats[at + 1]));
        return at + 2;
      case 13:
        this.#context.rotate(this.#floats[at]);
        this.#isTurned = true;
        return at + 1;
      case 14:
        this.#context.scale(this.#floats[at], this.#floats[at + 1]);
        this.#isTurned = true;
        return at + 2;
      case 15:
        return at + 2;
      default:
        throw new Error(`The picture has the command ${command}, which this page does not know.`);
    }
  }

  /** Edges on whole pixels are sharp, and leave no gaps between rectangles that touch. */
  #snap(length) {
    return this.#isTurned ? length : Math.round(length * this.#scale) / this.#scale;
  }

  #color(number) {
    let text = this.#colors.get(number);
    if (text === undefined) {
      text = `#${(number >>> 0).toString(16).padStart(8, "0")}`;
      if (this.#colors.size > 4096) this.#colors.clear();
      this.#colors.set(number, text);
    }
    return text;
  }

  #fillWith(color) {
    if (color === this.#filled) return;
    this.#filled = color;
    this.#context.fillStyle = this.#color(color);
  }

  #strokeWith(color, thickness) {
    this.#context.strokeStyle = this.#color(color);
    this.#context.lineWidth = thickness;
  }

  #clear(at) {
    const context = this.#context;
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = this.#color(this.#integers[at]);
    context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
    context.restore();
    return at + 1;
  }

  #rectangle(at) {
    if (at >= this.#afterRun) {
      const end = this.#runOfRectangles(at);
      if (this.#paintDots(at, end)) return end - 1;
    }
    return this.#oneRectangle(at);
  }

  #oneRectangle(at) {
    const floats = this.#floats;
    const x = this.#snap(floats[at]);
    const y = this.#snap(floats[at + 1]);
    const right = this.#snap(floats[at] + floats[at + 2]);
    const bottom = this.#snap(floats[at + 1] + floats[at + 3]);
    this.#fillWith(this.#integers[at + 4]);
    this.#context.fillRect(x, y, right - x, bottom - y);
    return at + 5;
  }

  /** Where the rectangles that begin here end: at the arguments of the next command. */
  #runOfRectangles(at) {
    let end = at;
    while (this.#integers[end - 1] === 1) end += RECTANGLE_WORDS;
    this.#afterRun = end;
    return end;
  }

  /**
   * Paints many rectangles into the bytes of a picture, and that at once: a browser takes more time for each of many
   * thousands than to paint them. Says false when they are few, large or not opaque, or turned.
   */
  #paintDots(first, end) {
    const { width, height } = this.#canvas;
    const count = (end - first) / RECTANGLE_WORDS;
    if (
      count < FEWEST_DOTS || this.#isTurned || this.#context.globalAlpha !== 1 || width * height > count * 128
    ) {
      return false;
    }
    const [integers, floats] = [this.#integers, this.#floats];
    let area = 0;
    for (let at = first; at < end; at += RECTANGLE_WORDS) {
      if ((integers[at + 4] & 255) !== 255) return false;
      area += floats[at + 2] * floats[at + 3];
    }
    if (area > this.width * this.height) return false;

    const dots = this.#dotsOf(width, height);
    const { a: scale, e: left, f: top } = this.#context.getTransform();
    dots.pixels.fill(0);
    for (let at = first; at < end; at += RECTANGLE_WORDS) {
      const x = Math.max(0, left + Math.round(floats[at] * scale));
      const right = Math.min(width, left + Math.round((floats[at] + floats[at + 2]) * scale));
      const y = Math.max(0, top + Math.round(floats[at + 1] * scale));
      const bottom = Math.min(height, top + Math.round((floats[at + 1] + floats[at + 3]) * scale));
      const color = integers[at + 4];
      // Pixels are red, green, blue and opacity, the lowest byte first.
      const pixel = -0x1000000 | (color >> 8 & 255) << 16 | (color >> 16 & 255) << 8 | color >>> 24;
      for (let row = y * width; row < bottom * width; row += width) {
        for (let column = x; column < right; column++) dots.pixels[row + column] = pixel;
      }
    }
    dots.context.putImageData(dots.image, 0, 0);
    this.#context.save();
    this.#context.setTransform(1, 0, 0, 1, 0, 0);
    this.#context.drawImage(dots.canvas, 0, 0);
    this.#context.restore();
    return true;
  }

  /** An empty picture as large as the canvas. */
  #dotsOf(width, height) {
    if (this.#dots?.canvas.width !== width || this.#dots?.canvas.height !== height) {
      const canvas = new OffscreenCanvas(width, height);
      const image = new ImageData(width, height);
      const pixels = new Int32Array(image.data.buffer);
      this.#dots = { canvas, context: canvas.getContext("2d"), image, pixels };
    }
    return this.#dots;
  }

  /** The whole thickness is inside of the rectangle. */
  #rectangleOutline(at) {
    const floats = this.#floats;
    const thickness = floats[at + 4];
    const x = this.#snap(floats[at]) + thickness / 2;
    const y = this.#snap(floats[at + 1]) + thickness / 2;
    this.#strokeWith(this.#integers[at + 5], thickness);
    this.#context.strokeRect(x, y, floats[at + 2] - thickness, floats[at + 3] - thickness);
    return at + 6;
  }

  #arc(at) {
    this.#context.beginPath();
    this.#context.arc(
      this.#floats[at],
      this.#floats[at + 1],
      Math.max(0, this.#floats[at + 2]),
      0,
      Math.PI * 2,
    );
  }

  #circle(at) {
    this.#fillWith(this.#integers[at + 3]);
    this.#arc(at);
    this.#context.fill();
    return at + 4;
  }

  #circleOutline(at) {
    this.#strokeWith(this.#integers[at + 4], this.#floats[at + 3]);
    this.#arc(at);
    this.#context.stroke();
    return at + 5;
  }

  #line(at) {
    const context = this.#context;
    this.#strokeWith(this.#integers[at + 5], this.#floats[at + 4]);
    context.beginPath();
    context.moveTo(this.#floats[at], this.#floats[at + 1]);
    context.lineTo(this.#floats[at + 2], this.#floats[at + 3]);
    context.stroke();
    return at + 6;
  }

  #polygon(at) {
    this.#fillWith(this.#integers[at]);
    const first = at + 2;
    const end = first + this.#integers[at + 1] * 2;
    this.#context.beginPath();
    for (let point = first; point < end; point += 2) {
      this.#context.lineTo(this.#floats[point], this.#floats[point + 1]);
    }
    this.#context.fill();
    return end;
  }

  /** The text at a word: its length in bytes, then the bytes, filled up to whole words. */
  #string(at) {
    const start = (at + 1) * 4;
    return new TextDecoder().decode(this.#bytes.subarray(start, start + this.#integers[at]));
  }

  #afterString(at) {
    return at + 1 + Math.ceil(this.#integers[at] / 4);
  }

  #text(at) {
    const context = this.#context;
    context.font = `${this.#floats[at + 2]}px ${FONT}`;
    context.textAlign = ALIGNMENTS[this.#integers[at + 3]];
    this.#fillWith(this.#integers[at + 4]);
    context.fillText(this.#string(at + 5), this.#floats[at], this.#floats[at + 1]);
    return this.#afterString(at + 5);
  }

  #image(at) {
    const image = this.#imageNamed(this.#string(at + 8));
    const [x, y, width, height, fromX, fromY, fromWidth, fromHeight] = this.#floats.subarray(at, at + 8);
    if (image !== null) {
      const [left, top] = [this.#snap(x), this.#snap(y)];
      const isWhole = fromWidth === 0;
      this.#context.drawImage(
        image,
        fromX,
        fromY,
        isWhole ? image.naturalWidth : fromWidth,
        isWhole ? image.naturalHeight : fromHeight,
        left,
        top,
        this.#snap(x + width) - left,
        this.#snap(y + height) - top,
      );
    }
    return this.#afterString(at + 8);
  }

  /** A picture of the folder; null until it has come. */
  #imageNamed(name) {
    let image = this.#pictures.get(name);
    if (image === undefined) {
      image = new Image();
      image.src = name;
      this.#pictures.set(name, image);
    }
    return image.complete && image.naturalWidth > 0 ? image : null;
  }

  #push(at) {
    this.#context.save();
    this.#stack.push({ isTurned: this.#isTurned, filled: this.#filled });
    return at;
  }

  #pop(at) {
    const before = this.#stack.pop();
    if (before === undefined) return at;
    this.#context.restore();
    this.#isTurned = before.isTurned;
    this.#filled = before.filled;
    return at;
  }

  #setSize(width, height) {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.#fit();
  }
}
