// See spectral_norm.lang.

function element(i: i32, j: i32): f64 {
  return 1.0 / <f64> ((i + j) * (i + j + 1) / 2 + i + 1);
}

function multiply(v: StaticArray<f64>, result: StaticArray<f64>): void {
  for (let i = 0; i < result.length; i++) {
    let sum: f64 = 0;
    for (let j = 0; j < v.length; j++) sum += element(i, j) * unchecked(v[j]);
    unchecked(result[i] = sum);
  }
}

function multiplyTransposed(v: StaticArray<f64>, result: StaticArray<f64>): void {
  for (let i = 0; i < result.length; i++) {
    let sum: f64 = 0;
    for (let j = 0; j < v.length; j++) sum += element(j, i) * unchecked(v[j]);
    unchecked(result[i] = sum);
  }
}

export function run(size: i32): f64 {
  const u = new StaticArray<f64>(size);
  const v = new StaticArray<f64>(size);
  const w = new StaticArray<f64>(size);
  u.fill(1);
  for (let round = 0; round < 10; round++) {
    multiply(u, w);
    multiplyTransposed(w, v);
    multiply(v, w);
    multiplyTransposed(w, u);
  }
  let vbv: f64 = 0;
  let vv: f64 = 0;
  for (let i = 0; i < size; i++) {
    vbv += unchecked(u[i]) * unchecked(v[i]);
    vv += unchecked(v[i]) * unchecked(v[i]);
  }
  return Math.sqrt(vbv / vv);
}
