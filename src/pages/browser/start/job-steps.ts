import { element } from '../dom.ts';

const steps = ['File', 'Plan', 'Start', 'Watch'] as const;

/** The steps of a job, with the one at which the person is. */
export function jobSteps(current: (typeof steps)[number]): HTMLElement {
  const items = steps.map((step) => element('li', { 'aria-current': step === current && 'step' }, step));
  return element('ol', { class: 'job', 'aria-label': 'Steps' }, items);
}
