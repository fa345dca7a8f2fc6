/** Registers a cleanup that runs when the scope ends. */
export type Defer = (release: () => unknown) => void;

/** Runs work, then its cleanups, the latest first, even after failures. Throws the first error. */
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
