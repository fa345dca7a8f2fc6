import { type Repeated, repeat } from '../../base/async/repeat.ts';
import { type CqbatchError, fatalError } from '../../base/errors/errors.ts';
import type { Datastore } from './datastore.ts';

const lookMs = 500;

/**
 * Watches whether a datastore refuses for longer than an outage may last.
 *
 * @param maxOutageMs undefined: without end
 * @param onTooLong called with the reason, perhaps repeatedly
 */
export function watchRefusals(
  datastore: Pick<Datastore, 'refusal'>,
  maxOutageMs: number | undefined,
  onTooLong: (reason: CqbatchError) => void,
): Repeated {
  const look = (): void => {
    const { refusal } = datastore;
    if (refusal === undefined || maxOutageMs === undefined || refusal.forMs < maxOutageMs) return;
    const { code, message } = refusal.reason;
    onTooLong(
      fatalError(code, `${message} It has done so for longer than --max-outage allows.`, refusal.reason),
    );
  };
  return repeat(look, { everyMs: lookMs });
}
