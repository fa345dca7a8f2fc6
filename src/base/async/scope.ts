/** Registers how to release something that was opened, for when the work is over. */
export type Defer = (release: () => unknown) => void;

/**
 * Does work that opens things, and releases them afterwards, the last one first, whether the work succeeded or not. A failed
 * release does not stop the others. The first error is thrown: that of the work, if it failed.
 */
export async function withScope<Result>(work: (defer: Defer) => Promise<Result>): Promise<Result> {
  const releases: (() => unknown)[] = [];
  const errors: unknown[] = [];
  const attempt = async <Value>(step: () => Value): Promise<Awaited<Value> | undefined> => {
    try {
      return await step();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const result = await attempt(() => work((release) => releases.push(release)));
  for (let release = releases.pop(); release !== undefined; release = releases.pop()) await attempt(release);
  if (errors.length > 0) throw errors[0];
  return result as Result;
}
