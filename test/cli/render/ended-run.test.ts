import { expect, test } from 'vitest';
import { bodyFor, notificationOf } from '../../../src/cli/render/ended-run.ts';

const ended = {
  run: undefined,
  runId: undefined,
  exitCode: 2,
  error: Object.assign(new Error('[here](https://evil.example) & <@all>\nline 2'), { code: 'X' }),
  actor: { user: 'ann', host: 'desk' },
};

// The format of "When a Teams webhook request is received" (learn.microsoft.com/connectors/teams).
test.each([
  'prod-23.westeurope.logic.azure.com',
  'default0123.4.environment.api.powerplatform.com',
  'contoso.webhook.office.com:8443',
])('a notification to %s is a message with one Adaptive Card of plain text', (host) => {
  const run = (text: string) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] });
  expect(JSON.parse(bodyFor(host, ended))).toEqual({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body: [
            run('cqbatch on desk: no run was created: [here](https://evil.example) & <@all>'),
            run('line 2'),
          ],
        },
      },
    ],
  });
});

test('a command that had nothing to do says so', () => {
  const nothing = { ...ended, exitCode: 0, error: undefined };
  expect(notificationOf(nothing).text).toBe('cqbatch on desk: no run was created: there was nothing to do');
});

test.each(['hooks.slack.com', 'logic.azure.com.evil.example'])(
  'a notification to %s has a text without mentions, and data for programs',
  (host) => {
    expect(JSON.parse(bodyFor(host, ended))).toMatchObject({
      text: 'cqbatch on desk: no run was created: [here](https://evil.example) &amp; &lt;@all&gt;\nline 2',
      exit_code: 2,
      error: { code: 'X' },
    });
  },
);

test('a notification names the run that failed before its end', () => {
  expect(JSON.parse(bodyFor('example.com', { ...ended, runId: 'night' })).text).toMatch(
    /^cqbatch on desk: run night: \[here\]/,
  );
});
