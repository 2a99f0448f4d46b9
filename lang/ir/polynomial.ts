/**
 * Formulas of sizes: sums of products of names, with whole factors of at least 0, so that larger sizes never make
 * them smaller.
 *
 * The key of a product is its names, sorted and joined by `·`; that of the constant is empty.
 */

/** A formula. */
export type Polynomial = ReadonlyMap<string, number>;

/** A number. */
export function constantOf(value: number): Polynomial {
  return value === 0 ? new Map() : new Map([["", value]]);
}

/** A name. */
export function sizeOf(name: string): Polynomial {
  return new Map([[name, 1]]);
}

/** The sum. */
export function plus(left: Polynomial, right: Polynomial): Polynomial {
  const sum = new Map(left);
  for (const [key, factor] of right) sum.set(key, (sum.get(key) ?? 0) + factor);
  return sum;
}

/** The product. */
export function times(left: Polynomial, right: Polynomial): Polynomial {
  const product = new Map<string, number>();
  for (const [leftKey, leftFactor] of left) {
    for (const [rightKey, rightFactor] of right) {
      const key = [...leftKey.split("·"), ...rightKey.split("·")].filter((name) => name !== "").sort().join(
        "·",
      );
      product.set(key, (product.get(key) ?? 0) + leftFactor * rightFactor);
    }
  }
  return product;
}

/** At least as large as both, for all sizes. */
export function greater(left: Polynomial, right: Polynomial): Polynomial {
  const result = new Map(left);
  for (const [key, factor] of right) result.set(key, Math.max(result.get(key) ?? 0, factor));
  return result;
}

/** The formula with formulas put in for names; null when there is none for one of them. */
export function substituted(
  formula: Polynomial,
  replacement: (name: string) => Polynomial | null,
): Polynomial | null {
  let result: Polynomial = new Map();
  for (const [key, factor] of formula) {
    let product = constantOf(factor);
    for (const name of key.split("·").filter((each) => each !== "")) {
      const put = replacement(name);
      if (put === null) return null;
      product = times(product, put);
    }
    result = plus(result, product);
  }
  return result;
}

/** As people write it: `12 + 5·n + 3·len(xs)·n`. */
export function polynomialText(formula: Polynomial): string {
  const terms = [...formula].filter(([, factor]) => factor !== 0).sort(([left], [right]) =>
    left.split("·").length - right.split("·").length || (left < right ? -1 : 1)
  );
  if (terms.length === 0) return "0";
  return terms.map(([key, factor]) => {
    const number = String(Math.ceil(factor));
    return key === "" ? number : number === "1" ? key : `${number}·${key}`;
  }).join(" + ");
}
