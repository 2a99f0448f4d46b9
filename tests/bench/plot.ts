/**
 * Plots as SVG, readable on light and dark pages: colors follow the reader's scheme, text is text, nothing is loaded.
 */

/** One row of a bar plot. */
export interface BarRow {
  readonly label: string;
  readonly bars: readonly { readonly peer: string; readonly value: number }[];
}

/** One line of a plot of growth. */
export interface GrowthLine {
  readonly group: string;
  readonly peer: string;
  readonly unit: string;
  readonly points: readonly { readonly size: number; readonly cost: number }[];
}

const COLORS = ["#2f7fd1", "#d9822b", "#3a9d5d", "#b0559f", "#7d7f85"];
const WIDTH = 860;
const LABEL_WIDTH = 300;
const BAR_HEIGHT = 10;

const STYLE =
  "text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:14px}.a{stroke:#888;stroke-width:1}" +
  ".g{stroke:#888;stroke-opacity:.25;stroke-width:1}@media(prefers-color-scheme:dark){text{fill:#ddd}}";

/** Bars on a logarithmic axis around 1; to the left is less than the base. */
export function barPlot(title: string, rows: readonly BarRow[]): string {
  const peers = [...new Set(rows.flatMap(({ bars }) => bars.map(({ peer }) => peer)))];
  const values = rows.flatMap(({ bars }) => bars.map(({ value }) => value)).filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(0.1, ...values)));
  const high = Math.ceil(Math.log10(Math.max(10, ...values)));
  const x = (value: number) =>
    LABEL_WIDTH + (Math.log10(value) - low) / (high - low) * (WIDTH - LABEL_WIDTH - 20);
  const rowHeight = peers.length * BAR_HEIGHT + 8;
  const top = 52;
  const bottom = top + rows.length * rowHeight;
  const parts = [heading(title, peers)];
  for (let power = low; power <= high; power++) {
    const at = x(10 ** power);
    parts.push(
      line(power === 0 ? "a" : "g", [at, top], [at, bottom]),
      text(at, bottom + 14, factor(power), "middle"),
    );
  }
  rows.forEach(({ label, bars }, index) => {
    const y = top + index * rowHeight + 4;
    parts.push(text(LABEL_WIDTH - 8, y + rowHeight / 2 - 2, label, "end"));
    for (const { peer, value } of bars) {
      const place = peers.indexOf(peer);
      const [from, to] = [x(1), x(value)].sort((a, b) => a - b);
      parts.push(
        `<rect x="${round(from ?? 0)}" y="${round(y + place * BAR_HEIGHT)}" width="${
          round(Math.max(1, (to ?? 0) - (from ?? 0)))
        }" height="${BAR_HEIGHT - 1}" fill="${color(place)}"><title>${
          escape(`${label}, ${peer}: ${value.toPrecision(2)}`)
        }</title></rect>`,
      );
    }
  });
  return document(bottom + 24, title, parts);
}

/** Lines over size and cost, both axes logarithmic. */
export function growthPlot(title: string, lines: readonly GrowthLine[]): string {
  const peers = [...new Set(lines.map(({ peer }) => peer))];
  const sizes = lines.flatMap(({ points }) => points.map(({ size }) => size));
  const costs = lines.flatMap(({ points }) => points.map(({ cost }) => cost)).filter((cost) => cost > 0);
  const [left, right, top, bottom] = [70, WIDTH - 190, 52, 452];
  const scale = (values: readonly number[], from: number, to: number) => {
    const low = Math.log10(Math.min(...values));
    const high = Math.max(low + 1e-9, Math.log10(Math.max(...values)));
    return (value: number) => from + (Math.log10(value) - low) / (high - low) * (to - from);
  };
  const x = scale(sizes, left, right);
  const y = scale(costs, bottom, top);
  const parts = [
    heading(title, peers),
    line("a", [left, bottom], [right, bottom]),
    line("a", [left, top], [left, bottom]),
  ];
  for (const size of new Set(sizes)) {
    parts.push(text(x(size), bottom + 16, size.toLocaleString("en"), "middle"));
  }
  for (
    let power = Math.ceil(Math.log10(Math.min(...costs)));
    power <= Math.log10(Math.max(...costs));
    power++
  ) {
    parts.push(line("g", [left, y(10 ** power)], [right, y(10 ** power)]));
    parts.push(text(left - 6, y(10 ** power) + 4, factor(power), "end"));
  }
  for (const { group, peer, unit, points } of lines) {
    const shown = points.filter(({ cost }) => cost > 0);
    const place = shown.map(({ size, cost }) => `${round(x(size))},${round(y(cost))}`).join(" ");
    parts.push(
      `<polyline points="${place}" fill="none" stroke="${
        color(peers.indexOf(peer))
      }" stroke-width="1.5"><title>${escape(`${group}, ${peer} (${unit})`)}</title></polyline>`,
    );
    const last = shown.at(-1);
    if (last !== undefined && peer === peers[0]) {
      parts.push(text(x(last.size) + 6, y(last.cost) + 4, group, "start"));
    }
  }
  return document(bottom + 28, title, parts);
}

