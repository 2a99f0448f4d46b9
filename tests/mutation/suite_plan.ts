/** What the runner and the process that tries a tree say to each other. */

/** A test to be run; null runs all tests of the module. */
export interface PlannedTest {
  readonly module: string;
  readonly name: string | null;
}

/** A line of the process's output. */
export type TestLine =
  | { readonly kind: "begin"; readonly module: string; readonly name: string }
  | { readonly kind: "end"; readonly module: string; readonly name: string; readonly milliseconds: number }
  | { readonly kind: "failure"; readonly module: string; readonly name: string; readonly message: string };
