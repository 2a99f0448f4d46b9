/** See spectral_norm.lang. */

function element(i, j) {
  return 1 / (((i + j) * (i + j + 1) >> 1) + i + 1);
}

function multiply(v, result) {
  for (let i = 0; i < result.length; i++) {
    let sum = 0;
    for (let j = 0; j < v.length; j++) sum += element(i, j) * v[j];
    result[i] = sum;
  }
}

function multiplyTransposed(v, result) {
  for (let i = 0; i < result.length; i++) {
    let sum = 0;
    for (let j = 0; j < v.length; j++) sum += element(j, i) * v[j];
    result[i] = sum;
  }
}

export function run(size) {
  const u = new Float64Array(size).fill(1);
  const v = new Float64Array(size);
  const w = new Float64Array(size);
  for (let round = 0; round < 10; round++) {
    multiply(u, w);
    multiplyTransposed(w, v);
    multiply(v, w);
    multiplyTransposed(w, u);
  }
  let vbv = 0;
  let vv = 0;
  for (let i = 0; i < size; i++) {
    vbv += u[i] * v[i];
    vv += v[i] * v[i];
  }
  return Math.sqrt(vbv / vv);
}
