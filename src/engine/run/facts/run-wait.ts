import { shellWord } from '../../../base/text/command-words.ts';
import { apiText, type LimitedApi } from '../../../domain/terms.ts';
import type { RecordedPace } from '../../report/rate-history.ts';
import type { CompleteCommands } from '../record/store.ts';

/** Why no row is called now. */
export type RunWait =
  /** The run waits for a daemon or a worker. The text completes `waiting …`; the command starts what is missing. */
  | { readonly of: 'daemon' | 'worker'; readonly text: string; readonly command: string }
  /** The run waits for one that is called first. The text completes `waiting …`. */
  | { readonly of: 'run'; readonly text: string }
  /** A user has paused the run, and may have given a reason; or it has paused itself after its canary. */
  | { readonly of: 'user'; readonly text: string; readonly reason?: string | undefined }
  /** The datastore delays the run. The text is the reason. */
  | { readonly of: 'datastore'; readonly text: string }
  /** The API makes the run wait. The text is the reason. `until` is null if the end is unknown, or less than a second away. */
  | {
      readonly of: 'api';
      readonly text: string;
      readonly until: string | null;
      /** What asks for a long wait, and the command that ends it. */
      readonly advice?: string | undefined;
    };

/** What may keep a run from being called. */
export interface WaitSigns extends LimitedApi {
  readonly id: string;
  readonly state: string;
  readonly pauseReason?: string | undefined;
  /** Why the datastore delays the run. */
  readonly delay: string | undefined;
  /** Whether other processes must call its rows, and none has served the run for some seconds. */
  readonly isUnserved: boolean;
  /** Which runs are called before this run, as `runAhead` says. */
  readonly ahead: string | undefined;
  readonly pace: RecordedPace | undefined;
}

/** Says what a run waits for. Undefined for a run whose rows are called, and for one that has ended. */
export function waitOf(signs: WaitSigns, now = Date.now()): RunWait | undefined {
  const { id, state, pauseReason, delay, isUnserved, ahead, pace } = signs;
  if (state === 'submitted')
    return { of: 'daemon', text: `for a daemon: start "${daemonCommand}"`, command: daemonCommand };
  if (state === 'paused') return { of: 'user', text: 'until it is unpaused', reason: pauseReason };
  if (state !== 'running') return undefined;
  if (delay !== undefined) return { of: 'datastore', text: delay };
  if (isUnserved) return { of: 'worker', text: unservedText(signs), command: workerCommand(signs) };
  if (ahead !== undefined) return { of: 'run', text: ahead };
  if (pace === undefined) return undefined;
  const { wait_until, wait_by, reason, phase, away } = pace;
  const until = wait_until !== null && Date.parse(wait_until) > now ? wait_until : null;
  if (until === null && phase !== 'waiting' && away === null) return undefined;
  const advice = until === null || wait_by === null ? undefined : restAdvice(wait_by, id);
  return { of: 'api', text: reason, until, advice };
}

/** The wait with complete commands. */
export function completedWait(wait: RunWait | undefined, completed: CompleteCommands): RunWait | undefined {
  if (wait?.of === 'daemon' || wait?.of === 'worker')
    return { ...wait, text: completed(wait.text), command: completed(wait.command) };
  if (wait?.of === 'api' && wait.advice !== undefined) return { ...wait, advice: completed(wait.advice) };
  return wait;
}

/** The reason of a wait, and what to do, in one text for programs. */
export function waitInOneText(wait: RunWait): string {
  const { text } = wait;
  return wait.of === 'api' && wait.advice !== undefined ? `${text}; ${wait.advice}` : text;
}

function restAdvice(restBy: string, run: string): string {
  return `"${restBy}" asks for this wait; to call sooner, type: cqbatch set-rate ${run} 5/s (or resume it with --rate 5/s)`;
}

export const daemonCommand = 'cqbatch worker --coordinate';

export function unservedText(api: LimitedApi): string {
  return `for a worker: none serves ${apiText(api)}; start one: ${workerCommand(api)}`;
}

function workerCommand({ baseUrl, rateGroup }: LimitedApi): string {
  const words = ['cqbatch worker', '--base-url', shellWord(baseUrl)];
  if (rateGroup !== undefined) words.push('--rate-group', shellWord(rateGroup));
  return words.join(' ');
}