/** A value over time. */
export interface TimeLine {
  readonly name: string;
  readonly points: readonly { readonly time: number; readonly value: number }[];
}

/** Lines over seconds, both axes linear from zero on. */
export function timePlot(title: string, lines: readonly TimeLine[]): string {
  const points = lines.flatMap((each) => each.points).filter(({ value }) => Number.isFinite(value));
  const [left, right, top, bottom] = [50, WIDTH - 20, 64, 424];
  const longest = Math.max(1, ...points.map(({ time }) => time));
  const highest = Math.max(1, ...points.map(({ value }) => value));
  const x = (time: number) => left + time / longest * (right - left);
  const y = (value: number) => bottom - value / highest * (bottom - top);
  const parts = [`<text class="t" x="12" y="18">${escape(title)}</text>`];
  lines.forEach(({ name }, index) =>
    parts.push(...legendEntry(name, index, [left + index % 4 * 195, index]))
  );
  for (let step = 0; step <= 5; step++) {
    const value = highest * step / 5;
    parts.push(line(step === 0 ? "a" : "g", [left, y(value)], [right, y(value)]));
    parts.push(text(left - 6, y(value) + 4, value.toFixed(1), "end"));
    parts.push(text(x(longest * step / 5), bottom + 16, `${Math.round(longest * step / 5)} s`, "middle"));
  }
  lines.forEach(({ name, points }, index) => {
    const shown = points.filter(({ value }) => Number.isFinite(value));
    const place = shown.map(({ time, value }) => `${round(x(time))},${round(y(value))}`).join(" ");
    parts.push(
      `<polyline points="${place}" fill="none" stroke="${color(index)}" stroke-width="1.5"${
        index < COLORS.length ? "" : ' stroke-dasharray="5 3"'
      }><title>${escape(name)}</title></polyline>`,
    );
  });
  return document(bottom + 28, title, parts);
}

function legendEntry(name: string, index: number, [at, place]: readonly [number, number]): string[] {
  const y = 28 + Math.floor(place / 4) * 16;
  const mark = index < COLORS.length ? "" : ' fill-opacity="0.5"';
  return [
    `<rect x="${at}" y="${y}" width="10" height="10" fill="${color(index)}"${mark}/>`,
    text(at + 15, y + 9, name, "start"),
  ];
}

function heading(title: string, peers: readonly string[]): string {
  const legend = peers.map((peer, index) =>
    `<rect x="${LABEL_WIDTH + index * 120}" y="28" width="10" height="10" fill="${color(index)}"/>` +
    text(LABEL_WIDTH + index * 120 + 15, 37, peer, "start")
  );
  return `<text class="t" x="12" y="18">${escape(title)}</text>${legend.join("")}`;
}

function document(height: number, title: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${Math.ceil(height)}" role="img">\n` +
    `<title>${escape(title)}</title>\n<style>${STYLE}</style>\n${parts.join("\n")}\n</svg>\n`;
}

function line(name: string, from: readonly [number, number], to: readonly [number, number]): string {
  const [x1, y1, x2, y2] = [...from, ...to].map(round);
  return `<line class="${name}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

function text(x: number, y: number, content: string, anchor: "start" | "middle" | "end"): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escape(content)}</text>`;
}

function factor(power: number): string {
  return power >= 0 && power < 4
    ? `${10 ** power}`
    : power >= -3 && power < 0
    ? `${(10 ** power).toFixed(-power)}`
    : `1e${power}`;
}

function color(index: number): string {
  return COLORS[index % COLORS.length] ?? "#888888";
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    '"',
    "&quot;",
  );
}
