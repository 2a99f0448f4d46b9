/**
 * `deno task soak:mutants`: breaks the layers that decide answers, one small mistake at a time, and counts what the
 * tests notice.
 *
 * `--count N` mutants of all layers together (500), `--layer NAME`, `--seed N`, `--only ID` or text in an ID,
 * `--workers N`, `--results FILE` (one line of JSON for each mutant), `--survivors FILE` to try those again that
 * survived by an earlier file, `--skip FILE` for those that it has tried already, `--longest SECONDS` to leave out
 * tests that take longer, `--baseline FILE` to keep the tests' usual times, `--list` to show the mutants only. Exit
 * code 1 when fewer than 95 % were noticed or a planted bug was not.
 */
import { parseArgs } from "node:util";
import { projectRoot, sourceFiles } from "../../tools/project.ts";
import { equivalentMutants } from "./equivalent.ts";
import { layers } from "./layers.ts";
import { type Mutant, mutate, sameMutant } from "./mutants.ts";
import { plantedTrials } from "./planted.ts";
import { runTrials, type Trial, type TrialResult } from "./run_mutants.ts";
import { mutantsOfLayer, sampleOf } from "./sample.ts";

const WANTED_SHARE = 0.95;

const { values } = parseArgs({
  args: Deno.args.filter((arg) => arg !== "--"),
  options: {
    count: { type: "string", default: "500" },
    layer: { type: "string" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    workers: { type: "string", default: "1" },
    results: { type: "string" },
    survivors: { type: "string" },
    skip: { type: "string" },
    longest: { type: "string", default: "Infinity" },
    baseline: { type: "string" },
    list: { type: "boolean", default: false },
  },
});

interface Chosen {
  readonly trial: Trial;
  readonly mutant: Mutant | null;
}

function readResults(file: string): (TrialResult & Partial<Mutant>)[] {
  return Deno.readTextFileSync(file).split("\n").filter((line) => line !== "").map((line) =>
    JSON.parse(line)
  );
}

const paths = await sourceFiles(projectRoot);

function choose(): Chosen[] {
  const wanted = layers.filter(({ name }) => values.layer === undefined || values.layer === name);
  const count = Math.ceil(Number(values.count) / wanted.length);
  const options = { root: projectRoot, paths, seed: Number(values.seed), equivalent: equivalentMutants };
  const survivors = values.survivors === undefined
    ? null
    : readResults(values.survivors).filter(({ outcome }) => outcome === "survived");
  const skipped = values.skip === undefined ? [] : readResults(values.skip);
  const isSame = (mutant: Mutant) => (result: TrialResult & Partial<Mutant>) =>
    result.file !== undefined && sameMutant(result as Mutant, mutant);
  const chosen = wanted.flatMap((layer) => {
    const drawn = values.only !== undefined || survivors !== null
      ? mutantsOfLayer(layer, projectRoot, paths).filter((mutant) =>
        survivors === null
          ? mutant.id.includes(values.only ?? "")
          : survivors.some(isSame(mutant)) && !equivalentMutants.some((each) => sameMutant(each, mutant))
      )
      : sampleOf(layer, { ...options, count });
    return drawn.filter((mutant) => !skipped.some(isSame(mutant))).map((mutant) => {
      const text = mutate(Deno.readTextFileSync(`${projectRoot}/${mutant.file}`), mutant);
      const files = new Map([[mutant.file, text]]);
      return { trial: { id: mutant.id, layer, file: mutant.file, files }, mutant };
    });
  });
  const planted = plantedTrials(projectRoot).filter(({ id, layer }) =>
    wanted.includes(layer) && survivors === null && (values.only === undefined || id.includes(values.only))
  ).map((trial) => ({ trial, mutant: null }));
  // The layers take turns, so that a run that is ended early has tried some of each.
  const turns = chosen.map((each) => ({
    each,
    turn: chosen.filter(({ trial }) => trial.layer === each.trial.layer).indexOf(each),
  }));
  return [...planted, ...turns.sort((a, b) => a.turn - b.turn).map(({ each }) => each)];
}

function show({ mutant, trial }: Chosen): string {
  if (mutant === null) return trial.id;
  return `${mutant.id}  ${JSON.stringify(mutant.before)} → ${
    JSON.stringify(mutant.after)
  }\n    ${mutant.text}`;
}

const chosen = choose();
if (values.list) {
  for (const each of chosen) console.log(show(each));
  Deno.exit(0);
}

const results = await runTrials(chosen.map(({ trial }) => trial), {
  root: projectRoot,
  paths,
  workers: Number(values.workers),
  longestMilliseconds: Number(values.longest) * 1000,
  ...(values.baseline === undefined ? {} : { baseline: values.baseline }),
  log: (line) => console.log(line),
  report: (result, done) => {
    const each = chosen.find(({ trial }) => trial.id === result.id);
    if (each === undefined) return;
    const how = result.outcome === "survived" ? "SURVIVED" : `${result.outcome} by ${result.by}`;
    console.log(`${done}/${chosen.length} ${show(each)}\n    ${how} (${result.seconds.toFixed(1)} s)`);
    if (values.results !== undefined) {
      const line = JSON.stringify({ ...each.mutant, ...result }) + "\n";
      Deno.writeTextFileSync(values.results, line, { append: true });
    }
  },
});

let isEnough = true;
for (const name of [...layers.map(({ name }) => name), "all"]) {
  const own = results.filter(({ layer }) => name === "all" || layer === name);
  if (own.length === 0) continue;
  const noticed = own.filter(({ outcome }) => outcome !== "survived").length;
  console.log(`${name}: ${noticed} of ${own.length} noticed (${(100 * noticed / own.length).toFixed(1)} %)`);
  if (name === "all" && noticed < WANTED_SHARE * own.length) isEnough = false;
}
for (const { id, outcome } of results) {
  if (outcome !== "survived") continue;
  console.log(`survived: ${id}`);
  if (id.startsWith("planted: ")) isEnough = false;
}
Deno.exit(isEnough ? 0 : 1);
