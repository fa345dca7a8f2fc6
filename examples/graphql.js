// @ts-check
/**
 * An operation of a GraphQL service, which tells errors in an answer with HTTP status 200: names of users, from a manifest such as
 *
 *     id,name
 *     17,Ada Lovelace
 *
 * cqbatch plan users.csv --operations ./graphql.js --base-url https://api.example.com
 *
 * @type {import('callquality-batch').OperationsModule}
 */
export default ({ defineOperation }) =>
  defineOperation({
    name: 'rename-user',
    thing: 'user',
    done: 'renamed',
    summary: 'Change the names of users',
    fields: {
      id: { type: 'identifier', required: true },
      name: { type: 'text', required: true },
    },
    subject: 'id',
    request: (variables) => ({
      path: '/graphql',
      body: {
        query: 'mutation ($id: ID!, $name: String!) { renameUser(id: $id, name: $name) { id name } }',
        variables,
      },
    }),
    interpret: (body, id) => {
      const { data, errors } = Object(body);
      if (errors !== undefined) return refusalIn(errors);
      const user = data?.renameUser;
      return user?.id === id
        ? { ok: true, value: user }
        : { ok: false, code: 'ANSWER_ID_MISMATCH', message: `the answer is not about user ${id}` };
    },
    columns: { name: ({ name }) => name },
    repeatable: true,
  });

/** What the codes of this service mean. It gives them before it changes anything. */
const refusals = new Map([
  ['BUSY', 'UNAVAILABLE'],
  ['THROTTLED', 'RESOURCE_EXHAUSTED'],
  ['NOT_FOUND', 'NOT_FOUND'],
  ['BAD_USER_INPUT', 'INVALID_ARGUMENT'],
  ['FORBIDDEN', 'PERMISSION_DENIED'],
  ['UNAUTHENTICATED', 'UNAUTHENTICATED'],
]);

/** @param {any} errors */
function refusalIn(errors) {
  const { message, extensions } = Object(Object(errors)[0]);
  const code = refusals.get(extensions?.code);
  const why = /** @type {const} */ ({ ok: false, message: String(message) });
  return code === undefined ? { ...why, code: 'GRAPHQL_ERROR' } : { ...why, code, unclear: false };
}
