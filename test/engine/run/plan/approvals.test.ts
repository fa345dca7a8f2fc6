import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ApprovalPolicy,
  approvePlan,
  approverNames,
  judgeApprovals,
  needsApproval,
  requireApprovals,
} from '../../../../src/engine/run/plan/approvals.ts';
import type { ApprovedPlan } from '../../../../src/engine/run/plan/plan-file.ts';
import { createSshKey, type SshKey } from '../../../helpers/ssh-key.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { writePlan } from './written-plan.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const hour = 3_600_000;
const byOps = { user: 'ops', at: now };

let keys: string;
/** Keys of Ana and Ben, who may approve, and of Eve, who may not. */
let ana: SshKey;
let ben: SshKey;
let eve: SshKey;
let policy: ApprovalPolicy & { readonly approvers: string };

beforeAll(async () => {
  keys = await mkdtemp(join(tmpdir(), 'cqbatch-approvals-'));
  const make = (name: string) => createSshKey(join(keys, name));
  [ana, ben, eve] = [await make('ana'), await make('ben'), await make('eve')];
  const approvers = join(keys, 'approvers');
  await writeFile(approvers, `ana ${ana.publicText}\nben ${ben.publicText}\n`);
  policy = { approvers, needed: 2, above: { '': 2 } };
});
afterAll(() => rm(keys, { recursive: true }));

/** A plan of three calls that is not approved. */
async function unapproved(): Promise<ApprovedPlan> {
  const folder = await temporaryFolder();
  const manifest = join(folder, 'rows.csv');
  await writeFile(manifest, 'evaluation_id,user_id\n1,u\n2,u\n3,u\n3,u\n');
  return (await writePlan(join(folder, 'week.cqplan'), manifest)).plan;
}

/** What is signed about a plan, and by whom. */
function signatureOf(on: ApprovedPlan, key: SshKey, user: string, validMs = hour): Promise<string> {
  return approvePlan(on, key.path, { validMs, now, by: { user, host: 'laptop' } });
}

async function signed(
  plan: ApprovedPlan,
  ...by: readonly (readonly [key: SshKey, user: string, validMs?: number])[]
): Promise<ApprovedPlan> {
  const approvals: string[] = [];
  for (const [key, user, validMs] of by) approvals.push(await signatureOf(plan, key, user, validMs));
  return { ...plan, approvals };
}

function run(plan: ApprovedPlan | undefined, more: Partial<typeof byOps & ApprovalPolicy> = {}) {
  return requireApprovals(
    { ...policy, ...more },
    {
      manifest: 'rows.csv',
      planCommand: 'cqbatch plan rows.csv',
      plan,
      callable: { 'restore-evaluation': 3 },
      ...byOps,
      ...more,
    },
  );
}

/** What the refusal says. */
async function refusal(running: Promise<unknown>): Promise<string> {
  const error = await running.then(
    () => new Error('it was not refused'),
    (error: Error) => error,
  );
  expect(error).toMatchObject({ kind: 'usage', code: 'APPROVAL_MISSING' });
  return error.message;
}

describe('approvals', () => {
  test('are by two people, whose names, keys and times are known', async () => {
    const fingerprint = expect.stringMatching(/^SHA256:[\w+/]{43}$/);
    const plan = await signed(await unapproved(), [ana, 'ana'], [ben, 'ben', 2 * hour]);
    const counted = await run(plan);
    const [start, one, two] = ['12', '13', '14'].map((hours) => `2026-11-26T${hours}:00:00.000Z`);
    expect(counted).toMatchObject([
      { name: 'ana', key: fingerprint, at: start, until: one },
      { name: 'ben', key: fingerprint, at: start, until: two },
    ]);
    expect(new Set(counted.map(({ key }) => key)).size).toBe(2);
  });

  test('are text that says what is approved, and the signature of it', async () => {
    const plan = await unapproved();
    const [text, signature] = (await signatureOf(plan, ana, 'ana')).split('-----BEGIN SSH SIGNATURE-----\n');
    expect(text).toBe(
      [
        ...['cqbatch-approval 1', `plan sha256:${plan.sha256}`, 'address https://api.example.com'],
        ...['rows 4', 'calls 3', 'by ana on laptop'],
        ...['at 2026-11-26T12:00:00.000Z', 'until 2026-11-26T13:00:00.000Z', 'for one run', ''],
      ].join('\n'),
    );
    expect(signature).toMatch(/^[\w+/=\n]+\n-----END SSH SIGNATURE-----\n$/);
  });

  test('are refused by ssh-keygen without a key, which is said', async () => {
    const none = { ...ana, path: join(keys, 'none') };
    await expect(signatureOf(await unapproved(), none, 'ana')).rejects.toMatchObject({
      kind: 'usage',
      code: 'KEY_UNUSABLE',
      message: expect.stringMatching(/none: .*No such file.* Pass --key with the file of your key/),
    });
  });

  test('are not needed below a number of calls, and counted nevertheless', async () => {
    const few = { above: { '': 3 } };
    expect(await run(undefined, few)).toEqual([]);
    expect(await run(await signed(await unapproved(), [ana, 'ana']), few)).toMatchObject([{ name: 'ana' }]);
  });
});

