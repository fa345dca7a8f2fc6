import { type RepeatedTask, repeat } from '../../base/async/repeat.ts';
import { type CqbatchError, fatalError } from '../../base/errors/errors.ts';
import type { Datastore } from './datastore.ts';

const checkEveryMs = 500;

/**
 * @param maxOutageMs how long refusals may last; undefined: forever
 * @param onTooLong may be called repeatedly
 */
export function watchRefusals(
  datastore: Pick<Datastore, 'refusal'>,
  maxOutageMs: number | undefined,
  onTooLong: (reason: CqbatchError) => void,
): RepeatedTask {
  const check = (): void => {
    const { refusal } = datastore;
    if (refusal === undefined || maxOutageMs === undefined || refusal.forMs < maxOutageMs) return;
    const { code, message } = refusal.reason;
    onTooLong(
      fatalError(code, `${message} It has done so for longer than --max-outage allows.`, refusal.reason),
    );
  };
  return repeat(check, { everyMs: checkEveryMs });
}
