import { expect, test } from 'vitest';
import { progressLines } from '../../../../src/cli/render/progress.ts';
import { statusLines, statusText } from '../../../../src/cli/render/status.ts';
import { withoutMarks } from '../../../../src/cli/render/style.ts';
import { phraseText, progressPhrases } from '../../../../src/engine/run/facts/progress-words.ts';
import { runData } from '../../../../src/pages/server/overview.ts';
import { figuresText, type RunData, waitText } from '../../../../src/pages/server/page-data.ts';
import { runFacts } from '../../../helpers/run-facts.ts';
import { now, progressScenes } from './progress-scenes.ts';

test.each(progressScenes)('terminal, status and dashboard agree about %s', (_what, changes) => {
  const run = runFacts(changes);
  const phrases = progressPhrases(run, now);
  const texts = phrases.map(phraseText);

  const terminal = progressLines(run, undefined, now).map(withoutMarks);
  const lines = terminal.map((line) => line.replace(' Ctrl-C loses nothing.', ''));
  expect(lines[0]).not.toBe('');
  expect(lines.join('  ').replaceAll(/\s+/g, ' ')).toBe(texts.join(' '));

  const [status = '', ...notes] = statusLines(run, now).map(withoutMarks);
  expect([status.replace(/^Run monthly \w+ {2}/, ''), ...notes]).toEqual(lines);

  const table = withoutMarks(statusText(run, now, '1'));
  // The table has its workers one by one.
  const rows = phrases.filter(({ name }) => name !== 'served by').flatMap(({ parts }) => parts);
  for (const { text } of rows) expect(table).toContain(`  ${text}\n`.trimEnd());

  // What the browser gets.
  const data = JSON.parse(JSON.stringify(runData(run))) as RunData;
  const sentences = waitText(data, now).toLowerCase();
  for (const phrase of phrases) {
    const text = phraseText(phrase);
    if (phrase.kind === 'figure') expect(figuresText(data, now)).toContain(text);
    else expect(sentences).toContain(text.toLowerCase());
  }
});
