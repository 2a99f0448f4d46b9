/** The forms of an explained plan: PostgreSQL's text layout, and its JSON with the same names of members. */

/** What EXPLAIN ANALYZE measured for one operator. */
export interface OperatorProfile {
  readonly rows: number;
  readonly microseconds: number;
  readonly loops: number;
  /** The most that it held at a time. */
  readonly memoryBytes: number;
  readonly spilledBytes: number;
  /** Sorted runs, or parts by hash, in its files. */
  readonly runs: number;
  /** How often rows were written to them. */
  readonly passes: number;
}

/** One operator of an explained plan. */
export interface ExplainedOperator {
  /** What it does and on what: `Seq Scan on t`. */
  readonly title: string;
  /** What it is a part of: `SubPlan 1`, `CTE cte1`; empty for a plain input. */
  readonly label: string;
  readonly relation: string | null;
  readonly alias: string | null;
  readonly index: string | null;
  readonly estimatedRows: number | null;
  /** What was measured; null without ANALYZE. */
  readonly profile: OperatorProfile | null;
  /** `Sort Key` and the like, with their texts. A name may occur twice. */
  readonly details: readonly (readonly [name: string, text: string])[];
  /** Where a gather's rows come from. */
  readonly places: readonly ExplainedPlace[];
  readonly children: readonly ExplainedOperator[];
}

/** A place that rows come from, and with ANALYZE what it has done. */
export interface ExplainedPlace {
  readonly kind: "Shard" | "Worker";
  readonly number: number;
  readonly work: {
    /** Of a worker. */
    readonly morsels?: number;
    readonly rows: number;
    readonly bytes: number;
    readonly batches: number;
    readonly microseconds: number;
  } | null;
}

/** What is shown in addition to the operators. */
export interface ExplainFormatOptions {
  /** Estimates. */
  readonly costs: boolean;
  /** Times of operators; their rows are always shown. */
  readonly timing: boolean;
}

/** A JSON value as EXPLAIN prints it. */
type Member = string | number | boolean | readonly Member[] | { readonly [name: string]: Member };

/** The lines of the text form. */
export function explainText(root: ExplainedOperator, options: ExplainFormatOptions): string[] {
  const lines: string[] = [];
  const show = (node: ExplainedOperator, depth: number): void => {
    const isRoot = depth === 0;
    const pad = " ".repeat(Math.max(0, depth * 6 - 4));
    if (node.label !== "") lines.push(`${pad}${node.label}`);
    const estimated = node.estimatedRows === null || !options.costs ? "" : `  (rows=${node.estimatedRows})`;
    lines.push(`${isRoot ? "" : `${pad}->  `}${node.title}${estimated}${measured(node, options)}`);
    const detailPad = isRoot ? "  " : " ".repeat(depth * 6);
    for (const [name, text] of node.details) lines.push(`${detailPad}${name}: ${text}`);
    for (const line of used(node)) lines.push(`${detailPad}${line}`);
    for (const { kind, number, work } of node.places) {
      if (work === null) continue;
      const morsels = work.morsels === undefined ? "" : ` morsels=${work.morsels}`;
      const time = options.timing ? ` time=${(work.microseconds / 1000).toFixed(3)}` : "";
      const sent = `rows=${work.rows} bytes=${work.bytes} batches=${work.batches}`;
      lines.push(`${detailPad}${kind} ${number}:${morsels} ${sent}${time}`);
    }
    for (const child of node.children) show(child, depth + 1);
  };
  show(root, 0);
  return lines;
}

function measured({ profile }: ExplainedOperator, { timing }: ExplainFormatOptions): string {
  if (profile === null) return "";
  const time = timing ? `time=${(profile.microseconds / 1000).toFixed(3)} ` : "";
  return ` (actual ${time}rows=${profile.rows} loops=${profile.loops})`;
}

/** What an operator has used beyond time. */
function used({ profile }: ExplainedOperator): string[] {
  if (profile === null || profile.memoryBytes === 0) return [];
  const memory = `Memory: ${kilobytes(profile.memoryBytes)}kB`;
  const { spilledBytes, runs, passes } = profile;
  if (spilledBytes === 0) return [passes > 1 ? `${memory}  Passes: ${passes}` : memory];
  return [memory, `Disk: ${kilobytes(spilledBytes)}kB  Runs: ${runs}  Passes: ${passes}`];
}

function kilobytes(bytes: number): number {
  return Math.ceil(bytes / 1024);
}

/** The JSON form: an array with one object, whose `Plan` is the root operator. */
export function explainJson(
  root: ExplainedOperator,
  options: ExplainFormatOptions & {
    readonly route: string | null;
    readonly executionMilliseconds: number | null;
  },
): string {
  const { route, executionMilliseconds } = options;
  const whole: Member = {
    Plan: members(root, options),
    ...(route === null ? {} : { Route: route }),
    ...(executionMilliseconds === null ? {} : { "Execution Time": rounded(executionMilliseconds) }),
  };
  return JSON.stringify([whole], null, 2);
}

function members(node: ExplainedOperator, options: ExplainFormatOptions): Member {
  const isBackward = / Backward\b/.test(node.title);
  const [, stage, title = node.title] = /^(?:(Partial|Finalize) )?(.*)$/s.exec(node.title) ?? [];
  const result: Record<string, Member> = {
    "Node Type": title.replace(/( Backward)?( using .*| on .*| \(shards? .*)?$/s, ""),
  };
  if (stage !== undefined) result["Partial Mode"] = stage;
  if (node.label !== "") result["Subplan Name"] = node.label;
  if (node.index !== null) {
    result["Scan Direction"] = isBackward ? "Backward" : "Forward";
    result["Index Name"] = node.index;
  }
  if (node.relation !== null) result["Relation Name"] = node.relation;
  if (node.alias !== null) result["Alias"] = node.alias;
  if (options.costs && node.estimatedRows !== null) result["Plan Rows"] = node.estimatedRows;
  if (node.profile !== null) {
    if (options.timing) result["Actual Total Time"] = rounded(node.profile.microseconds / 1000);
    result["Actual Rows"] = node.profile.rows;
    result["Actual Loops"] = node.profile.loops;
    const { memoryBytes, spilledBytes, runs, passes } = node.profile;
    if (memoryBytes > 0) result["Memory Usage"] = kilobytes(memoryBytes);
    if (spilledBytes > 0) Object.assign(result, { "Disk Usage": kilobytes(spilledBytes), Runs: runs });
    if (spilledBytes > 0 || passes > 1) result["Passes"] = passes;
  }
  for (const [name, text] of node.details) {
    const before = result[name];
    // Keys are lists, as PostgreSQL has them.
    if (before === undefined) result[name] = name.endsWith(" Key") ? [text] : text;
    else result[name] = Array.isArray(before) ? [...before, text] : [before, text];
  }
  const [first] = node.places;
  if (first !== undefined) {
    result[`${first.kind}s`] = node.places.map(({ kind, number, work }) => ({
      [kind]: number,
      ...(work?.morsels === undefined ? {} : { Morsels: work.morsels }),
      ...(work === null ? {} : { Rows: work.rows, Bytes: work.bytes, Batches: work.batches }),
      ...(work === null || !options.timing ? {} : { Time: rounded(work.microseconds / 1000) }),
    }));
  }
  if (node.children.length > 0) result["Plans"] = node.children.map((child) => members(child, options));
  return result;
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
