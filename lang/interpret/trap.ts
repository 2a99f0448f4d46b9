/**
 * How a program ends before its end, with the place in its source and the calls that led there.
 */
import type { SourceFile, Span } from "../source/source_file.ts";
import type { TrapKind } from "../typed/trap.ts";

/** A place in a source. */
export interface Site {
  readonly file: SourceFile;
  readonly span: Span;
}

/** The end of a program that went wrong. */
export class ProgramTrap extends Error {
  readonly kind: TrapKind;
  readonly site: Site;
  /** Sites of the calls around it, the innermost first. */
  readonly calls: Site[] = [];

  constructor(kind: TrapKind, site: Site, message: string) {
    super(message);
    this.name = "ProgramTrap";
    this.kind = kind;
    this.site = site;
  }
}
