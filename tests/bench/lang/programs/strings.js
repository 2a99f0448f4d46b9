/** See strings.lang. */

export function run(count) {
  const words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"];
  const lines = [];
  for (let i = 0; i < count; i++) {
    let line = `${i}: `;
    for (let j = 0; j < 8; j++) {
      line += words[(i + j) % 7];
      line += ` = ${i * j}, `;
    }
    lines.push(line);
  }
  const text = lines.join("\n");
  let hash = 17;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash, 31) + text.charCodeAt(i) | 0;
  return hash;
}
