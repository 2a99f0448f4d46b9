// See fannkuch.lang.

export function run(size: i32): i32 {
  const permutation = new StaticArray<i32>(size);
  const start = new StaticArray<i32>(size);
  const counts = new StaticArray<i32>(size);
  for (let i = 0; i < size; i++) unchecked(start[i] = i);
  let mostFlips = 0;
  let checksum = 0;
  let isEven = true;
  let rest = size;
  while (true) {
    while (rest > 1) {
      unchecked(counts[rest - 1] = rest);
      rest--;
    }
    for (let i = 0; i < size; i++) unchecked(permutation[i] = start[i]);
    let flips = 0;
    let first = unchecked(permutation[0]);
    while (first != 0) {
      let low = 0;
      let high = first;
      while (low < high) {
        const swapped = unchecked(permutation[low]);
        unchecked(permutation[low] = permutation[high]);
        unchecked(permutation[high] = swapped);
        low++;
        high--;
      }
      flips++;
      first = unchecked(permutation[0]);
    }
    if (flips > mostFlips) mostFlips = flips;
    checksum += isEven ? flips : -flips;
    isEven = !isEven;
    while (true) {
      if (rest == size) return checksum * 100 + mostFlips;
      const moved = unchecked(start[0]);
      for (let i = 0; i < rest; i++) unchecked(start[i] = start[i + 1]);
      unchecked(start[rest] = moved);
      unchecked(counts[rest]--);
      if (unchecked(counts[rest]) > 0) break;
      rest++;
    }
  }
}