describe('the refusal', () => {
  test('has all that is to be typed, without a plan', async () => {
    expect(await refusal(run(undefined))).toBe(
      'rows.csv: 3 calls, 0 of 2 approvals. Next: type "cqbatch plan rows.csv --out NAME.cqplan", ' +
        'have ana and ben type "cqbatch approve NAME.cqplan", then run it.',
    );
  });

  test('says that one of two is not enough', async () => {
    const plan = await signed(await unapproved(), [ana, 'ana']);
    expect(await refusal(run(plan))).toBe(
      'rows.csv: 3 calls, 1 of 2 approvals (ana). ' +
        `Next: have ben type "cqbatch approve ${plan.file}", then run it.`,
    );
  });

  test('asks for approvers where there are too few', async () => {
    expect(await refusal(run(undefined, { needed: 3 }))).toMatch(
      / Next: name 3 approvers in the file that "approvers" in config\.json names, in OpenSSH's form allowed_signers\.$/,
    );
    expect(await refusal(run(undefined, { approvers: undefined }))).toMatch(/ Next: name 2 approvers /);
  });
});

describe('approvers', () => {
  test('are named in the form of OpenSSH', async () => {
    const file = join(await temporaryFolder(), 'approvers');
    await writeFile(
      file,
      `# People\n\nana,ana@example.com ${ana.publicText} of Ana\n  ben valid-before="20270101" ${ben.publicText}\nana ${eve.publicText}\n`,
    );
    expect(await approverNames({ approvers: file })).toEqual(['ana', 'ana@example.com', 'ben']);
    expect(await approverNames({ approvers: undefined })).toEqual([]);
  });

  test('in a file that can’t be read are a usage error', async () => {
    const file = join(await temporaryFolder(), 'none');
    await expect(run(undefined, { approvers: file })).rejects.toMatchObject({
      kind: 'usage',
      code: 'APPROVERS_UNREADABLE',
      message: expect.stringContaining(`Can't read the approvers in ${file}: `),
    });
  });
});

type Case = (plan: ApprovedPlan) => Promise<unknown>;

