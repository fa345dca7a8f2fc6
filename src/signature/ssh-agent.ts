import { connect } from 'node:net';
import { keyType, type PublicKey } from './public-key.ts';
import { SshReader, sshNumber, sshText } from './ssh-format.ts';

/** Messages of the agent protocol (https://datatracker.ietf.org/doc/html/draft-ietf-sshm-ssh-agent, section 6). */
const signRequest = 13;
const signResponse = 14;

/**
 * Asks the ssh-agent for an Ed25519 signature. The agent has the private key, and may ask its user.
 *
 * @param socket path of the agent's socket, as in `SSH_AUTH_SOCK`
 * @returns undefined when the agent does not have the key, or its user says no
 * @throws the error of the connection
 */
export async function signWithAgent(
  socket: string,
  key: PublicKey,
  data: Buffer,
): Promise<Buffer | undefined> {
  const noFlags = 0;
  const content = Buffer.concat([
    Buffer.of(signRequest),
    sshText(key.blob),
    sshText(data),
    sshNumber(noFlags),
  ]);
  const answer = await ask(socket, sshText(content));
  if (answer[0] !== signResponse) return undefined;
  const reader = new SshReader(new SshReader(answer.subarray(1)).text());
  return reader.text().toString() === keyType ? reader.text() : undefined;
}

/** Sends one message. @returns the content of the answer */
function ask(socket: string, message: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const connection = connect(socket);
    let received = Buffer.alloc(0);
    connection.on('error', reject);
    connection.on('end', () => reject(new Error('the ssh-agent closed the connection')));
    connection.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (received.length < 4 || received.length < 4 + received.readUInt32BE()) return;
      connection.destroy();
      resolve(new SshReader(received).text());
    });
    connection.write(message);
  });
}
