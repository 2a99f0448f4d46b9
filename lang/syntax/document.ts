/**
 * A document of text and places where it may break, and the printer that chooses the breaks for a width.
 *
 * After Wadler, "A prettier printer" (2003): a group is printed on one line when it fits, else all its own lines
 * break. A choice prints the first of its layouts whose first line fits. Whether something must break is known when
 * it is made, so printing is linear but for looking ahead by at most one line.
 */

/** A document. */
export type Document = string | DocumentNode;

const CONCATENATION = 0;
const GROUP = 1;
const INDENT = 2;
const LINE = 3;
const IF_BROKEN = 4;
const CHOICE = 5;
const SUFFIX = 6;
const FRESH_LINE = 7;
const LITERAL = 8;

const INDENTATION = "  ";

class DocumentNode {
  readonly kind: number;
  readonly parts: readonly Document[];
  /** Of a line what it is when it does not break, of a suffix or literal the text. */
  readonly text: string;
  /** Whether it has to break somewhere. */
  readonly breaks: boolean;

  constructor(kind: number, parts: readonly Document[], text: string, breaks: boolean) {
    this.kind = kind;
    this.parts = parts;
    this.text = text;
    this.breaks = breaks;
  }
}

/** Whether a document has to break somewhere. */
export function mustBreak(document: Document): boolean {
  return typeof document !== "string" && document.breaks;
}

/** One after the other. */
export function concatenation(...parts: readonly Document[]): Document {
  return new DocumentNode(CONCATENATION, parts, "", parts.some(mustBreak));
}

/** The same for a list that may be too long for arguments. */
export function sequence(parts: readonly Document[]): Document {
  return new DocumentNode(CONCATENATION, parts, "", parts.some(mustBreak));
}

/** On one line if it fits, else with all its lines broken. */
export function group(...parts: readonly Document[]): Document {
  return new DocumentNode(GROUP, parts, "", parts.some(mustBreak));
}

/** A group that is broken. */
export function brokenGroup(...parts: readonly Document[]): Document {
  return new DocumentNode(GROUP, parts, "", true);
}

/** The document with its last group broken. */
export function withLastBroken(document: Document): Document {
  if (typeof document === "string") return document;
  if (document.kind === GROUP) return new DocumentNode(GROUP, document.parts, "", true);
  if (document.kind !== CONCATENATION) return document;
  const last = document.parts.findLastIndex((part) => part !== "");
  const part = document.parts[last];
  return part === undefined
    ? document
    : concatenation(...document.parts.slice(0, last), withLastBroken(part));
}

/** Lines in it are indented once more. */
export function indent(...parts: readonly Document[]): Document {
  return new DocumentNode(INDENT, parts, "", parts.some(mustBreak));
}

/** A space, or a new line. */
export const line: Document = new DocumentNode(LINE, [], " ", false);

/** Nothing, or a new line. */
export const softLine: Document = new DocumentNode(LINE, [], "", false);

/** A new line. */
export const hardLine: Document = new DocumentNode(LINE, [], "", true);

/** One of two, by whether the group around it is broken. */
export function ifBroken(broken: Document, flat: Document): Document {
  return new DocumentNode(IF_BROKEN, [broken, flat], "", false);
}

/** The first of the layouts whose first line fits, else the last. */
export function choice(...layouts: readonly Document[]): Document {
  return new DocumentNode(CHOICE, layouts, "", mustBreak(layouts[0] ?? ""));
}

/** A comment that is printed at the end of its line, which has to end there. */
export function suffix(text: string): Document {
  return new DocumentNode(SUFFIX, [], text, true);
}

/** A new line unless one has just begun. */
export const freshLine: Document = new DocumentNode(FRESH_LINE, [], "", true);

/** Text with line breaks in it that stays as it is. */
export function literal(text: string): Document {
  return new DocumentNode(LITERAL, [], text, false);
}

interface Command {
  readonly depth: number;
  readonly isFlat: boolean;
  readonly document: Document;
}

/** The text of a document. */
export function print(document: Document, width: number): string {
  return new Printer(width).print(document);
}

class Printer {
  readonly #width: number;
  readonly #out: string[] = [];
  #column = 0;
  #isFresh = true;
  #suffixes = "";
  /** Whether a comment has been written that whatever follows would become a part of. */
  #endsInComment = false;
  readonly #commands: Command[] = [];

  constructor(width: number) {
    this.#width = width;
  }

  print(document: Document): string {
    this.#push(0, false, document);
    for (let command = this.#commands.pop(); command !== undefined; command = this.#commands.pop()) {
      this.#run(command);
    }
    this.#flush();
    return this.#out.join("");
  }

