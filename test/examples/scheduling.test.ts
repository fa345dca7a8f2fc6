import { readdirSync, readFileSync } from 'node:fs';
import { Cron } from 'croner';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import { expectUnattended, readExample, understood, variables, words } from './command-line.ts';

/** The lines of the crontab: schedule and the words behind `cqbatch`. */
function cronLines() {
  const lines = readExample('crontab')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !/^[A-Z_]+=/.test(line));
  return lines.map((line) => {
    const [, schedule = '', command = ''] = /^((?:\S+\s+){4}\S+)\s+(.*)$/.exec(line) ?? [];
    const all = words(command.replaceAll('\\%', '%'));
    return { schedule, command, args: all.slice(all.indexOf('cqbatch') + 1) };
  });
}

/** The text of each element of an XML document by name. @throws for what is not well-formed */
function elements(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const parser = new SaxesParser({ xmlns: true });
  let current = '';
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ local }) => {
    current = local;
    found.set(local, '');
  });
  parser.on('text', (part) => found.set(current, (found.get(current) ?? '') + part));
  parser.on('closetag', () => {
    current = '';
  });
  parser.write(text).close();
  return found;
}

test('a command line with an unknown option or value is detected', async () => {
  await expect(understood(['run', 'x.csv', '--or-resum'])).rejects.toThrow('unknown option');
  await expect(understood(['run', 'x.csv', '--wait', 'long'])).rejects.toThrow('--wait "long"');
});

describe('the crontab', () => {
  test.each(cronLines())('$schedule has a valid command that asks nothing', ({ args }) =>
    expectUnattended(args),
  );

  test('sets only variables that exist', () => {
    const set = [...readExample('crontab').matchAll(/^(CQBATCH_\w+)=/gm)].map(([, name = '']) => name);
    expect(set).toContain('CQBATCH_BASE_URL');
    expect(set.filter((name) => !variables.has(name))).toEqual([]);
  });

  test.each(cronLines())('has a valid schedule: $schedule', ({ schedule }) => {
    expect(new Cron(schedule).nextRun()).toBeInstanceOf(Date);
  });

  test('escapes each %, which would end the line', () => {
    for (const { command } of cronLines()) expect(command.replaceAll('\\%', '')).not.toContain('%');
  });
});

test('the task of Windows starts a valid command that asks nothing', () => {
  const text = elements(readExample('windows/cqbatch-inbox.xml')).get('Arguments') ?? '';
  return expectUnattended(text.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? []);
});

test('the task of Windows is XML in any encoding, and makes up for missed times', () => {
  const text = readExample('windows/cqbatch-inbox.xml');
  const task = elements(text);
  expect(Buffer.from(text).every((byte) => byte < 128)).toBe(true);
  expect(text).toMatch(/^<\?xml version="1\.0"\?>\n/);
  expect(task.get('StartWhenAvailable')).toBe('true');
  expect(task.get('MultipleInstancesPolicy')).toBe('IgnoreNew');
  expect(Date.parse(`${task.get('StartBoundary')}Z`)).not.toBeNaN();
});

test('the documentation names each file, but for those that a timer, a path unit or a service names', () => {
  const page = readFileSync('docs/scheduling.md', 'utf8');
  const files = readdirSync('examples/scheduling', { recursive: true, withFileTypes: true });
  const unnamed = files.filter((each) => each.isFile() && !page.includes(each.name)).map(({ name }) => name);
  expect(unnamed.toSorted()).toEqual(['cqbatch-inbox.service', 'cqbatch-nightly.service', 'cqbatch.env']);
});
