import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { envelopeSchema, openEnvelope, signStatement } from '../../src/signature/envelope.ts';
import { createKey } from '../../src/signature/key-file.ts';
import type { PublicKey } from '../../src/signature/public-key.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const content = {
  subject: [{ name: 'rows.csv', digest: { sha256: 'a'.repeat(64) } }],
  predicateType: 'urn:example:1',
  predicate: { rows: 3 },
};

/** Two keys, and what the first one signed. */
async function signed() {
  const folder = await temporaryFolder();
  const ana = await createKey(join(folder, 'ana'));
  const ben = await createKey(join(folder, 'ben'));
  return { ana, ben, envelope: await signStatement(content, ana) };
}

/** What a file with this text says; undefined when it is refused. */
function signersOf(text: string, keys: readonly PublicKey[]): readonly string[] | undefined {
  try {
    const { signers } = openEnvelope(envelopeSchema.parse(JSON.parse(text)), keys);
    return signers.map(({ fingerprint }) => fingerprint);
  } catch {
    return undefined;
  }
}

describe('an envelope', () => {
  test('holds a statement of in-toto, signed as DSSE says', async () => {
    const { ana, ben, envelope } = await signed();
    expect(openEnvelope(envelope, [ben.publicKey, ana.publicKey])).toEqual({
      statement: { _type: 'https://in-toto.io/Statement/v1', ...content },
      signers: [ana.publicKey],
    });
    const payload = Buffer.from(envelope.payload, 'base64');
    const bytes = Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${payload.length} ${payload}`);
    const [signature] = envelope.signatures;
    expect(ana.publicKey.verifies(bytes, Buffer.from(signature?.sig ?? '', 'base64'))).toBe(true);
  });

  test('has no signer among other keys', async () => {
    const { ben, envelope } = await signed();
    expect(openEnvelope(envelope, [ben.publicKey]).signers).toEqual([]);
  });

  test('is not accepted in the name of another key', async () => {
    const { ana, ben, envelope } = await signed();
    const [signature] = envelope.signatures;
    const forged = { ...envelope, signatures: [{ sig: '', ...signature, keyid: ben.publicKey.fingerprint }] };
    expect(() => openEnvelope(forged, [ana.publicKey, ben.publicKey])).toThrow(/does not fit/);
  });

  test('has no signer after a change of any byte', async () => {
    const { ana, ben, envelope } = await signed();
    const keys = [ana.publicKey, ben.publicKey];
    const text = JSON.stringify(envelope);
    for (let at = 0; at < text.length; at++)
      for (const flipped of [1, 4, 32]) {
        const changed = String.fromCharCode(text.charCodeAt(at) ^ flipped);
        const signers = signersOf(text.slice(0, at) + changed + text.slice(at + 1), keys);
        expect(signers ?? [], `byte ${at}`).toEqual([]);
      }
  });
});
