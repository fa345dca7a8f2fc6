/** What happened, and what to do about it, by the code of an error. */
export type CodeTable = Readonly<Record<string, readonly [what: string, remedy: string]>>;
