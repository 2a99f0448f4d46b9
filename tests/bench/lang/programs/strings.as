// See strings.lang.

export function run(count: i32): i32 {
  const words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"];
  const lines = new Array<string>();
  for (let i = 0; i < count; i++) {
    let line = `${i}: `;
    for (let j = 0; j < 8; j++) {
      line += unchecked(words[(i + j) % 7]);
      line += ` = ${i * j}, `;
    }
    lines.push(line);
  }
  const text = lines.join("\n");
  let hash: i32 = 17;
  for (let i = 0; i < text.length; i++) hash = hash * 31 + text.charCodeAt(i);
  return hash;
}
