// See mandelbrot.lang.

export function run(size: i32): i32 {
  const picture = new Uint8Array(size * size / 8);
  const scale: f64 = 2.0 / <f64> size;
  for (let y = 0; y < size; y++) {
    const ci = <f64> y * scale - 1.0;
    for (let x = 0; x < size; x++) {
      const cr = <f64> x * scale - 1.5;
      let zr: f64 = 0;
      let zi: f64 = 0;
      let zr2: f64 = 0;
      let zi2: f64 = 0;
      let count = 0;
      while (count < 50 && zr2 + zi2 <= 4.0) {
        zi = 2.0 * zr * zi + ci;
        zr = zr2 - zi2 + cr;
        zr2 = zr * zr;
        zi2 = zi * zi;
        count++;
      }
      if (count == 50) {
        const pixel = y * size + x;
        const bit: i32 = 0x80 >> (pixel & 7);
        unchecked(picture[pixel >> 3] |= <u8> bit);
      }
    }
  }
  let hash: i32 = 17;
  for (let i = 0; i < picture.length; i++) hash = hash * 31 + unchecked(picture[i]);
  return hash;
}
