/**
 * The process that compiles AssemblyScript: `assemblyscript_compiler.ts FOLDER NAME…` writes `FOLDER/NAME.wasm` of
 * `programs/NAME.as`, with `-O3`. The package is imported by a name that only `assemblyscript.json` knows, so that
 * neither the type check nor the lock of the project needs it.
 */

/** What is used of the compiler's interface. */
interface Compiler {
  main(
    parameters: readonly string[],
    options: {
      readFile(name: string): string | null;
      writeFile(name: string, content: Uint8Array | string): void;
      listFiles(): readonly string[];
    },
  ): Promise<{ readonly error: Error | null; readonly stderr: { toString(): string } }>;
}

async function main([folder = ".", ...names]: readonly string[]): Promise<void> {
  const specifier = "assemblyscript/asc";
  const module = await import(specifier);
  const compiler: Compiler = module.default;
  for (const name of names) {
    const source = await Deno.readTextFile(new URL(`programs/${name}.as`, import.meta.url));
    const outputs = new Map<string, Uint8Array | string>();
    // The compiler looks for `.ts` only; on disk the sources are called otherwise, because they are no TypeScript.
    const { error, stderr } = await compiler.main([`${name}.ts`, "--outFile", `${name}.wasm`, "-O3"], {
      readFile: (file) => file === `${name}.ts` ? source : null,
      writeFile: (file, content) => void outputs.set(file, content),
      listFiles: () => [],
    });
    const bytes = outputs.get(`${name}.wasm`);
    if (error !== null || !(bytes instanceof Uint8Array)) {
      throw new Error(`Cannot compile ${name}.as: ${error?.message ?? "no module"}\n${stderr.toString()}`);
    }
    await Deno.writeFile(`${folder}/${name}.wasm`, bytes);
  }
}

await main(Deno.args);
