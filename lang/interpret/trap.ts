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

/** An `expect` or `expect_snapshot` that does not hold. */
export class ExpectationTrap extends ProgramTrap {
  /** The two sides of a comparison as texts; of a snapshot what is there and what was written. */
  readonly sides: { readonly left: string; readonly operator: string; readonly right: string } | null;
  /** Where the text of the snapshot stands, for `--update`. */
  readonly snapshotSpan: Span | null;

  constructor(
    site: Site,
    message: string,
    sides: ExpectationTrap["sides"],
    snapshotSpan: Span | null = null,
  ) {
    super("expect", site, message);
    this.name = "ExpectationTrap";
    this.sides = sides;
    this.snapshotSpan = snapshotSpan;
  }
}