  #push(depth: number, isFlat: boolean, document: Document): void {
    this.#commands.push({ depth, isFlat, document });
  }

  #pushAll(depth: number, isFlat: boolean, parts: readonly Document[]): void {
    for (let index = parts.length - 1; index >= 0; index--) this.#push(depth, isFlat, parts[index] ?? "");
  }

  #run({ depth, isFlat, document }: Command): void {
    if (typeof document === "string") {
      this.#write(depth, document);
      return;
    }
    switch (document.kind) {
      case CONCATENATION:
        this.#pushAll(depth, isFlat, document.parts);
        break;
      case INDENT:
        this.#pushAll(depth + 1, isFlat, document.parts);
        break;
      case GROUP:
        this.#pushAll(depth, this.#isFlatGroup(depth, isFlat, document), document.parts);
        break;
      case CHOICE:
        this.#push(depth, true, this.#chosen(depth, document));
        break;
      case IF_BROKEN:
        this.#push(depth, isFlat, document.parts[isFlat ? 1 : 0] ?? "");
        break;
      case LINE:
        if (isFlat && !document.breaks) this.#write(depth, document.text);
        else this.#newLine();
        break;
      case SUFFIX:
        if (this.#suffixes === "") this.#suffixes = ` ${document.text}`;
        else {
          // Two comments on one line would be one: the second gets its own.
          this.#newLine();
          this.#write(depth, document.text);
          this.#endsInComment = true;
        }
        break;
      case FRESH_LINE:
        if (!this.#isFresh) this.#newLine();
        break;
      case LITERAL: {
        this.#write(depth, document.text);
        const last = document.text.lastIndexOf("\n");
        if (last >= 0) this.#column = document.text.length - last - 1;
        break;
      }
    }
  }

  #isFlatGroup(depth: number, isFlat: boolean, document: DocumentNode): boolean {
    if (document.breaks) return false;
    return isFlat || this.#fits({ depth, isFlat: true, document });
  }

  #chosen(depth: number, document: DocumentNode): Document {
    const last = document.parts.length - 1;
    for (let index = 0; index < last; index++) {
      const layout = document.parts[index] ?? "";
      if (this.#fits({ depth, isFlat: true, document: layout })) return layout;
    }
    return document.parts[last] ?? "";
  }

  #write(depth: number, text: string): void {
    if (text === "") return;
    if (this.#endsInComment) this.#newLine();
    if (this.#isFresh) {
      // Spaces at the start of a line are its indentation only.
      const written = text.trimStart() === "" ? "" : text;
      if (written === "") return;
      this.#out.push(INDENTATION.repeat(depth));
      this.#column = INDENTATION.length * depth;
      this.#isFresh = false;
    }
    this.#out.push(text);
    this.#column += text.length;
  }

  #flush(): void {
    if (!this.#isFresh) {
      while (this.#out.at(-1) === " ") this.#out.pop();
    }
    if (this.#suffixes === "") return;
    this.#out.push(this.#isFresh ? this.#suffixes.trimStart() : this.#suffixes);
    this.#suffixes = "";
  }

  #newLine(): void {
    this.#flush();
    this.#out.push("\n");
    this.#endsInComment = false;
    this.#column = 0;
    this.#isFresh = true;
  }

  /** Whether a document and what follows it fit on the line, up to the first break. */
  #fits(first: Command): boolean {
    let room = this.#width - (this.#isFresh ? INDENTATION.length * first.depth : this.#column);
    const commands: Command[] = [first];
    let next = this.#commands.length;
    while (room >= 0) {
      let command = commands.pop();
      if (command === undefined) {
        if (next === 0) return true;
        command = this.#commands[--next];
        if (command === undefined) return true;
      }
      const { depth, isFlat, document } = command;
      if (typeof document === "string") {
        room -= document.length;
        continue;
      }
      switch (document.kind) {
        case LINE:
          if (!isFlat || document.breaks) return true;
          room -= document.text.length;
          break;
        case FRESH_LINE:
        case SUFFIX:
          return true;
        case LITERAL: {
          const end = document.text.indexOf("\n");
          if (end >= 0) return room - end >= 0;
          room -= document.text.length;
          break;
        }
        case IF_BROKEN:
          commands.push({ depth, isFlat, document: document.parts[isFlat ? 1 : 0] ?? "" });
          break;
        case CHOICE:
          commands.push({ depth, isFlat: true, document: document.parts[0] ?? "" });
          break;
        default: {
          const mode = document.kind === GROUP ? !document.breaks && isFlat : isFlat;
          for (let index = document.parts.length - 1; index >= 0; index--) {
            commands.push({ depth, isFlat: mode, document: document.parts[index] ?? "" });
          }
        }
      }
    }
    return false;
  }
}
