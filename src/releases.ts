/** Registers what is to be done, when the work is over, with something that was opened for it. */
export type AtEnd = (release: () => unknown) => void;

/**
 * Does work that opens things, and releases them afterwards, the last one first, whatever became of the work. A release
 * that fails keeps no other from being done. The first error is thrown: that of the work, if it has failed.
 */
export async function withReleases<Result>(work: (atEnd: AtEnd) => Promise<Result>): Promise<Result> {
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
