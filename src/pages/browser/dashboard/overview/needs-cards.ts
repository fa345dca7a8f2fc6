import type { Need } from '../../../server/needs.ts';
import type { RunData } from '../../../server/page-data.ts';
import { button, type Child, copyClicked, element } from '../../dom.ts';
import { sendRequest } from '../../start/requests.ts';
import type { ControlDialog } from '../control-dialog.ts';
import { actionsFor } from '../run-actions.ts';
import { actionButton, timeElement } from '../run-parts.ts';

/** The most cards at first. */
const fewCards = 6;

/** What needs a person, as cards with one thing to do each. @param controls undefined when the reader may not control runs */
export function needsSection(needs: readonly Need[], controls: ControlDialog | undefined): Child {
  if (needs.length === 0) return false;
  const cards = needs.map((need) => card(need, controls));
  const more = cards.length - fewCards;
  const summary = element('summary', `${more} more`);
  return element(
    'section',
    { class: 'needs', 'aria-label': 'Needs you' },
    element('h2', needs.length === 1 ? '1 needs you' : `${needs.length} need you`),
    element('div', { class: 'cards', id: 'need-cards' }, cards.slice(0, fewCards)),
    more > 0 &&
      element(
        'details',
        { id: 'more-needs' },
        summary,
        element('div', { class: 'cards', id: 'more-need-cards' }, cards.slice(fewCards)),
      ),
  );
}

function card(need: Need, controls: ControlDialog | undefined): HTMLElement {
  const { id, kind, title, text, since } = need;
  return element(
    'article',
    { class: `need ${kind}`, id },
    element(
      'h3',
      element('span', { class: `state ${kind}` }, title),
      since !== undefined && timeElement(since),
    ),
    element('p', { class: 'what', title: text }, text),
    element('p', { class: 'do', id: `do ${id}` }, whatToDo(need, controls)),
  );
}

/** One thing to do: a button for a reader who may, else a link or what to type. */
function whatToDo({ id, run, rows, command, refusals }: Need, controls: ControlDialog | undefined): Child {
  if (refusals !== undefined)
    return controls === undefined
      ? element('span', { class: 'quiet' }, 'Shown until a file of this name is accepted, or for a week.')
      : button('Seen', dismiss, {
          id: `seen ${refusals.schedule}`,
          'data-schedule': refusals.schedule,
          'data-until': refusals.until,
        });
  const unpause =
    run?.state === 'paused' && controls && actionsFor(run).find(({ control }) => control === 'unpause');
  if (run !== undefined && controls !== undefined && unpause)
    return actionButton(run, unpause, controls, 'card');
  const link = run !== undefined && lookLink(id, run, rows);
  return rows !== undefined || command === undefined ? link : commandElement(id, command);
}

function lookLink(need: string, run: RunData, rows: string | undefined): HTMLElement {
  const address = new URLSearchParams({ run: run.id, ...(rows !== undefined && { show: rows }) });
  const text = rows === undefined || rows === 'all' ? 'Look at the run' : 'Look at these rows';
  return element(
    'a',
    { href: `#${address}`, class: 'button', id: `look ${need}`, 'aria-label': `${text}: ${run.id}` },
    text,
  );
}

function commandElement(id: string, command: string): HTMLElement {
  const which = element('span', { class: 'spoken' }, ` ${command}`);
  const copy = button(['Copy', which], (event) => void copyClicked(event), {
    'data-copy': command,
    id: `copy ${id}`,
  });
  return element('span', { class: 'command' }, element('code', command), copy);
}

/** Reads from the button what it dismisses: a button lasts longer than its refusals. */
async function dismiss({ currentTarget }: Event): Promise<void> {
  const { schedule = '', until = '' } = (currentTarget as HTMLElement).dataset;
  // The next snapshot shows the effect. A dashboard that does not answer says so by itself.
  await sendRequest(`schedules/${encodeURIComponent(schedule)}/seen`, { until }).catch(() => undefined);
}
