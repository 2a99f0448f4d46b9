/**
 * Arithmetic that WebAssembly has no instruction for.
 */
import { constant, get, i32, type IrExpression, op } from "./node.ts";
import type { RawBuilder } from "./raw_builder.ts";

const long = (value: bigint): IrExpression => constant("i64", value);

/** `(a, b) -> i32`: 1 when the product of two `i64` does not fit. */
export function multiplyOverflows(out: RawBuilder): void {
  const a = out.parameter("a", "i64");
  const b = out.parameter("b", "i64");
  out.result();
  const isShort = (value: IrExpression): IrExpression => op("i64.eq", op("i64.extend32_s", value), value);
  out.if(op("i32.and", isShort(get(a)), isShort(get(b))), () => out.return(i32(0)));
  out.if(op("i64.eqz", get(a)), () => out.return(i32(0)));
  out.if(
    op("i64.eq", get(a), long(-1n)),
    () => out.return(op("i64.eq", get(b), long(-(1n << 63n)))),
  );
  out.return(op("i64.ne", op("i64.div_s", op("i64.mul", get(a), get(b)), get(a)), get(b)));
}

/**
 * `(x, y) -> x - y * trunc(x / y)` without rounding: long division of the significands in binary, one bit of the
 * quotient at a time.
 */
export function floatRemainder(out: RawBuilder): void {
  const x = out.parameter("x", "f64");
  const y = out.parameter("y", "f64");
  out.result("f64");
  const magnitude = (value: IrExpression): IrExpression =>
    op("i64.and", op("i64.reinterpret_f64", value), long(0x7fffffffffffffffn));
  const a = out.local("a", magnitude(get(x)), "i64");
  const b = out.local("b", magnitude(get(y)), "i64");
  const infinity = long(0x7ff0000000000000n);
  out.if(
    op(
      "i32.or",
      op("i32.or", op("i64.eqz", get(b)), op("i64.gt_u", get(b), infinity)),
      op("i64.ge_u", get(a), infinity),
    ),
    () => out.return(constant("f64", Number.NaN)),
  );
  out.if(op("i64.lt_u", get(a), get(b)), () => out.return(get(x)));
  const exponentOf = (value: IrExpression): IrExpression => op("i64.shr_u", value, long(52n));
  const power = out.local("power", exponentOf(get(a)), "i64");
  const least = out.local("least", exponentOf(get(b)), "i64");
  // A significand with its leading bit at place 52; for numbers without one, the exponent goes below 1.
  for (const [significand, exponent] of [[a, power], [b, least]] as const) {
    out.if(op("i64.eqz", get(exponent)), () => {
      const shift = out.local("shift", op("i64.sub", op("i64.clz", get(significand)), long(11n)), "i64");
      out.set(significand, op("i64.shl", get(significand), get(shift)));
      out.set(exponent, op("i64.sub", long(1n), get(shift)));
    }, () =>
      out.set(
        significand,
        op("i64.or", op("i64.and", get(significand), long(0xfffffffffffffn)), long(1n << 52n)),
      ));
  }
  out.block("divided", (divided) => {
    out.loop("bit", (again) => {
      out.if(op("i64.ge_u", get(a), get(b)), () => out.set(a, op("i64.sub", get(a), get(b))));
      out.if(op("i64.le_s", get(power), get(least)), () => out.branch(divided));
      out.set(a, op("i64.shl", get(a), long(1n)));
      out.set(power, op("i64.sub", get(power), long(1n)));
      out.branch(again);
    });
  });
  const signed = (bits: IrExpression): IrExpression =>
    op("f64.copysign", op("f64.reinterpret_i64", bits), get(x));
  out.if(op("i64.eqz", get(a)), () => out.return(signed(long(0n))));
  const shift = out.local("up", op("i64.sub", op("i64.clz", get(a)), long(11n)), "i64");
  out.set(a, op("i64.shl", get(a), get(shift)));
  out.set(power, op("i64.sub", get(power), get(shift)));
  out.if(op("i64.gt_s", get(power), long(0n)), () => {
    out.return(
      signed(op("i64.add", op("i64.sub", get(a), long(1n << 52n)), op("i64.shl", get(power), long(52n)))),
    );
  });
  out.return(signed(op("i64.shr_u", get(a), op("i64.sub", long(1n), get(power)))));
}
