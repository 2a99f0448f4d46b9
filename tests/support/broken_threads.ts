/** Threads of the product that break when a test wants them to. */

/**
 * A module to be loaded before a program, whose threads then end with an error as soon as a file is in the folder that
 * is named after them: `shard-2`, `router-0`. It goes when it has been seen.
 */
export function brokenThreads(folder: string): string {
  return `
    const Real = globalThis.Worker;
    globalThis.Worker = class extends Real {
      constructor(url, options) {
        const file = ${JSON.stringify(folder)} + "/" + options.name.replace(" ", "-");
        Deno.writeTextFileSync(file + ".ts", \`
          import \${JSON.stringify(String(url))};
          setInterval(() => {
            let isThere = true;
            try { Deno.statSync(\${JSON.stringify(file)}); } catch { isThere = false; }
            if (!isThere) return;
            Deno.removeSync(\${JSON.stringify(file)});
            throw new Error("planted in a thread");
          }, 5);\`);
        super("file://" + file + ".ts", options);
      }
    };
  `;
}
