/** Writes the text exposition format of metrics, version 0.0.4. */

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

  finish(): string {
    return this.#text;
  }
}
