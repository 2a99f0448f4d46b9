/**
 * Loaded before every test file (`deno test --preload`): scans and generated code assert, value by value, what they
 * assume of their input, so that a test that never looks at the right place still notices a broken assumption.
 */
import { setChecksInput } from "../engine/base/assert.ts";

setChecksInput(true);
