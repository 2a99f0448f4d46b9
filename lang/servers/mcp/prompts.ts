/**
 * Prompts that a person picks: each tells a model how work on a package goes, with what it has to read.
 */
import { libraryModuleNamed } from "../../library/library.ts";
import { libraryModuleReference } from "../../library/reference.ts";
import { languageReference } from "./language_reference.ts";

/** An argument that a person fills in. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Longest text that is taken. */
  readonly maximumLength: number;
}

/** A part of a prompt: words, or a resource that is handed over whole. */
export type PromptPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "resource"; readonly uri: string; readonly mimeType: string; readonly text: string };

/** What a prompt may ask of the package. */
export interface PromptEnvironment {
  /** What `check` says of the package, as a text; null where there is no package yet. */
  readonly check: () => Promise<string | null>;
}

/** One prompt. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly parts: (
    values: ReadonlyMap<string, string>,
    environment: PromptEnvironment,
  ) => readonly PromptPart[] | Promise<readonly PromptPart[]>;
}

const HABITS = `How to work here:
- \`check\` after every change; it reports all errors of the package at once, in a few milliseconds. Unsaved texts can be tried by \`files\`.
- A diagnostic names its position, what was expected, and often \`fixes\`. \`fix\` previews one as a diff; with \`write\` it changes the file. Prefer fixes that are \`safe\`.
- \`explain\` has a page for every code, with a wrong program and right ones. \`lang://library/{module}\` has the signatures of the library; do not guess names.
- \`test\` runs the tests. Put logic into functions without effects, and next to them a \`test "…" { … }\`.
- Files are written with the tools that you have for files. Without such tools, try whole texts by \`files\`, and hand the finished sources over.
- \`fmt\` at the end. Done is when \`check\` has no error and \`test\` passes.`;

const fixPackage: Prompt = {
  name: "mend_package",
  title: "Fix this package",
  description: "Fixes all errors of the package one after the other, until it checks and its tests pass.",
  arguments: [{
    name: "goal",
    description: "What the package should do, where that is not plain from its sources",
    isRequired: false,
    maximumLength: 4_000,
  }],
  parts: async (values, environment) => {
    const goal = values.get("goal")?.trim() ?? "";
    const found = await environment.check();
    const parts = [
      "Fix this package: it must have no errors, and its tests must pass. Change no more than the errors require, and keep what the program is meant to do.",
      ...(goal === "" ? [] : [`What it is meant to do: ${goal}`]),
      HABITS,
      found === null
        ? "There is no package here yet: `lang new NAME` writes one."
        : `What \`check\` says now:\n\n${found.trimEnd()}`,
    ];
    return [{ kind: "text", text: parts.join("\n\n") }];
  },
};

const GAME = `A game is three functions in src/main.lang:
- \`pub fn init(seed: Int) -> State\` gives the first state; all that the game remembers is in it, and the same seed gives the same game.
- \`pub fn step(state: inout State, input: Input)\` is called 60 times a second; \`uses Audio\` when it makes sounds.
- \`pub fn draw(state: State) uses Draw\` draws one frame: \`canvas.size\`, \`canvas.clear\`, then shapes and texts.

Begin with the smallest thing that moves, check it, and grow it. Test what \`step\` does with \`Input.holding([…])\` and the state it leaves. Say how it is played on the first screen. \`lang serve --watch\` shows it in a browser.`;

const writeGame: Prompt = {
  name: "write_game",
  title: "Write a game",
  description:
    "Writes a small game for the browser in this package, with tests, from an idea in a sentence or two.",
  arguments: [{
    name: "idea",
    description: "What is played: the world, what the player does, how one wins or loses",
    isRequired: true,
    maximumLength: 4_000,
  }],
  parts: (values) => [
    {
      kind: "text",
      text: `Write this game: ${values.get("idea")?.trim() ?? ""}\n\n${GAME}\n\n${HABITS}`,
    },
    { kind: "resource", uri: "lang://language", mimeType: "text/markdown", text: languageReference() },
    ...["web.canvas", "web.input", "web.audio"].flatMap((name): PromptPart[] => {
      const module = libraryModuleNamed(name);
      if (module === null) return [];
      const text = libraryModuleReference(module);
      return [{ kind: "resource", uri: `lang://library/${name}`, mimeType: "text/markdown", text }];
    }),
  ],
};

/** All prompts. */
export const PROMPTS: readonly Prompt[] = [fixPackage, writeGame];
