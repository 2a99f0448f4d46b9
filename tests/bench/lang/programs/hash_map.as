// See hash_map.lang.

export function run(count: i32): i32 {
  const map = new Map<i32, i32>();
  let seed: i32 = 42;
  for (let i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    const key = (seed >>> 8) % count;
    map.set(key, (map.has(key) ? map.get(key) : 0) + 1);
  }
  let sum: i32 = 0;
  for (let key = 0; key < count; key++) {
    if (map.has(key)) sum += map.get(key) * key;
  }
  for (let key = 0; key < count; key++) {
    if (key % 3 == 0) map.delete(key);
  }
  for (let key = 0; key < count; key++) {
    if (!map.has(key)) sum += key;
    if (key % 6 == 0) map.set(key, key);
  }
  const keys = map.keys();
  const values = map.values();
  for (let i = 0; i < keys.length; i++) sum = sum * 31 + (unchecked(keys[i]) ^ unchecked(values[i]));
  return sum + map.size;
}
