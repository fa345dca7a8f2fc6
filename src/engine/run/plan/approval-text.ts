import { escapeInvisible } from '../../../base/text/printable.ts';
import { type Actor, thisActor } from '../../../domain/actor.ts';

export interface Approval {
  /** SHA-256 of the plan, in hexadecimal. */
  readonly plan: string;
  readonly address: string;
  readonly rows: number;
  readonly calls: number;
  readonly by: Pick<Actor, 'user' | 'host'>;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The run must start before this time, ISO 8601 UTC. */
  readonly until: string;
}

export interface SignedApproval {
  readonly approval: Approval;
  readonly text: string;
  readonly signature: string;
}

/** The text that is signed. */
export function approvalText({ plan, address, rows, calls, by, at, until }: Approval): string {
  return [
    'cqbatch-approval 1',
    `plan sha256:${plan}`,
    `address ${address}`,
    `rows ${rows}`,
    `calls ${calls}`,
    `by ${escapeInvisible(by.user)} on ${escapeInvisible(by.host)}`,
    `at ${at}`,
    `until ${until}`,
    'for one run',
    '',
  ].join('\n');
}

const form =
  /^cqbatch-approval 1\nplan sha256:([0-9a-f]{64})\naddress (\S+)\nrows (\d{1,15})\ncalls (\d{1,15})\nby (.+) on (.+)\nat (\S+)\nuntil (\S+)\nfor one run\n$/;

const signatureBegins = '-----BEGIN SSH SIGNATURE-----';

/** Undefined for other content. Does not check the signature. */
export function parseApproval(content: string): SignedApproval | undefined {
  const at = content.indexOf(signatureBegins);
  const text = content.slice(0, at);
  const [, plan, address, rows, calls, user, host, made, until] = (at < 0 ? null : form.exec(text)) ?? [];
  if (plan === undefined || address === undefined || user === undefined || host === undefined)
    return undefined;
  if (made === undefined || until === undefined) return undefined;
  const by = { user, host };
  const approval = { plan, address, rows: Number(rows), calls: Number(calls), by, at: made, until };
  return { approval, text, signature: content.slice(at) };
}

export function approverHere(): Approval['by'] {
  const { user, host } = thisActor();
  return { user, host };
}
