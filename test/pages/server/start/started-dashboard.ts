import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { fatalError, usageError } from '../../../../src/base/errors/errors.ts';
import { parsedArgument } from '../../../../src/cli/commands/options.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { buildServer } from '../../../../src/pages/server/server.ts';
import type { Planned } from '../../../../src/pages/server/start/draft.ts';
import type { PageCommands } from '../../../../src/pages/server/start/page-commands.ts';
import { parseRate } from '../../../../src/settings/parsers.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { clientOf, host, origin } from '../dashboard-client.ts';

export const planned: Planned = {
  ready: true,
  callable: 3,
  invalid: 0,
  partial: 0,
  conflicts: 0,
  columns: ['evaluation_id'],
  fields: { evaluation_id: 'evaluation_id' },
  operations: ['restore_evaluation'],
  plan_sha256: 'a'.repeat(64),
};

/** What the routes ask of the program, in order. */
export type Asked = readonly [command: string, ...args: readonly unknown[]];

/** Commands that note what they are asked. A manifest whose text is `refused` has no plan. */
export function notedCommands(): { readonly commands: PageCommands; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const commands: PageCommands = {
    async offer() {
      asked.push(['offer']);
      return { baseUrl: 'https://api.example', oneRunAtATime: true, operations: [], lists: [] };
    },
    async planManifest({ path, name }, choices, output) {
      const text = await readFile(path, 'utf8');
      asked.push(['plan', name, text, choices]);
      if (text === 'refused') throw usageError('MANIFEST_EMPTY', 'The manifest has no rows.');
      await writeFile(output.plan, text);
      await writeFile(output.page, `<p>${text}</p>`);
      return planned;
    },
    async planAgain(as, run, choices) {
      asked.push([as, run, choices]);
      if (run === 'none') throw usageError('RUN_UNKNOWN', 'There is no run none.');
      if (run === 'away') throw fatalError('LIST_UNREADABLE', 'The API is away.');
      return planned;
    },
    async submit({ path, sha256 }, wishes) {
      asked.push(['submit', await readFile(path, 'utf8'), sha256, wishes]);
      return 'rows-1';
    },
    async resume(run, reason) {
      asked.push(['resume', run, reason]);
    },
    async check(run) {
      asked.push(['check', run]);
      return 'All 3 rows are as wished.';
    },
    async entries(list) {
      asked.push(['entries', list]);
      return Buffer.from('{"soundboard_id":"1"}\n');
    },
  };
  return { commands, asked };
}

/** A dashboard that can start runs, and does not listen. */
export async function startedDashboard({ requireReason = false, control = true, stateDir = '' } = {}) {
  stateDir ||= join(await temporaryFolder(), '.cqbatch');
  const store = openRunStore(stateDir, operations);
  const { commands, asked } = notedCommands();
  const { server, access } = await buildServer({
    host: '127.0.0.1',
    port: 0,
    store,
    control: control
      ? { parseRate: (text) => parsedArgument('Rate', text, parseRate), requireReason }
      : undefined,
    start: { commands, trouble: () => undefined },
  });
  onTestFinished(() => server.close());
  const { get, post, enter } = clientOf({ server, access });
  const upload = (name: string, content: string | Buffer, headers = {}) =>
    server.inject({
      method: 'POST',
      url: `/drafts?name=${encodeURIComponent(name)}`,
      payload: content,
      headers: { host, origin, 'content-type': 'application/octet-stream', ...headers },
    });
  return { stateDir, server, access, asked, get, post, upload, enter };
}
