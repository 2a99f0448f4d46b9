/** The pages name files, link to pages and to headings that exist; `docs/execution.md` shows what the engine prints. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { checksInput, setChecksInput } from "../../engine/base/assert.ts";
import { open } from "../../mod.ts";
import { projectRoot, sourceFiles } from "../../tools/project.ts";
import { BROKEN_MEMBERS } from "../simulation/cluster/broken_members.ts";
import { BROKEN_PROTOCOLS } from "../simulation/cluster/broken_protocols.ts";
import { BROKEN_SHARDS } from "../simulation/shards/broken_shards.ts";

const files = await sourceFiles(projectRoot);
const known = new Set(files.flatMap((path) => {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}));
/** The changelog tells of files that were; the roadmap of files to come. */
const pages = files.filter((path) =>
  /^([A-Z]+|docs\/(adr\/)?[\w-]+)\.md$/.test(path) && path !== "CHANGELOG.md" && path !== "docs/roadmap.md"
);

function read(path: string): string {
  return Deno.readTextFileSync(`${projectRoot}/${path}`);
}

function withoutBlocks(page: string): string {
  return page.replaceAll(/^```[^]*?^```$/gm, "");
}

Deno.test("pages: every path of the tree that a page names exists", () => {
  const missing = pages.flatMap((page) =>
    [
      ...withoutBlocks(read(page)).matchAll(
        /`((?:engine|lang|gateways|registry|cli|tools|tests|editors|docs)\/[\w./-]+)`/g,
      ),
    ]
      .map(([, path = ""]) => path.replace(/\/$/, ""))
      .filter((path) => !known.has(path))
      .map((path) => `${page}: ${path}`)
  );
  deepStrictEqual(missing, []);
});

Deno.test("pages: every source file that a page names alone, without its folder, exists", () => {
  const names = new Set(files.map((path) => path.split("/").at(-1)));
  const missing = pages.flatMap((page) =>
    [...withoutBlocks(read(page)).matchAll(/`(\w+\.ts)`/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !names.has(name) && !["_test.ts", "x_test.ts"].includes(name))
      .map((name) => `${page}: ${name}`)
  );
  deepStrictEqual(missing, []);
});

/** The anchor of a heading, as the hosting service makes it. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(
    /[^\p{L}\p{N}\s_-]/gu,
    "",
  )
    .trim().replaceAll(" ", "-");
}

Deno.test("pages: every link inside of the project has a target", () => {
  const missing = pages.flatMap((page) =>
    [...withoutBlocks(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link)
      .filter((link) => !/^\w+:/.test(link))
      .filter((link) => {
        const [target = "", anchor] = link.split("#");
        const path = target === ""
          ? page
          : new URL(target, `file:///${page}`).pathname.slice(1).replace(/\/$/, "");
        if (!known.has(path)) return true;
        if (anchor === undefined) return false;
        const headings = [...withoutBlocks(read(path)).matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) =>
          anchorOf(text)
        );
        return !headings.includes(anchor);
      })
      .map((link) => `${page}: ${link}`)
  );
  deepStrictEqual(missing, []);
});

Deno.test("pages: the README, contributing or architecture page links to every other page", () => {
  const linked = ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/adr/README.md"].map(read)
    .join("\n");
  const orphans = pages.filter((page) => !linked.includes(page.split("/").at(-1) ?? page));
  deepStrictEqual(orphans, []);
});

Deno.test("docs/architecture.md: it has at most 200 lines", () => {
  ok(read("docs/architecture.md").split("\n").length <= 201);
});

Deno.test("docs/testing.md: what is broken on purpose is listed with the seeds that catch it", () => {
  const lists = { protocol: BROKEN_PROTOCOLS, whole: BROKEN_MEMBERS, shards: BROKEN_SHARDS };
  const rows = Object.entries(lists).flatMap(([simulation, builds]) =>
    builds.map(({ name, seed }) => `${name} | ${simulation}, ${seed}`)
  );
  const listed = [
    ...read("docs/testing.md").matchAll(/^\|[ \d]*\| (.*?) *\| ((?:protocol|whole|shards), [\d ]+)\|$/gm),
  ]
    .map(([, name, seed = ""]) => `${name} | ${seed.trim().replaceAll(/(?<=\d) /g, "")}`);
  deepStrictEqual(listed.sort(), rows.sort());
});

Deno.test("docs/execution.md: the plans and the code are what the engine prints", async () => {
  // Tests run with assertions in the generated code; the page shows the code without them.
  const checked = checksInput();
  setChecksInput(false);
  using _ = { [Symbol.dispose]: () => setChecksInput(checked) };
  // What is in memory has no files to spill to.
  const folder = await Deno.makeTempDir();
  using __ = { [Symbol.dispose]: () => Deno.removeSync(folder, { recursive: true }) };
  await using database = await open(folder);
  const blocks = [
    ...read("docs/execution.md").matchAll(/^```sql ?(\w*)\n([^]*?)^```$(?:\s*^```text\n([^]*?)^```$)?/gm),
  ];
  strictEqual(blocks.length, 5);
  for (const [, kind, text = "", expected = ""] of blocks) {
    for (const statement of text.split(/;\n/).filter((each) => each.trim() !== "")) {
      const rows = await database.query(statement);
      if (kind === "explain") {
        strictEqual(rows.map((row) => `${Object.values(row)[0]}\n`).join(""), expected, statement);
      }
    }
  }
});

Deno.test("docs/compiler.md: the intermediate representation is what the compiler prints", async () => {
  const page = read("docs/compiler.md");
  const block = (kind: string) => new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "";
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/even.lang`, block("lang even"));
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", `${projectRoot}/cli/lang.ts`, "build", "even.lang", "--emit", "ir"],
      cwd: folder,
      stdin: "null",
    }).output();
    ok(success, new TextDecoder().decode(stderr));
    strictEqual((await Deno.readTextFile(`${folder}/even.ir`)).trimEnd(), block("text ir").trimEnd());
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
