/**
 * Where our answers differ from PostgreSQL's: on purpose, as `docs/sql.md` says, and not yet corrected.
 *
 * A difference that no rule covers fails the test. A deliberate one that no longer occurs fails it too; the other
 * list is to be emptied.
 */
import type { Difference } from "./replay.ts";

/** Which differences, and why. */
export interface Rule {
  readonly reason: string;
  readonly label: RegExp;
  /** The call with its arguments as literals. */
  readonly call?: RegExp;
  /** PostgreSQL's answer. */
  readonly expected?: RegExp;
}

/** Differences that are meant; `docs/sql.md` lists them. */
export const DELIBERATE: readonly Rule[] = [
  {
    reason: "a number with a declared scale is an integer inside, which has no NaN",
    label: / :: numeric\(/,
    call: /^cast\('(\{[^']*)?NaN/i,
    expected: /NaN/,
  },
  {
    reason: "letters beyond ASCII have cases and classes here, also in the collation C",
    label: /~|^(upper|lower|initcap|substring|regexp_\w+)\(|^similar/,
    call: /[äÄÖßﬁİé日]|ÄÖ/,
  },
  {
    reason: "avg of floats keeps no sum of squares, so that it does not fail where only that is out of range",
    label: /^(avg|regr_avg[xy])\(.*f64|^avg\(c0\) over .*f64/,
    expected: /^!22003$/,
  },
  {
    reason: "which of several equal values is taken is not specified",
    label: /^(percentile_disc|mode)\(.*(interval|f64)/,
    expected: /^[^!]/,
  },
  {
    reason: "integers do not wrap around: years and weeks of make_interval",
    label: /^make_interval\(/,
    call: /2147483647|-2147483648/,
    expected: /^[^!]/,
  },
  {
    reason: "integers do not wrap around: the difference of two timestamps",
    label: /^timestamp(tz)? - timestamp/,
    call: /294276/,
  },
  {
    reason: "integers do not wrap around: the least length of right()",
    label: /^right\(/,
    call: /'-2147483648'::integer/,
  },
  {
    reason: "integers do not wrap around: what V of to_char multiplies, ISO years of an interval",
    label: /^to_char\((i32, text\/number_format|interval, text\/time_format)\)$/,
    call: /9V99|2147483647 days/,
  },
  {
    reason: "infinite dates have no age",
    label: /^age\(/,
    call: /infinity/,
    expected: /^[^!]/,
  },
  {
    reason: "the digits of powers and of seconds since 1970, and the count of a bucket, are exact",
    label: /^(pow|power|width_bucket)\(|\^|^extract\(/,
    call: /99999999\.99.*'2\.5'|9{30}\.|9223372036854775808|1\.7976931348623157e308|'epoch'.*294276/,
  },
  {
    reason: "the zone database: EST5EDT is the zone of New York",
    label: /zone/,
    call: /'EST5EDT'/,
  },
  {
    reason: "what is an internal error of PostgreSQL is a wrong argument here",
    label: /^format_type\(/,
    call: /1186/,
    expected: /^!XX000$/,
  },
  {
    reason: "a text holds no byte of zero",
    label: /^internal_char :: char\(/,
    call: /^cast\(''/,
  },
];

/** Differences that are still to be corrected. */
export const PENDING: readonly Rule[] = [];

/** The rule that covers a difference. */
export function ruleOf(rules: readonly Rule[], { label, call, expected }: Difference): Rule | undefined {
  return rules.find((rule) =>
    rule.label.test(label) && (rule.call?.test(call) ?? true) && (rule.expected?.test(expected) ?? true)
  );
}
