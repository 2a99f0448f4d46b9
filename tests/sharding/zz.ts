import { equalScript } from "./equal_script.ts";
import { scriptAnswers } from "./script_answers.ts";
const [from, to] = Deno.args.map(Number);
for (let seed = from!; seed < to!; seed++) {
  const steps = equalScript(seed, 150, { moves: true });
  const alone = await scriptAnswers(1, steps);
  for (const k of [2, 4]) {
    const r = await scriptAnswers(k, steps);
    const i = r.findIndex((x, j) => x !== alone[j]);
    if (i >= 0) {
      console.log(
        "SEED",
        seed,
        "K",
        k,
        "AT",
        i,
        r[i],
        "\nEXPECTED",
        alone[i],
        "\n",
        steps.slice(0, i).filter((s) => /SHARD|RESET/.test(s.sql)).map((s) => s.sql).join("\n"),
      );
    }
  }
}
console.log("done", from, to);
