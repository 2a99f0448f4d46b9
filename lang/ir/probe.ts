/**
 * Probes: the host is told when functions begin and end, so that it can tell what each costs.
 *
 * Put in behind everything else, gas included, so that probes themselves cost none and change nothing that is
 * measured. What was inlined is no function any more and has no probe.
 */
import { get, i32, type IrFunction, type IrModule, newFunction, newLocal, type Statement } from "./node.ts";

/** The import's module; `enter(index)` and `leave(index)`. */
export const PROBE_MODULE = "lang:test/gas@1.0.0";

/** A module whose functions tell of themselves, and those that do, by their index. */
export interface ProbedModule {
  readonly module: IrModule;
  readonly functions: readonly IrFunction[];
}

/** Puts probes into functions of a module. */
export function addProbes(module: IrModule, isWanted: (target: IrFunction) => boolean): ProbedModule {
  const [enter, leave] = ["enter", "leave"].map(probeImport);
  if (enter === undefined || leave === undefined) throw new Error("Cannot add probes: there are no imports");
  const probed = module.functions.filter((target) => target.body !== null && isWanted(target));
  const inner = probed.map((target, index) => wrap(target, index, { enter, leave }));
  return {
    module: {
      ...module,
      imports: [...module.imports, enter, leave],
      functions: [...module.functions, ...inner],
    },
    functions: probed,
  };
}

function probeImport(name: string): IrFunction {
  const made = newFunction(name, {
    imported: { module: PROBE_MODULE, name, parameters: ["s32"], result: null },
  });
  made.parameters.push(newLocal(made, { name: "index", type: "i32" }));
  return made;
}

/** Moves the body of a function into another one, which it calls between the probes. */
function wrap(
  target: IrFunction,
  index: number,
  { enter, leave }: { readonly enter: IrFunction; readonly leave: IrFunction },
): IrFunction {
  const inner = newFunction(`${target.name}.measured`, { place: target.place, isRaw: target.isRaw });
  inner.parameters = target.parameters;
  inner.locals = target.locals;
  inner.results = target.results;
  inner.body = target.body;
  target.locals = [];
  target.parameters = inner.parameters.map(({ name, type }) => newLocal(target, { name, type }));
  const results = inner.results.map(({ type }) => newLocal(target, { name: "result", type }));
  const call = { kind: "call" as const, function: inner, args: target.parameters.map(get) };
  const [only] = results;
  const tell = (probe: IrFunction): Statement => ({
    kind: "call",
    call: { kind: "call", function: probe, args: [i32(index)] },
  });
  const work: Statement = only === undefined
    ? { kind: "call", call }
    : results.length === 1
    ? { kind: "set", local: only, value: call }
    : { kind: "multi", locals: results, call };
  target.body = [tell(enter), work, tell(leave), { kind: "return", values: results.map(get) }];
  return inner;
}
