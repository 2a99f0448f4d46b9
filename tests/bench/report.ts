/**
 * A run's results as a document: tables in Markdown between two marks of a page, plots beside it, and the figures as
 * JSON.
 */
import type { Comparison, Series } from "./benchmark.ts";
import { barPlot, type BarRow, type GrowthLine, growthPlot } from "./plot.ts";

/** What the page shows of a benchmark's result. */
export interface Figures extends Omit<Comparison, "series"> {
  readonly series: readonly Omit<Series, "values">[];
}

/** Results under the name that they are asked for, and where they were measured. */
export interface Group {
  readonly name: string;
  readonly results: readonly Figures[];
  readonly machine: string;
  readonly commit: string;
  readonly date: string;
}

/** What a run measured. */
export interface Run {
  readonly groups: readonly Group[];
  /** What was left out, and why. */
  readonly missing: readonly string[];
}

/** The run, with what an earlier one measured under other names. Groups come in the order of `names`. */
export function mergeRuns(earlier: Run, run: Run, names: readonly string[]): Run {
  const measured = new Set(run.groups.map(({ name }) => name));
  const groups = [...earlier.groups.filter(({ name }) => !measured.has(name)), ...run.groups];
  return { ...run, groups: groups.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name)) };
}

/** Whose time the bars of a plot are told in: the first of these that took part. */
const BASES = ["PostgreSQL", "dbd, fresh"];

/** The figures' place in the page is between these lines. */
const BEGIN = "<!-- begin: written by deno task bench --report -->";
const END = "<!-- end: written by deno task bench --report -->";

/** The page with the run's tables in it; those of another run go. */
export function withReport(page: string, run: Run, folder: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  const text = `${BEGIN}\n\n${reportText(run, folder)}\n\n${END}`;
  return begin < 0 || end < begin
    ? `${page.trimEnd()}\n\n${text}\n`
    : page.slice(0, begin) + text + page.slice(end + END.length);
}

/** The files beside the page, by name. */
export function reportFiles(run: Run): ReadonlyMap<string, string> {
  const files = new Map([["results.json", figuresText(run)]]);
  for (const { name, results } of run.groups) {
    const plain = results.filter((result) => result.growth === null && baseOf(result) !== undefined);
    const [first] = plain;
    if (first !== undefined) {
      const title = `${name}: time in ${baseOf(first)}'s`;
      files.set(`${name}.svg`, barPlot(title, plain.map(barRow)));
    }
    const lines = growthLines(results);
    if (lines.length > 0) files.set(`${name}.svg`, growthPlot(`${name}: cost and size of the data`, lines));
  }
  return files;
}

/** What the page shows, as JSON with one result on each line. */
function figuresText({ groups, missing }: Run): string {
  const shown = (key: string, value: unknown) => key === "values" ? undefined : value;
  const list = (entries: readonly string[]) => `[\n${entries.join(",\n")}\n]`;
  const groupTexts = groups.map(({ results, ...about }) => {
    const lines = results.map((result) => JSON.stringify(result, shown));
    return `${JSON.stringify(about).slice(0, -1)},"results":${list(lines)}}`;
  });
  return `{"groups":${list(groupTexts)},"missing":${JSON.stringify(missing)}}\n`;
}

function reportText(run: Run, folder: string): string {
  const parts = [
    "A ratio is the median of the ratios of each round, ours over theirs; of a rate more is better, of a time less.",
  ];
  if (run.missing.length > 0) parts.push(`Not run: ${run.missing.join("; ")}.`);
  for (const { name, results, date, commit, machine } of run.groups) {
    parts.push(`### ${name}`, `${date}, commit \`${commit}\`: ${machine}.`);
    const isGrowth = results.every((each) => each.growth !== null);
    parts.push(isGrowth ? growthTable(results) : table(results));
    const mean = geometricMean(results);
    if (mean !== null && !isGrowth) parts.push(mean);
    if (reportFiles(run).has(`${name}.svg`)) parts.push(`![${name}](${folder}/${name}.svg)`);
  }
  return parts.join("\n\n");
}

