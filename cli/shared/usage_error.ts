/** How a program was called is wrong: its message is one line for who called it, and the exit code is 2. */
export class UsageError extends Error {}
