// @ts-check
/**
 * An operation of your own: titles and states of GitHub issues, from a manifest such as
 *
 *     issue,title,old_title
 *     octo/app#12,Crash on start,App crashes
 *
 * cqbatch plan issues.csv --operations ./operations.js --base-url https://api.github.com
 *
 * @type {import('callquality-batch').OperationsModule}
 */
export default ({ defineOperation }) =>
  defineOperation({
    name: 'update-issue',
    thing: 'issue',
    summary: 'Change the title or the state of GitHub issues',
    fields: {
      issue: { type: 'identifier', required: true },
      title: { type: 'text', undoable: true },
      state: { type: 'text', undoable: true },
    },
    subject: 'issue',
    check: ({ issue, title, state }) => {
      if (!/^[\w.-]+\/[\w.-]+#\d+$/.test(issue)) return 'write the issue as owner/repository#12';
      return title === undefined && state === undefined
        ? 'changes nothing; give a title or a state'
        : undefined;
    },
    request: ({ issue, title, state }) => {
      const [repository, number] = issue.split('#');
      return {
        method: 'PATCH',
        path: `/repos/${repository}/issues/${number}`,
        headers: { 'X-GitHub-Api-Version': '2022-11-28' },
        body: { title, state },
      };
    },
    interpret: (body, issue) =>
      String(Object(body).number) === issue.split('#')[1]
        ? { ok: true, value: Object(body) }
        : { ok: false, code: 'ANSWER_ID_MISMATCH', message: `the answer is not about ${issue}` },
    columns: { url: ({ html_url }) => html_url, state: ({ state }) => state },
    repeatable: true,
  });
