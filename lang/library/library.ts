/**
 * The modules of the library: texts in the language, in the order in which they may be checked.
 *
 * Those of the prelude form one group: each sees the types, variants, interfaces and functions of all without `use`,
 * and may `use` the others for what is named behind a module's name (`raw.list_get`), also where that goes in
 * circles. Every other module sees what the prelude exports and uses what stands before it. Nothing here parses or
 * checks; whoever needs a module takes its text.
 */
import { SourceFile } from "../source/source_file.ts";
import audio from "./modules/audio.lang" with { type: "text" };
import bool from "./modules/bool.lang" with { type: "text" };
import bytes from "./modules/bytes.lang" with { type: "text" };
import canvas from "./modules/canvas.lang" with { type: "text" };
import char from "./modules/char.lang" with { type: "text" };
import decimal from "./modules/decimal.lang" with { type: "text" };
import f32 from "./modules/f32.lang" with { type: "text" };
import float from "./modules/float.lang" with { type: "text" };
import generate from "./modules/generate.lang" with { type: "text" };
import input from "./modules/input.lang" with { type: "text" };
import int from "./modules/int.lang" with { type: "text" };
import int64 from "./modules/int64.lang" with { type: "text" };
import json from "./modules/json.lang" with { type: "text" };
import list from "./modules/list.lang" with { type: "text" };
import log from "./modules/log.lang" with { type: "text" };
import map from "./modules/map.lang" with { type: "text" };
import math from "./modules/math.lang" with { type: "text" };
import option from "./modules/option.lang" with { type: "text" };
import order from "./modules/order.lang" with { type: "text" };
import pool from "./modules/pool.lang" with { type: "text" };
import prelude from "./modules/prelude.lang" with { type: "text" };
import process from "./modules/process.lang" with { type: "text" };
import random from "./modules/random.lang" with { type: "text" };
import range from "./modules/range.lang" with { type: "text" };
import raw from "./modules/raw.lang" with { type: "text" };
import result from "./modules/result.lang" with { type: "text" };
import set from "./modules/set.lang" with { type: "text" };
import storage from "./modules/storage.lang" with { type: "text" };
import string from "./modules/string.lang" with { type: "text" };
import time from "./modules/time.lang" with { type: "text" };

/** One module of the library. */
export interface LibraryModule {
  /** As in `use`: `std.math`, `web.canvas`. */
  readonly name: string;
  readonly file: SourceFile;
  /** Whether it belongs to the group that is in scope everywhere. */
  readonly isPrelude: boolean;
  /** Whether only modules of the library may `use` it. */
  readonly isInternal: boolean;
}

function libraryModule(
  name: string,
  text: string,
  options: { isPrelude?: boolean; isInternal?: boolean } = {},
): LibraryModule {
  return {
    name,
    file: new SourceFile(`${name.replace(".", ":")}`, text),
    isPrelude: options.isPrelude ?? false,
    isInternal: options.isInternal ?? false,
  };
}

const inPrelude = { isPrelude: true };

/** All modules: the prelude's first, then those that are imported, each behind what it uses. */
export const LIBRARY_MODULES: readonly LibraryModule[] = [
  libraryModule("std.raw", raw, { isPrelude: true, isInternal: true }),
  libraryModule("std.decimal", decimal, { isPrelude: true, isInternal: true }),
  libraryModule("std.prelude", prelude, inPrelude),
  libraryModule("std.bool", bool, inPrelude),
  libraryModule("std.int", int, inPrelude),
  libraryModule("std.int64", int64, inPrelude),
  libraryModule("std.float", float, inPrelude),
  libraryModule("std.f32", f32, inPrelude),
  libraryModule("std.char", char, inPrelude),
  libraryModule("std.string", string, inPrelude),
  libraryModule("std.bytes", bytes, inPrelude),
  libraryModule("std.order", order, inPrelude),
  libraryModule("std.option", option, inPrelude),
  libraryModule("std.result", result, inPrelude),
  libraryModule("std.range", range, inPrelude),
  libraryModule("std.list", list, inPrelude),
  libraryModule("std.map", map, inPrelude),
  libraryModule("std.set", set, inPrelude),
  libraryModule("std.pool", pool, inPrelude),
  libraryModule("std.log", log),
  libraryModule("std.math", math),
  libraryModule("std.random", random),
  libraryModule("std.json", json),
  libraryModule("std.time", time),
  libraryModule("std.generate", generate, { isInternal: true }),
  libraryModule("host.process", process),
  libraryModule("web.canvas", canvas),
  libraryModule("web.input", input),
  libraryModule("web.audio", audio),
  libraryModule("web.storage", storage),
];

const byName = new Map(LIBRARY_MODULES.map((module) => [module.name, module]));

/** The module of this name, or null. */
export function libraryModuleNamed(name: string): LibraryModule | null {
  return byName.get(name) ?? null;
}
