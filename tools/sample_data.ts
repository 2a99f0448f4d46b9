/**
 * `deno task sample [FOLDER]`: copies the data files of docs/tour.md into `./sample`, or into the folder given.
 *
 * They are files of the npm package `vega-datasets`, which the import map names and Deno keeps in its cache: airports
 * and the flights between them, films, and the weather of two cities. An existing file of the same name is replaced.
 */
import { projectRoot } from "./project.ts";

/** The files that are copied. */
export const SAMPLE_FILES: readonly string[] = [
  "airports.csv",
  "flights-airport.csv",
  "flights-5k.json",
  "movies.json",
  "weather.csv",
  "seattle-weather.csv",
];

/** Copies the files and returns how many bytes they have. */
export async function copySampleData(folder: string): Promise<number> {
  // Only what a program imports is fetched into Deno's cache; the module itself is not needed.
  await import("vega-datasets");
  const data = new URL("../data/", import.meta.resolve("vega-datasets"));
  await Deno.mkdir(folder, { recursive: true });
  let bytes = 0;
  for (const name of SAMPLE_FILES) {
    // Read and write, not copy: files of the cache may be read-only, and their copies are not to be.
    const content = await Deno.readFile(new URL(name, data));
    await Deno.writeFile(`${folder}/${name}`, content);
    bytes += content.length;
  }
  return bytes;
}

if (import.meta.main) {
  const folder = Deno.args[0] ?? `${projectRoot}/sample`;
  const bytes = await copySampleData(folder);
  console.log(
    `${SAMPLE_FILES.length} files, ${(bytes / 1e6).toFixed(1)} MB, in ${Deno.args[0] ?? "./sample"}`,
  );
}
