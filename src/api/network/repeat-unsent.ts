import pRetry from 'p-retry';
import type { Ending } from './exchange.ts';
import { lostFailure } from './network-failure.ts';
import type { Stop } from './stop.ts';

class NotSent extends Error {}

/** Short: a server that stays away is for the caller's own, longer retries. */
const patience = {
  retries: 2,
  minTimeout: 100,
  maxTimeout: 1000,
  factor: 3,
  randomize: true,
  shouldRetry: ({ error }: { readonly error: Error }): boolean => error instanceof NotSent,
};

/**
 * Repeats a request up to two times, after a tenth of a second to a second, while it ends before any byte of it was
 * written and the reason may pass (connection refused, name not resolved, connect time-out). A stop ends the wait.
 */
export async function repeatUnsent(request: () => Promise<Ending>, stop: Stop): Promise<Ending> {
  let ending = await request();
  if (!mayPass(ending)) return ending;
  const attempt = async (number: number): Promise<void> => {
    if (number > 1) ending = await request();
    if (mayPass(ending)) throw new NotSent();
  };
  try {
    await pRetry(attempt, { ...patience, signal: stop.toSignal() });
  } catch (error) {
    // p-retry also throws when it is stopped as the answer arrives: then the answer counts.
    if (stop.reason !== undefined) return mayPass(ending) ? { kind: 'stopped', progress: 'unsent' } : ending;
    if (!(error instanceof NotSent)) throw error;
  }
  return ending;
}

function mayPass(ending: Ending): boolean {
  if (ending.kind !== 'lost') return false;
  const failure = lostFailure(ending.error, ending);
  return failure.class === 'unreachable' && failure.code !== 'TLS_ERROR';
}
