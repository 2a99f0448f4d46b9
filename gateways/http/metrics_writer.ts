/** Writes the text exposition format of metrics, version 0.0.4. */

/** A family with a sample for each of several subjects; null: none for this one. */
export type Family<S> = readonly [
  name: string,
  type: "counter" | "gauge",
  help: string,
  value: (subject: S) => number | null,
];

/** Puts the lines together. */
export class MetricsWriter {
  #text = "";

  family(name: string, type: "counter" | "gauge" | "histogram", help: string): void {
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  }

  sample(name: string, value: number, labels = ""): void {
    this.#text += `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`;
  }

  /** A family with one sample. */
  single(name: string, type: "counter" | "gauge", help: string, value: number, labels = ""): void {
    this.family(name, type, help);
    this.sample(name, value, labels);
  }

  /** Families whose names begin alike; a sample is labelled with its subject. */
  each<S>(
    beginning: string,
    families: readonly Family<S>[],
    subjects: readonly S[],
    labels: (subject: S) => string,
  ): void {
    for (const [suffix, type, help, value] of families) {
      this.family(beginning + suffix, type, help);
      for (const subject of subjects) {
        const sample = value(subject);
        if (sample !== null) this.sample(beginning + suffix, sample, labels(subject));
      }
    }
  }

  finish(): string {
    return this.#text;
  }
}
