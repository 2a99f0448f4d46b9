/** Which part of a file has to be looked at when something is asked about a place in it. */
import { strict as assert } from "node:assert";
import { PackageView } from "./package_view.ts";
import { pieceAt } from "./piece.ts";

const PATH = "src/main.lang";
const OTHER = "src/other.lang";
const FIRST = `fn first(a: Int) -> Int {
  a + 1
}
`;
const SECOND = `fn second(b: Int) -> Int {
  first(b)
}
`;
const MAIN = `use other

type Kind = Small | Large

${FIRST}
/// Calls the other one.
${SECOND}
test "they agree" {
  expect(second(1) == 2)
}
`;

function viewOf(main: string): PackageView {
  const view = new PackageView();
  view.update(new Map([[PATH, main], [OTHER, "pub const one: Int = 1\n"]]));
  return view;
}

/** The piece at the marker of a text, when another text was analyzed before. */
function pieceIn(text: string, { before = MAIN, other = "pub const one: Int = 1\n" } = {}): string | null {
  const offset = text.indexOf("|>");
  assert.ok(offset >= 0, text);
  const texts = new Map([[PATH, text.replace("|>", "")], [OTHER, other]]);
  return pieceAt(viewOf(before), texts, { path: PATH, offset })?.parsed.module.file.text ?? null;
}

Deno.test("pieceAt() cuts out the declaration that is being written, without the documentation of the next", () => {
  assert.equal(pieceIn(MAIN.replace("a + 1", "a.|>")), `${FIRST.replace("a + 1", "a.")}\n`);
  assert.equal(
    pieceIn(MAIN.replace("first(b)", "let c = [b|>\n")),
    `${SECOND.replace("first(b)", "let c = [b\n")}\n`,
  );
  assert.equal(
    pieceIn(MAIN.replace("second(1)", "second(|>)")),
    MAIN.slice(MAIN.indexOf("test")).replace("(1)", "()"),
  );
  assert.equal(pieceIn(`${MAIN}\nfn third() {\n  |>\n}\n`), "fn third() {\n  \n}\n");
});

Deno.test("pieceAt() gives none when more than the piece has changed, or it was several declarations", () => {
  const edited = MAIN.replace("first(b)", "first(b|>)");
  assert.notEqual(pieceIn(edited), null);
  assert.equal(pieceIn(edited.replace("a + 1", "a + 2")), null);
  assert.equal(pieceIn(edited, { other: "pub const one: Int = 2\n" }), null);
  assert.equal(pieceIn(MAIN.replace(`${FIRST}\n`, "").replace("Calls", "Ca|>lls")), null);
  // A text over several lines only looks as if declarations stood in it.
  const long = MAIN.replace("  a + 1", '  let text = """\nfn inner\n"""\n  a + 1');
  assert.equal(pieceIn(long.replace("a + 1", "a + |>1"), { before: long }), null);
});
