/** See fannkuch.lang. */

export function run(size) {
  const permutation = new Int32Array(size);
  const start = new Int32Array(size);
  const counts = new Int32Array(size);
  for (let i = 0; i < size; i++) start[i] = i;
  let mostFlips = 0;
  let checksum = 0;
  let isEven = true;
  let rest = size;
  while (true) {
    while (rest > 1) {
      counts[rest - 1] = rest;
      rest--;
    }
    for (let i = 0; i < size; i++) permutation[i] = start[i];
    let flips = 0;
    let first = permutation[0];
    while (first !== 0) {
      let low = 0;
      let high = first;
      while (low < high) {
        const swapped = permutation[low];
        permutation[low] = permutation[high];
        permutation[high] = swapped;
        low++;
        high--;
      }
      flips++;
      first = permutation[0];
    }
    if (flips > mostFlips) mostFlips = flips;
    checksum += isEven ? flips : -flips;
    isEven = !isEven;
    while (true) {
      if (rest === size) return checksum * 100 + mostFlips;
      const moved = start[0];
      for (let i = 0; i < rest; i++) start[i] = start[i + 1];
      start[rest] = moved;
      counts[rest]--;
      if (counts[rest] > 0) break;
      rest++;
    }
  }
}
