import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type ApprovalPolicy,
  approvePlan,
  judgeApprovals,
  needsApproval,
  requireApprovals,
} from '../../../src/run/plan/approvals.ts';
import {
  type ApprovedPlan,
  planFileText,
  readApprovedPlan,
  writeApprovals,
  writeApprovedPlan,
} from '../../../src/run/plan/approved-plan.ts';
import { createKey, type SigningKey } from '../../../src/signature/key-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const hour = 3_600_000;
const baseUrl = 'https://api.example.com';
const options = {
  baseUrl,
  clearToken: '\\N',
  concurrency: 'auto',
  attempts: 5,
  timeoutMs: 60_000,
  backoffMs: 1_000,
} as never;
const counts = { rows: 3, callable: 3, invalid: 0, duplicates: 0, superseded: 0, partial: 0 } as never;
const byOps = { user: 'ops', at: now };

/** A plan that is not approved, and the keys of Ana and Ben, who may approve it. */
async function scene() {
  const folder = await temporaryFolder();
  const source = join(folder, 'rows.csv');
  await writeFile(source, 'evaluation_id,user_id\n1,u\n');
  const plan = await writeApprovedPlan(join(folder, 'week.cqplan'), {
    ...{ source, options, counts },
    ...{ skip_invalid: false, allow_partial: false },
  });
  const [ana, ben, eve] = (await Promise.all(
    ['ana', 'ben', 'eve'].map((name) => createKey(join(folder, name))),
  )) as [SigningKey, SigningKey, SigningKey];
  const approvers = new Map([
    ['ana', ana.publicKey],
    ['ben', ben.publicKey],
  ]);
  const policy: ApprovalPolicy = { approvers, needed: 2, above: { '': 2 } };
  const sign = (on: ApprovedPlan, key: SigningKey, user: string, validMs = hour) =>
    approvePlan(on, key, { validMs, now, by: { user, host: 'laptop' } }).then((approvals) => ({
      ...on,
      approvals,
    }));
  const run = (plan_: ApprovedPlan | undefined, more: Partial<typeof byOps> = {}) =>
    requireApprovals(policy, {
      ...{ manifest: 'rows.csv', planCommand: 'cqbatch plan rows.csv', plan: plan_ },
      ...{ callable: { 'restore-evaluation': 3 }, ...byOps, ...more },
    });
  return { folder, plan, ana, ben, eve, policy, sign, run };
}

/** What the refusal says. */
function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toMatchObject({ kind: 'usage', code: 'APPROVAL_MISSING' });
    return (error as Error).message;
  }
  throw new Error('it was not refused');
}