describe('an approval does not count', () => {
  /** Signed by this key in the name of this user. */
  const by =
    (key: () => SshKey, user: string, more: Parameters<typeof run>[1] = {}): Case =>
    async (plan) =>
      run(await signed(plan, [key(), user]), more);
  const byAnaAs = (user: string, more: Parameters<typeof run>[1] = {}) => by(() => ana, user, more);
  const byAna = (more: Parameters<typeof run>[1]) => byAnaAs('ana', more);
  /** Ana's, of a plan that is not quite the same. */
  const of =
    (change: (plan: ApprovedPlan) => ApprovedPlan): Case =>
    async (plan) => {
      const { approvals } = await signed(change(plan), [ana, 'ana']);
      return run({ ...plan, approvals });
    };
  const expiredKey: Case = async (plan) => {
    const approvers = join(await temporaryFolder(), 'approvers');
    await writeFile(approvers, `ana,ben valid-before="20260101" ${ana.publicText}\n`);
    return byAna({ approvers })(plan);
  };
  const twice: Case = async (plan) => {
    const { approvals } = await signed(plan, [ana, 'ana']);
    return run({ ...plan, approvals: [...approvals, ...approvals] });
  };
  const signatureOfBen: Case = async (plan) => {
    const { approvals } = await signed(plan, [ana, 'ana'], [ben, 'ben']);
    const [text = '', signature = ''] = approvals.map((each, index) => {
      const at = each.indexOf('-----BEGIN');
      return index === 0 ? each.slice(0, at) : each.slice(at);
    });
    return run({ ...plan, approvals: [`${text}${signature}`] });
  };
  const something: Case = (plan) => run({ ...plan, approvals: ['{"payload":"x"}\n'] });
  const baseUrl = 'https://other.example.com';
  const byEve = (user: string) => by(() => eve, user);
  const stranger = String.raw`has no good signature of an approver in \S+approvers`;

  const forAnother = 'the approval by ana is for another plan';

  test.each<[what: string, sentence: string, make: Case]>([
    ['of another person', `the approval by eve ${stranger}`, byEve('eve')],
    ['of another person under the name of an approver', `the approval by ana ${stranger}`, byEve('ana')],
    ['that has ended', 'the approval by ana ended 2026-11-26 13:00:00 UTC', byAna({ at: now + hour })],
    ['by a key that is not valid any more', 'the approval by ana has no good signature', expiredKey],
    ['by the user of the run', "ops can't approve a plan that ops runs", byAnaAs('ops')],
    [
      'of the user of the run, under any account',
      "ana can't approve a plan that ana runs",
      byAnaAs('root', { user: 'ana' }),
    ],
    [
      'where the settings name no approver',
      'the approval by ana is of no approver: the settings name none',
      byAna({ approvers: undefined }),
    ],
    ['of another plan', forAnother, of((plan) => ({ ...plan, sha256: 'f'.repeat(64) }))],
    ['of another address', forAnother, of((plan) => ({ ...plan, options: { ...plan.options, baseUrl } }))],
    [
      'of other numbers of rows',
      forAnother,
      of((plan) => ({ ...plan, head: { ...plan.head, counts: { ...plan.head.counts, callable: 2 } } })),
    ],
    ['that is there twice', 'ana has approved it twice', twice],
    ['with the signature of another', 'the approval by ana has no good signature', signatureOfBen],
    ['that is something else', 'a file is not an approval of this version of cqbatch', something],
  ])('%s', async (_what, sentence, make) => {
    expect(await refusal(make(await unapproved()))).toMatch(new RegExp(sentence));
  });

  test('whatever byte of it is changed', async () => {
    const plan = await signed(await unapproved(), [ana, 'ana']);
    const [content = ''] = plan.approvals;
    const counts = async (approval: string) =>
      (await judgeApprovals({ ...plan, approvals: [approval] }, policy, byOps)).filter((each) => each.counts);
    expect(await counts(content)).toHaveLength(1);
    // Beyond the last whole line of the signature, a change may change nothing.
    const last = content.lastIndexOf('\n', content.indexOf('\n-----END') - 1);
    await fc.assert(
      fc.asyncProperty(fc.nat(last - 1), fc.integer({ min: 1, max: 127 }), async (at, bits) => {
        const put = String.fromCharCode(content.charCodeAt(at) ^ bits);
        // Only the layout of the signature may change.
        fc.pre(at < content.indexOf('-----BEGIN') || !/\s/.test(`${put}${content[at]}`));
        const changed = `${content.slice(0, at)}${put}${content.slice(at + 1)}`;
        expect(await counts(changed), `byte ${at}`).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });
});

test.each([
  [{ '': 500 }, { a: 300, b: 201 }, true],
  [{ '': 0 }, { a: 1 }, true],
  [{ '': 0 }, { a: 0 }, false],
  [{ a: 10 }, { a: 10, b: 900 }, false],
  [{ a: 10, '': 100 }, { b: 101 }, true],
  [{}, { a: 1_000_000 }, false],
])('above %j, %j needs an approval: %s', (above, callable, needs) => {
  expect(needsApproval({ approvers: undefined, needed: 1, above }, callable)).toBe(needs);
});
