import type { RunFacts } from './run-facts.ts';

/** A daemon without Redis does one run after the other: a submitted run does not need another daemon, but waits for the run before it. */
export function behindDaemon<Run extends Pick<RunFacts, 'id' | 'ended' | 'local' | 'coordinator' | 'wait'>>(
  runs: readonly Run[],
  daemon: { readonly host: string; readonly pid: number } | undefined,
): readonly Run[] {
  const current = runs.find(
    ({ ended, local, coordinator }) =>
      !ended &&
      local?.isShared === false &&
      coordinator?.host === daemon?.host &&
      coordinator?.pid === daemon?.pid,
  );
  if (daemon === undefined || current === undefined) return runs;
  const wait = { of: 'run', text: `until the daemon has finished ${current.id}` } as const;
  return runs.map((run) =>
    run.wait?.of === 'daemon' && run.local?.isShared === false ? { ...run, wait } : run,
  );
}