describe('approvals', () => {
  test('two people approve a plan, and their names, keys and times are known', async () => {
    const { plan, ana, ben, sign, run } = await scene();
    const signed = await sign(await sign(plan, ana, 'ana'), ben, 'ben', 2 * hour);
    expect(run(signed)).toMatchObject([
      { name: 'ana', key: ana.publicKey.fingerprint, at: '2026-11-26T12:00:00.000Z' },
      { name: 'ben', key: ben.publicKey.fingerprint, until: '2026-11-26T14:00:00.000Z' },
    ]);
  });

  test('a plan keeps its approvals in its file, and its digest', async () => {
    const { plan, ana, sign } = await scene();
    const written = await writeApprovals(plan, (await sign(plan, ana, 'ana')).approvals);
    expect(await readApprovedPlan(plan.file)).toEqual(written);
    expect(written.sha256).toBe(plan.sha256);
  });

  test('without a plan, the message has all that is to be typed', async () => {
    const { run } = await scene();
    expect(refusal(() => run(undefined))).toBe(
      'rows.csv: 3 calls need 2 approvals, and there is none. Next: type "cqbatch plan rows.csv --out NAME.cqplan", ' +
        'have ana and ben type "cqbatch approve NAME.cqplan", then run it.',
    );
  });

  test('one of two is not enough', async () => {
    const { plan, ana, sign, run } = await scene();
    const signed = await sign(plan, ana, 'ana');
    expect(refusal(() => run(signed))).toMatch(
      /^rows\.csv: 3 calls need 2 approvals, and only 1 counts \(ana\)\. Next: have ana and ben type "cqbatch approve .*week\.cqplan", then run it\.$/,
    );
  });

  test('a second approval with the same key replaces the first', async () => {
    const { plan, ana, sign } = await scene();
    const signed = await sign(await sign(plan, ana, 'ana'), ana, 'ana', 2 * hour);
    expect(signed.approvals).toHaveLength(1);
  });

  test.each<[string, RegExp, (place: Awaited<ReturnType<typeof scene>>) => Promise<() => unknown>]>([
    [
      'a key of another person',
      /The key SHA256:\S+ is not one of an approver\./,
      async ({ plan, eve, sign, run }) => {
        const signed = await sign(plan, eve, 'eve');
        return () => run(signed);
      },
    ],
    [
      'an approval that has ended',
      /The approval by ana ended 2026-11-26 13:00:00 UTC\./,
      async ({ plan, ana, sign, run }) => {
        const signed = await sign(plan, ana, 'ana');
        return () => run(signed, { at: now + hour });
      },
    ],
    [
      'an approval by the account that runs it',
      /Ana runs the plan, and an approval must come from another person\./,
      async ({ plan, ana, sign, run }) => {
        const signed = await sign(plan, ana, 'ops');
        return () => run(signed);
      },
    ],
    [
      'an approver who runs it, whatever account has signed',
      /Ana runs the plan/,
      async ({ plan, ana, sign, run }) => {
        const signed = await sign(plan, ana, 'root');
        return () => run(signed, { user: 'ana' });
      },
    ],
    [
      'an approval of another plan',
      /Ana has approved another plan\./,
      async ({ plan, ana, sign, run }) => {
        const { approvals } = await sign({ ...plan, sha256: 'f'.repeat(64) }, ana, 'ana');
        return () => run({ ...plan, approvals });
      },
    ],
    [
      'an approval that names another target',
      /Ana has approved another plan\./,
      async ({ plan, ana, sign, run }) => {
        const other = { ...plan, options: { ...plan.options, baseUrl: 'https://other.example.com' } };
        const { approvals } = await sign(other, ana, 'ana');
        return () => run({ ...plan, approvals });
      },
    ],
    [
      'the same approval twice',
      /Ana has approved it twice\./,
      async ({ plan, ana, sign, run }) => {
        const { approvals } = await sign(plan, ana, 'ana');
        return () => run({ ...plan, approvals: [...approvals, ...approvals] });
      },
    ],
    [
      'a changed signature',
      /The signature of SHA256:\S+ does not fit/,
      async ({ plan, ana, ben, sign, run }) => {
        const { approvals } = await sign(plan, ana, 'ana');
        const [other] = (await sign(plan, ben, 'ben')).approvals;
        const sig = other?.signatures[0]?.sig ?? '';
        const forged = approvals.map((each) => ({
          ...each,
          signatures: each.signatures.map(({ keyid }) => ({ keyid, sig })),
        }));
        return () => run({ ...plan, approvals: forged });
      },
    ],
  ])('%s does not count', async (_, sentence, make) => {
    expect(refusal(await make(await scene()))).toMatch(sentence);
  });

  test('no change of any byte of an approval leaves it valid', async () => {
    const { plan, ana, policy, sign } = await scene();
    const signed = await sign(plan, ana, 'ana');
    const text = planFileText(signed);
    const from = text.indexOf('"approvals"');
    expect(from).toBeGreaterThan(0);
    for (let at = from; at < text.length; at++) {
      const changed = `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) ^ 1)}${text.slice(at + 1)}`;
      await writeFile(plan.file, changed);
      const counted = await readApprovedPlan(plan.file).then(
        (read) => judgeApprovals(read, policy.approvers, byOps).filter(({ counts: each }) => each).length,
        () => 0,
      );
      // Only the layout may change.
      const isLayout = /\s/.test(text[at] ?? '') || /\s/.test(changed[at] ?? '');
      if (!isLayout) expect(counted, `byte ${at} of ${text.length}`).toBe(0);
    }
  });
});

test.each([
  [{ '': 500 }, { a: 500 }, false],
  [{ '': 500 }, { a: 300, b: 201 }, true],
  [{ '': 0 }, { a: 1 }, true],
  [{ '': 0 }, { a: 0 }, false],
  [{ a: 10 }, { a: 10, b: 900 }, false],
  [{ a: 10 }, { a: 11 }, true],
  [{ a: 10, '': 100 }, { b: 101 }, true],
  [{}, { a: 1_000_000 }, false],
])('above %j, %j needs an approval: %s', (above, callable, needs) => {
  expect(needsApproval({ approvers: new Map(), needed: 1, above }, callable)).toBe(needs);
});
