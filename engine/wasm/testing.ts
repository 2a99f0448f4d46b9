/** WebAssembly's text format to modules, for tests. */
import loadWabt from "wabt";

/** Proposals that are on: those that modules may use, and those whose refusal is tested. */
const FEATURES = {
  mutable_globals: true,
  sat_float_to_int: true,
  sign_extension: true,
  multi_value: true,
  bulk_memory: true,
  simd: true,
  threads: true,
  exceptions: true,
  reference_types: true,
  tail_call: true,
  memory64: true,
  multi_memory: true,
  extended_const: true,
};

const wabt = await loadWabt();

/** The bytes of a module that is written as text. It is not validated. */
export function assemble(text: string): Uint8Array<ArrayBuffer> {
  const module = wabt.parseWat("module.wat", new TextEncoder().encode(text), FEATURES);
  try {
    return new Uint8Array(module.toBinary({}).buffer);
  } finally {
    module.destroy();
  }
}
