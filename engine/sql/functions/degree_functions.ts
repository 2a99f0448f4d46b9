/**
 * Trigonometric functions of degrees: exact at the multiples of 30 and 45 degrees, monotone between them, with the
 * signs of zero and the rounding that PostgreSQL's have.
 *
 * An angle is reduced to the first quadrant. There each function is scaled so that it meets its exact values.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";

const RADIANS_PER_DEGREE = 0.0174532925199432957692;

const SIN_30 = Math.sin(30 * RADIANS_PER_DEGREE);
const ONE_MINUS_COS_60 = 1 - Math.cos(60 * RADIANS_PER_DEGREE);
const ASIN_HALF = Math.asin(0.5);
const ACOS_HALF = Math.acos(0.5);
const ATAN_1 = Math.atan(1);

function outOfRange(): DatabaseError {
  return new DatabaseError(SQLSTATE.numericValueOutOfRange, "input is out of range");
}

function sineBelow30(degrees: number): number {
  return Math.sin(degrees * RADIANS_PER_DEGREE) / SIN_30 / 2;
}

function cosineBelow60(degrees: number): number {
  return 1 - (1 - Math.cos(degrees * RADIANS_PER_DEGREE)) / ONE_MINUS_COS_60 / 2;
}

/** Sine of 0 to 90 degrees. */
function sineOfQuadrant(degrees: number): number {
  return degrees <= 30 ? sineBelow30(degrees) : cosineBelow60(90 - degrees);
}

/** Cosine of 0 to 90 degrees. */
function cosineOfQuadrant(degrees: number): number {
  return degrees <= 60 ? cosineBelow60(degrees) : sineBelow30(90 - degrees);
}

const TANGENT_OF_45 = sineOfQuadrant(45) / cosineOfQuadrant(45);
const COTANGENT_OF_45 = cosineOfQuadrant(45) / sineOfQuadrant(45);

/** An angle of the first quadrant with the signs that sine and cosine have at the original angle. */
interface Reduced {
  readonly angle: number;
  readonly sine: 1 | -1;
  readonly cosine: 1 | -1;
}

/** NaN stays NaN; 22003 for the infinities. */
function reduce(degrees: number): Reduced {
  if (degrees === Infinity || degrees === -Infinity) throw outOfRange();
  let angle = degrees % 360;
  let sine: 1 | -1 = 1;
  let cosine: 1 | -1 = 1;
  if (angle < 0) {
    angle = -angle;
    sine = -1;
  }
  if (angle > 180) {
    angle = 360 - angle;
    sine = sine === 1 ? -1 : 1;
  }
  if (angle > 90) {
    angle = 180 - angle;
    cosine = -1;
  }
  return { angle, sine, cosine };
}

/** Sine of degrees. */
export function sineOfDegrees(degrees: number): number {
  const { angle, sine } = reduce(degrees);
  return sine * sineOfQuadrant(angle);
}

/** Cosine of degrees. */
export function cosineOfDegrees(degrees: number): number {
  const { angle, cosine } = reduce(degrees);
  return cosine * cosineOfQuadrant(angle);
}

/** Tangent of degrees; never -0. */
export function tangentOfDegrees(degrees: number): number {
  const { angle, sine, cosine } = reduce(degrees);
  return sine * cosine * (sineOfQuadrant(angle) / cosineOfQuadrant(angle) / TANGENT_OF_45) + 0;
}

/** Cotangent of degrees; never -0. */
export function cotangentOfDegrees(degrees: number): number {
  const { angle, sine, cosine } = reduce(degrees);
  return sine * cosine * (cosineOfQuadrant(angle) / sineOfQuadrant(angle) / COTANGENT_OF_45) + 0;
}

function asinOfQuadrant(value: number): number {
  return value <= 0.5 ? Math.asin(value) / ASIN_HALF * 30 : 90 - Math.acos(value) / ACOS_HALF * 60;
}

function acosOfQuadrant(value: number): number {
  return value <= 0.5 ? 90 - Math.asin(value) / ASIN_HALF * 30 : Math.acos(value) / ACOS_HALF * 60;
}

/** Inverse sine in degrees; 22003 beyond -1 to 1. */
export function asinInDegrees(value: number): number {
  if (value < -1 || value > 1) throw outOfRange();
  return value < 0 ? -asinOfQuadrant(-value) : asinOfQuadrant(value);
}

/** Inverse cosine in degrees; 22003 beyond -1 to 1. */
export function acosInDegrees(value: number): number {
  if (value < -1 || value > 1) throw outOfRange();
  return value < 0 ? 90 + asinOfQuadrant(-value) : acosOfQuadrant(value);
}

/** Inverse tangent in degrees. */
export function atanInDegrees(value: number): number {
  return Math.atan(value) / ATAN_1 * 45;
}

/** Angle in degrees of the point (x, y). */
export function atan2InDegrees(y: number, x: number): number {
  return Math.atan2(y, x) / ATAN_1 * 45;
}
