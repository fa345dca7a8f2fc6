import { counted } from '../../../base/text/format.ts';
import type { NextStep } from '../next-step.ts';
import { type Markup, markup } from './markup.ts';
import type { PageData } from './page-data.ts';
import { groupLink } from './row-groups.ts';

export function stepList({ steps, run }: PageData): Markup {
  if (steps.length === 0) return undefined;
  return markup(
    'section',
    { 'aria-label': 'What to do next' },
    markup(
      'h2',
      {},
      run.phase === 'in progress' && run.state !== 'paused' ? 'Failures so far' : 'What to do next',
    ),
    markup('ol', { class: 'steps' }, ...steps.map(stepItem)),
  );
}

export function stepsText({ steps }: PageData): readonly string[] {
  return steps.map(({ title, first, command }, index) =>
    [`${index + 1}. ${title}`, first && ` (${first})`, command && `: ${command}`].filter(Boolean).join(''),
  );
}

/** A step of a list. Its command is for the operator, so it comes last. */
function stepItem({ title, first, text, group, rows, command }: NextStep): Markup {
  return markup(
    'li',
    {},
    markup('h3', {}, title),
    first !== undefined && markup('span', { class: 'outcome unclear' }, first),
    markup('p', {}, text),
    markup(
      'p',
      { class: 'do' },
      rows > 0 && groupLink(group, rows === 1 ? 'Show the row' : `Show the ${counted(rows, 'row')}`),
      group === 'correct' &&
        markup('button', { type: 'button', id: 'save', 'data-save': group }, 'Save them as CSV'),
      command !== undefined && commandOf(command),
    ),
  );
}

function commandOf(command: string): Markup {
  const which = markup('span', { class: 'spoken' }, ` ${command}`);
  const copy = markup('button', { type: 'button', id: command, 'data-copy': command }, 'Copy', which);
  return markup('span', { class: 'command' }, markup('code', {}, command), copy);
}
