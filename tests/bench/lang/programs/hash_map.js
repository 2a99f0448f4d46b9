/** See hash_map.lang. */

export function run(count) {
  const map = new Map();
  let seed = 42;
  for (let i = 0; i < count; i++) {
    seed = Math.imul(seed, 1664525) + 1013904223 | 0;
    const key = (seed >>> 8) % count;
    map.set(key, (map.get(key) ?? 0) + 1);
  }
  let sum = 0;
  for (let key = 0; key < count; key++) {
    const value = map.get(key);
    if (value !== undefined) sum = sum + Math.imul(value, key) | 0;
  }
  for (let key = 0; key < count; key++) {
    if (key % 3 === 0) map.delete(key);
  }
  for (let key = 0; key < count; key++) {
    if (!map.has(key)) sum = sum + key | 0;
    if (key % 6 === 0) map.set(key, key);
  }
  for (const [key, value] of map) sum = Math.imul(sum, 31) + (key ^ value) | 0;
  return sum + map.size | 0;
}
