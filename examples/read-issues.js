// @ts-check
/**
 * Reads the titles of GitHub issues into the report, as old values for an edit that can be undone:
 *
 *     cqbatch run issues.csv --operations ./read-issues.js --run-id titles --base-url https://api.github.com
 *     cqbatch run .cqbatch/runs/titles/report.csv --map _title=old_title --default title=Closed \
 *       --operations ./operations.js --base-url https://api.github.com
 *
 * @type {import('callquality-batch').OperationsModule}
 */
export default ({ defineOperation }) =>
  defineOperation({
    name: 'read-issue',
    thing: 'issue',
    done: 'read',
    summary: 'Read the titles of GitHub issues',
    fields: { issue: { type: 'identifier', required: true } },
    subject: 'issue',
    check: ({ issue }) =>
      /^[\w.-]+\/[\w.-]+#\d+$/.test(issue) ? undefined : 'write the issue as owner/repository#12',
    request: ({ issue }) => ({
      method: 'GET',
      path: `/repos/${issue.replace('#', '/issues/')}`,
      headers: { 'X-GitHub-Api-Version': '2022-11-28' },
    }),
    interpret: (body, issue) =>
      String(Object(body).number) === issue.split('#')[1]
        ? { ok: true, value: Object(body) }
        : { ok: false, code: 'ANSWER_ID_MISMATCH', message: `the answer is not about ${issue}` },
    columns: { title: ({ title }) => title, state: ({ state }) => state },
    repeatable: true,
  });
