import { steadyTimeOf, timeOfDay } from '../../base/async/clock.ts';
import { duration } from '../../base/text/format.ts';
import { noticeableRestMs, type Pace } from '../../domain/pace.ts';
import { styled } from './style.ts';
import { clockTime } from './words.ts';

/** A longer wait is shown as the time when it ends. */
const longWaitSeconds = 600;

/** `waiting 9 s (the API asks to wait)` */
export function waitText(waitMs: number, reason: string): string {
  const seconds = Math.ceil(waitMs / 1_000);
  const until = seconds < longWaitSeconds ? '' : `, until ${clockTime(new Date(Date.now() + waitMs))}`;
  return styled('yellow', `waiting ${duration(seconds)}${until}${reason === '' ? '' : ` (${reason})`}`);
}

/** `API away for 12 s: connection refused. Tries again in 2 s, gives up at 20:32 UTC.` Undefined while the API answers. */
export function awayText(
  pace: Pick<Pace, 'away' | 'restUntil'> | undefined,
  now = Date.now(),
): string | undefined {
  if (pace?.away === undefined) return undefined;
  const { why, since, givesUpAt } = pace.away;
  const at = steadyTimeOf(now);
  const testMs = (pace.restUntil ?? 0) - at;
  const next = testMs < noticeableRestMs ? 'Tries again now' : `Tries again in ${duration(testMs / 1_000)}`;
  const end =
    givesUpAt === undefined ? '' : `, gives up at ${clockTime(timeOfDay(givesUpAt), new Date(now))}`;
  const lasted = duration(Math.max(0, at - since) / 1_000);
  return styled(
    'yellow',
    `API away for ${lasted}: ${why.replace(/^The /, 'the ').replace(/\.$/, '')}. ${next}${end}.`,
  );
}
