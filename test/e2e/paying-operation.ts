/** Pays an account: twice is once too often. */
export const paying = `export default ({ defineOperation }) =>
  defineOperation({ name: 'pay',
    thing: 'account',
    summary: 'Pay an amount into accounts',
    fields: { account: { type: 'identifier', required: true }, version: { type: 'text' } },
    subject: 'account',
    request: ({ account, version }) => ({ path: '/pay',
      headers: { 'If-Match': version, 'Content-Type': 'application/vnd.pay+json' },
      body: { account },
    }),
    interpret: () => ({ ok: true, value: {} }),
    columns: {},
    repeatable: true,
    idempotencyKey: true,
  });
`;
