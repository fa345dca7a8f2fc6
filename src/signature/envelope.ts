import { z } from 'zod';
import type { SigningKey } from './key-file.ts';
import type { PublicKey } from './public-key.ts';

/**
 * Signed statements: in-toto's Statement v1 (https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md) in an envelope
 * of DSSE v1 (https://github.com/secure-systems-lab/dsse), which other programs read, too.
 */

const payloadType = 'application/vnd.in-toto+json';
const statementType = 'https://in-toto.io/Statement/v1';

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

const statementSchema = z.strictObject({
  _type: z.literal(statementType),
  /** What the statement is about. */
  subject: z
    .array(z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: sha256Schema }) }))
    .min(1),
  predicateType: z.string(),
  predicate: z.unknown(),
});

export type Statement = Readonly<z.infer<typeof statementSchema>>;

export const envelopeSchema = z.strictObject({
  payloadType: z.literal(payloadType),
  /** JSON of a statement, in base64. */
  payload: z.base64(),
  signatures: z
    .array(
      z.strictObject({
        /** Fingerprint of the key. */
        keyid: z.string(),
        /** In base64. */
        sig: z.base64(),
      }),
    )
    .min(1),
});

export type Envelope = Readonly<z.infer<typeof envelopeSchema>>;

export async function signStatement(statement: Omit<Statement, '_type'>, key: SigningKey): Promise<Envelope> {
  const payload = Buffer.from(JSON.stringify({ _type: statementType, ...statement }));
  const sig = await key.sign(signedBytes(payload));
  return {
    payloadType,
    payload: payload.toString('base64'),
    signatures: [{ keyid: key.publicKey.fingerprint, sig: sig.toString('base64') }],
  };
}

/**
 * Reads an envelope. Which signatures count is for the caller to say: an envelope without one by the keys has no signers.
 *
 * @param keys that may have signed it
 * @returns the statement, and those of the keys whose signatures are valid
 * @throws a RangeError that says what is wrong with the statement, or which signature is forged
 */
export function openEnvelope(
  { payload: encoded, signatures }: Envelope,
  keys: readonly PublicKey[],
): { readonly statement: Statement; readonly signers: readonly PublicKey[] } {
  const payload = fromBase64(encoded);
  const signers = signatures.flatMap(({ keyid, sig }) => {
    const signature = fromBase64(sig);
    const key = keys.find(({ fingerprint }) => fingerprint === keyid);
    if (key === undefined) return [];
    if (!key.verifies(signedBytes(payload), signature))
      throw new RangeError(`the signature of ${keyid} does not fit: signature or statement was changed`);
    return [key];
  });
  return { statement: parseStatement(payload), signers };
}

/** What is signed: DSSE's pre-authentication encoding. */
function signedBytes(payload: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
    payload,
  ]);
}

/** What an envelope says; its signatures are not checked. @throws a RangeError */
export function statementIn({ payload }: Envelope): Statement {
  return parseStatement(fromBase64(payload));
}

function parseStatement(payload: Buffer): Statement {
  try {
    return statementSchema.parse(JSON.parse(payload.toString()));
  } catch (error) {
    throw new RangeError('it does not hold a statement of in-toto', { cause: error });
  }
}

/** Node ignores what is not base64; only one text for each content is accepted. */
function fromBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new RangeError('its base64 was changed');
  return bytes;
}
