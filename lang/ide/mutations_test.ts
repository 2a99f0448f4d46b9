/** Look-ups in mutated sources: they never fail, and what they give lies within the texts. */
import { strict as assert } from "node:assert";
import { newPackageFiles } from "../package/new_package.ts";
import type { Span } from "../source/source_file.ts";
import { SymbolLookups } from "./lookups.ts";

const PIECES = [
  "(",
  ")",
  "{",
  "}",
  "[",
  ".",
  ",",
  '"',
  "fn ",
  "match ",
  "=>",
  "use ",
  "let ",
  "Ball",
  "😀",
  "\r\n",
  "///",
  "..",
  "&",
  "|",
  '"""',
  "self.",
];
const ROUNDS = 24;

function within({ start, end }: Span, text: string, what: string): void {
  assert.ok(0 <= start && start <= end && end <= text.length, `${what} ${start} to ${end} of ${text.length}`);
}

Deno.test("look-ups in mutated sources of Pong give places within the texts", () => {
  let seed = 7;
  const choose = (count: number): number => {
    // Numerical Recipes' generator: what it gives is the same everywhere.
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(seed / 2 ** 32 * count);
  };
  const sources = new Map([...newPackageFiles("pong", "game")].filter(([path]) => path.endsWith(".lang")));
  const lookups = new SymbolLookups();
  let texts = sources;
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 6 === 0) texts = sources;
    const path = [...texts.keys()][choose(texts.size)] ?? "";
    let text = texts.get(path) ?? "";
    const at = choose(text.length);
    text = text.slice(0, at) + (PIECES[choose(PIECES.length)] ?? "") + text.slice(at + choose(20));
    texts = new Map(texts).set(path, text);
    const service = lookups.of(texts);
    const place = { path, offset: choose(text.length + 1) };
    let last = 0;
    for (const { span } of service.semanticNames(path)) {
      within(span, text, "a name");
      assert.ok(last <= span.start, `names overlap at ${span.start}`);
      last = span.end;
    }
    const hover = service.hover(place);
    if (hover !== null) within(hover.span, text, "hover");
    const found = [
      ...service.definitions(place),
      ...service.typeDefinitions(place),
      ...service.references(place)?.references ?? [],
      ...service.symbols(),
    ];
    for (const { file, span } of found) within(span, file.text, "a place");
    for (const { offset } of service.inlayTypes(path)) within({ start: offset, end: offset }, text, "a type");
    const { span, items } = service.complete(place);
    within(span, text, "completion");
    for (const { edits } of items) for (const edit of edits) within(edit.span, text, "an import");
    service.signatureHelp(place);
    const outcome = service.rename(place, "other_name");
    if (outcome.kind === "edits") {
      for (const { file, span } of outcome.edits) within(span, file.text, "an edit");
    }
  }
});
