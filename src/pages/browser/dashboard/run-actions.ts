import { counted } from '../../../base/text/format.ts';
import { type ControlName, controlNames, isShared, type RunData } from '../../server/page-data.ts';

/** What a reader who may control runs can do with a run. */
export interface RunAction {
  readonly control: ControlName;
  /** The text of the button, and the text after a command that the run has not obeyed yet. */
  readonly text: string;
  readonly askedText?: string;
  /** Whether the action can't be taken back. */
  readonly isFinal?: true;
  /** Whether a person most likely wants this action. */
  readonly isMain?: true;
}

const actions: Readonly<Record<ControlName, Omit<RunAction, 'control'>>> = {
  pause: { text: 'Pause…', askedText: 'Pausing' },
  unpause: { text: 'Unpause…', askedText: 'Unpausing' },
  'set-rate': { text: 'Set rate…' },
  'set-priority': { text: 'Set priority…' },
  cancel: { text: 'Cancel…', askedText: 'Cancelling', isFinal: true },
};

/** The actions that fit a run, in the order of their buttons. */
export function actionsFor(run: RunData): readonly RunAction[] {
  const { state } = run;
  if (state !== 'running' && state !== 'paused') return [];
  const unfit: ControlName[] = [state === 'running' ? 'unpause' : 'pause'];
  // Only runs that share workers have a priority.
  if (!isShared(run)) unfit.push('set-priority');
  return controlNames
    .filter((control) => !unfit.includes(control))
    .map((control) => ({
      control,
      ...actions[control],
      ...(isAfterCanary(run) && textAfterCanary(run, control)),
    }));
}

/** Whether a run has called its first rows, and waits for a person to look at them. */
export function isAfterCanary({ state, because }: RunData): boolean {
  return state === 'paused' && because === 'canary';
}

function textAfterCanary({ rows, done }: RunData, control: ControlName): Partial<RunAction> {
  if (control === 'unpause') return { text: `Continue with ${counted(rows - done, 'row')}…`, isMain: true };
  return control === 'cancel' ? { text: 'Stop…' } : {};
}
