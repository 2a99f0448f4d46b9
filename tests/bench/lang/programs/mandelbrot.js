/** See mandelbrot.lang. */

export function run(size) {
  const picture = new Uint8Array(size * size / 8);
  const scale = 2 / size;
  for (let y = 0; y < size; y++) {
    const ci = y * scale - 1;
    for (let x = 0; x < size; x++) {
      const cr = x * scale - 1.5;
      let zr = 0;
      let zi = 0;
      let zr2 = 0;
      let zi2 = 0;
      let count = 0;
      while (count < 50 && zr2 + zi2 <= 4) {
        zi = 2 * zr * zi + ci;
        zr = zr2 - zi2 + cr;
        zr2 = zr * zr;
        zi2 = zi * zi;
        count++;
      }
      if (count === 50) {
        const pixel = y * size + x;
        picture[pixel >> 3] |= 0x80 >> (pixel & 7);
      }
    }
  }
  let hash = 17;
  for (let i = 0; i < picture.length; i++) hash = Math.imul(hash, 31) + picture[i] | 0;
  return hash;
}
