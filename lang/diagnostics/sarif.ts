/** Diagnostics as SARIF 2.1.0 (OASIS), which code hosts and editors read. */
import { findCodePage } from "./codes/registry.ts";
import type { Diagnostic, Edit, Location } from "./diagnostic.ts";

const LEVELS = { error: "error", warning: "warning", info: "note" } as const;

/** A SARIF log of one run. */
export function reportToSarif(diagnostics: readonly Diagnostic[], toolVersion: string): object {
  const codes = [...new Set(diagnostics.map((diagnostic) => diagnostic.code))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: {
        driver: {
          name: "lang",
          version: toolVersion,
          rules: codes.map((code) =>
            rule(code, diagnostics.find((each) => each.code === code)?.title ?? code)
          ),
        },
      },
      columnKind: "unicodeCodePoints",
      results: diagnostics.map((diagnostic) => result(diagnostic, codes.indexOf(diagnostic.code))),
    }],
  };
}

function rule(code: string, title: string): object {
  const page = findCodePage(code);
  return {
    id: code,
    shortDescription: { text: title },
    ...(page === undefined ? {} : {
      fullDescription: { text: page.explanation },
      help: { text: `lang explain ${code}` },
    }),
  };
}

function result(diagnostic: Diagnostic, ruleIndex: number): object {
  const { code, severity, message, hint, labels, fixes } = diagnostic;
  return {
    ruleId: code,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: hint === undefined ? message : `${message}\n${hint}` },
    locations: [{ physicalLocation: physicalLocation(diagnostic) }],
    ...(labels.length === 0 ? {} : {
      relatedLocations: labels.map((label, index) => ({
        id: index,
        physicalLocation: physicalLocation(label),
        message: { text: label.message },
      })),
    }),
    ...(fixes.length === 0 ? {} : {
      fixes: fixes.map((fix) => ({
        description: { text: fix.title },
        artifactChanges: changes(fix.edits),
      })),
    }),
  };
}

function changes(edits: readonly Edit[]): object[] {
  const paths = [...new Set(edits.map((edit) => edit.file.path))];
  return paths.map((path) => ({
    artifactLocation: { uri: uri(path) },
    replacements: edits.filter((edit) => edit.file.path === path).map((edit) => ({
      deletedRegion: region(edit),
      insertedContent: { text: edit.text },
    })),
  }));
}

function physicalLocation(location: Location): object {
  return { artifactLocation: { uri: uri(location.file.path) }, region: region(location) };
}

function region({ file, span }: Location): object {
  const start = file.positionOf(span);
  const end = file.positionOf({ start: span.end, end: span.end });
  return {
    startLine: start.line,
    startColumn: start.column,
    endLine: end.line,
    endColumn: end.column,
    byteOffset: start.byteStart,
    byteLength: start.byteEnd - start.byteStart,
  };
}

function uri(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
