/** The program could not start; exit code 1. */
export class StartError extends Error {}
