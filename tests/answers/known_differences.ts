/**
 * Where our answers differ from PostgreSQL's: on purpose, as `docs/sql.md` says, and not yet corrected.
 *
 * A difference that no rule covers fails the test. A deliberate one that no longer occurs fails it too; the other list is to be emptied.
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

/** Differences that are meant. */
export const DELIBERATE: readonly Rule[] = [
  {
    reason: "a number with a declared scale is an integer inside, which has no NaN",
    label: / :: numeric\(/,
    call: /^cast\('(NaN|nan)'/,
    expected: /^NaN$/,
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
];

/** Differences that are still to be corrected, with whose they are. */
export const PENDING: readonly Rule[] = [
  {
    reason: "overflow checks of rows in the delta",
    label: /^(i16|i32|i64|numeric\S*) [-+*] (i16|i32|i64|numeric\S*)$/,
  },
  {
    reason: "numeric: digits of functions",
    label:
      /^(round|trunc|power|pow|width_bucket)\((numeric|f64|enum)|^numeric\S* \^ numeric|^text\/of numeric(\[\])? ::|^f64 \^ f64|^(power|pow)\(f64/,
  },
  {
    reason: "the least subnormal float",
    label: /./,
    call: /1e-45|7e-46/,
  },
  {
    reason: "dates and times",
    label:
      /^(extract|date_part|date_trunc|date_bin|age|make_\w+|timezone|to_char|to_date|to_timestamp|generate_series)\(|^timestamp(tz)? - timestamp|interval (year|day)|^timestamp :: timestamptz|^text\/of (interval|date|time)/,
  },
  {
    reason: "to_char and to_number of numbers",
    label: /^to_number\(/,
  },
  {
    reason: "arrays",
    label: /^(array_cat|array_position|array_fill)\(|^\S+\[\] \|\| |^text\/of \S+\[\] ::/,
  },
  {
    reason: "regular expressions",
    label: /^regexp_(count|instr|substr|replace)\(|^(like_escape|similar_to_escape)\(/,
  },
  {
    reason: "trigonometric functions at zero and beyond",
    label: /^(sind|tand|cotd|asind|atand|atan2d|sinh|cosh|radians|atan2)\(|^degrees/,
  },
  {
    reason: "text functions at the ends of integers",
    label: /^(right|lpad|rpad|format|overlay|chr|unistr|convert_from|convert_to)\(/,
  },
  {
    reason: "json of padded texts, paths, escapes",
    label: /json|^(row|array):/,
  },
  {
    reason: "catalog functions",
    label: /^(to_regtype|format_type|pg_\w+)\(/,
  },
  {
    reason: 'casts of NULL without a cast; of "char", oid, name',
    label: /::/,
  },
  { reason: "overflow in statistics of floats", label: /^(regr_|corr|covar_|percentile_cont)/ },
  {
    reason: "RANGE frames: infinite values and distances, distances of another type",
    label: / over .* range between /,
  },
];

/** The rule that covers a difference. */
export function ruleOf(rules: readonly Rule[], { label, call, expected }: Difference): Rule | undefined {
  return rules.find((rule) =>
    rule.label.test(label) && (rule.call?.test(call) ?? true) && (rule.expected?.test(expected) ?? true)
  );
}
