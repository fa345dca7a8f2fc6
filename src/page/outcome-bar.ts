import { type OutcomeCounts, outcomes } from '../domain.ts';
import { element } from './dom.ts';

/** Shows what part of the rows ended with which outcome, and what part did not end yet. It is to be told in words besides. */
export function outcomeBar(counts: OutcomeCounts, rest: number, label?: string): HTMLElement {
  const shares = [...outcomes.map((outcome) => [outcome, counts[outcome]] as const), ['rest', rest] as const];
  const parts = shares
    .filter(([, rows]) => rows > 0)
    .map(([name, rows]) => {
      const part = element('span', { class: name });
      part.style.flexGrow = String(rows);
      return part;
    });
  const told = label === undefined ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': label };
  return element('div', { class: 'bar', ...told }, ...parts);
}
