// See n_body.lang.

class Body {
  constructor(
    public x: f64,
    public y: f64,
    public z: f64,
    public vx: f64,
    public vy: f64,
    public vz: f64,
    public mass: f64,
  ) {}
}

const SOLAR_MASS: f64 = 4 * Math.PI * Math.PI;
const DAYS: f64 = 365.24;

function planets(): StaticArray<Body> {
  return [
    new Body(0, 0, 0, 0, 0, 0, SOLAR_MASS),
    new Body(
      4.84143144246472090e+00,
      -1.16032004402742839e+00,
      -1.03622044471123109e-01,
      1.66007664274403694e-03 * DAYS,
      7.69901118419740425e-03 * DAYS,
      -6.90460016972063023e-05 * DAYS,
      9.54791938424326609e-04 * SOLAR_MASS,
    ),
    new Body(
      8.34336671824457987e+00,
      4.12479856412430479e+00,
      -4.03523417114321381e-01,
      -2.76742510726411899e-03 * DAYS,
      4.99852801234917238e-03 * DAYS,
      2.30417297573763929e-05 * DAYS,
      2.85885980666130812e-04 * SOLAR_MASS,
    ),
    new Body(
      1.28943695621391310e+01,
      -1.51111514016986312e+01,
      -2.23307578892655734e-01,
      2.96460137564761618e-03 * DAYS,
      2.37847173959480950e-03 * DAYS,
      -2.96589568540237556e-05 * DAYS,
      4.36624404335156298e-05 * SOLAR_MASS,
    ),
    new Body(
      1.53796971148509165e+01,
      -2.59193146099879641e+01,
      1.79258772950371181e-01,
      2.68067772490389322e-03 * DAYS,
      1.62824170038242295e-03 * DAYS,
      -9.51592254519715870e-05 * DAYS,
      5.15138902046611451e-05 * SOLAR_MASS,
    ),
  ];
}

function stopDrift(bodies: StaticArray<Body>): void {
  let px: f64 = 0;
  let py: f64 = 0;
  let pz: f64 = 0;
  for (let i = 0; i < bodies.length; i++) {
    const body = unchecked(bodies[i]);
    px += body.vx * body.mass;
    py += body.vy * body.mass;
    pz += body.vz * body.mass;
  }
  unchecked(bodies[0].vx = -px / SOLAR_MASS);
  unchecked(bodies[0].vy = -py / SOLAR_MASS);
  unchecked(bodies[0].vz = -pz / SOLAR_MASS);
}

function advance(bodies: StaticArray<Body>, dt: f64): void {
  const count = bodies.length;
  for (let i = 0; i < count; i++) {
    const body = unchecked(bodies[i]);
    let vx = body.vx;
    let vy = body.vy;
    let vz = body.vz;
    for (let j = i + 1; j < count; j++) {
      const other = unchecked(bodies[j]);
      const dx = body.x - other.x;
      const dy = body.y - other.y;
      const dz = body.z - other.z;
      const distance = dx * dx + dy * dy + dz * dz;
      const magnitude = dt / (distance * Math.sqrt(distance));
      vx -= dx * other.mass * magnitude;
      vy -= dy * other.mass * magnitude;
      vz -= dz * other.mass * magnitude;
      other.vx += dx * body.mass * magnitude;
      other.vy += dy * body.mass * magnitude;
      other.vz += dz * body.mass * magnitude;
    }
    body.vx = vx;
    body.vy = vy;
    body.vz = vz;
  }
  for (let i = 0; i < count; i++) {
    const body = unchecked(bodies[i]);
    body.x += dt * body.vx;
    body.y += dt * body.vy;
    body.z += dt * body.vz;
  }
}

function energy(bodies: StaticArray<Body>): f64 {
  let sum: f64 = 0;
  for (let i = 0; i < bodies.length; i++) {
    const body = unchecked(bodies[i]);
    sum += 0.5 * body.mass * (body.vx * body.vx + body.vy * body.vy + body.vz * body.vz);
    for (let j = i + 1; j < bodies.length; j++) {
      const other = unchecked(bodies[j]);
      const dx = body.x - other.x;
      const dy = body.y - other.y;
      const dz = body.z - other.z;
      sum -= body.mass * other.mass / Math.sqrt(dx * dx + dy * dy + dz * dz);
    }
  }
  return sum;
}

export function run(steps: i32): f64 {
  const bodies = planets();
  stopDrift(bodies);
  for (let step = 0; step < steps; step++) advance(bodies, 0.01);
  return energy(bodies);
}