function table(results: readonly Figures[]): string {
  const peers = [...new Set(results.flatMap(({ series }) => series.map(({ peer }) => peer)))];
  const hasTurns = results.some(({ longestTurnMilliseconds }) => longestTurnMilliseconds !== undefined);
  const header = [
    "Work",
    ...peers,
    ...peers.slice(1).map((peer) => `/ ${peer}`),
    "Bar",
    ...(hasTurns ? ["Longest turn"] : []),
  ];
  const rows = results.map((result) => [
    result.benchmark,
    ...peers.map((peer) => {
      const found = result.series.find((each) => each.peer === peer);
      if (found === undefined || !Number.isFinite(found.median)) return "";
      return `${amount(found.median)} (${amount(found.minimum)}–${amount(found.maximum)}) ${result.unit}`;
    }),
    ...peers.slice(1).map((peer) => {
      const ratio = result.ratios.find((each) => each.peer === peer)?.ratio;
      return ratio === undefined || !Number.isFinite(ratio) ? "" : ratio.toPrecision(2);
    }),
    result.bar ?? "",
    ...(hasTurns ? [turnText(result)] : []),
  ]);
  return markdown(header, rows);
}

function turnText({ longestTurnMilliseconds }: Figures): string {
  return longestTurnMilliseconds === undefined ? "" : `${amount(longestTurnMilliseconds)} ms`;
}

/** The geometric mean of the ratios of queries that all are times, where there are many. */
function geometricMean(results: readonly Figures[]): string | null {
  const [first] = results;
  if (first === undefined || results.length < 10 || results.some(({ unit }) => unit !== "ms")) return null;
  const means = first.ratios.flatMap(({ peer }) => {
    const ratios = results.map((each) => each.ratios.find((other) => other.peer === peer)?.ratio ?? NaN);
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    return Number.isFinite(mean) ? [`${mean.toPrecision(2)} × ${peer}'s time`] : [];
  });
  return means.length === 0 ? null : `Geometric mean of all ${results.length}: ${means.join(", ")}.`;
}

function growthTable(results: readonly Figures[]): string {
  const sizes = [...new Set(results.map(({ growth }) => growth?.size ?? 0))].sort((a, b) => a - b);
  const lines = growthLines(results);
  return markdown(
    ["Work", "Peer", ...sizes.map((size) => size.toLocaleString("en")), "Exponent"],
    lines.map(({ group, peer, unit, points }) => [
      group,
      peer,
      ...sizes.map((size) => {
        const point = points.find((each) => each.size === size);
        return point === undefined ? "" : `${amount(point.cost)} ${unit}`;
      }),
      exponent(points).toFixed(2),
    ]),
  );
}

function growthLines(results: readonly Figures[]): GrowthLine[] {
  const lines = new Map<string, GrowthLine>();
  for (const { growth, series, unit } of results) {
    if (growth === null || growth === undefined) continue;
    for (const { peer, median } of series) {
      if (!Number.isFinite(median)) continue;
      const key = `${growth.group} ${peer}`;
      const line = lines.get(key) ?? { group: growth.group, peer, unit, points: [] };
      lines.set(key, { ...line, points: [...line.points, { size: growth.size, cost: median }] });
    }
  }
  return [...lines.values()];
}

/** The slope of the cost over the size where both axes are logarithmic: 1 for cost in proportion to the data. */
export function exponent(points: readonly { readonly size: number; readonly cost: number }[]): number {
  const xs = points.map(({ size }) => Math.log(size));
  const ys = points.map(({ cost }) => Math.log(cost));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  const above = xs.reduce((sum, value, index) => sum + (value - x) * ((ys[index] ?? 0) - y), 0);
  return above / xs.reduce((sum, value) => sum + (value - x) ** 2, 0);
}

function baseOf({ series }: Figures): string | undefined {
  return BASES.find((base) => series.some(({ peer }) => peer === base));
}

/** A bar is a peer's time against that of the base, or the inverse of its rate. */
function barRow(result: Figures): BarRow {
  const baseName = baseOf(result);
  const base = result.series.find(({ peer }) => peer === baseName)?.median ?? NaN;
  const isRate = result.unit.endsWith("/s");
  return {
    label: result.benchmark,
    bars: result.series.filter(({ peer, median }) => peer !== baseName && Number.isFinite(median))
      .map(({ peer, median }) => ({ peer, value: isRate ? base / median : median / base })),
  };
}

function markdown(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => "---"), ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line, index) =>
    `| ${
      line.map((cell, column) =>
        index === 1 ? "-".repeat(widths[column] ?? 3) : cell.padEnd(widths[column] ?? 0)
      )
        .join(" | ")
    } |`
  ).join("\n");
}

function amount(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
