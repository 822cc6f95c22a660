import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import SftpClient from 'ssh2-sftp-client';
import type { RunningSandbox } from '../../harness/servers/sandbox.ts';
import { type ToldMessage, told } from './bank-answers.ts';

export interface FileOfBank {
  readonly name: string;
  readonly message: ToldMessage;
}

const READY_MS_MAX = 120_000;

/** A connection of a customer, by the key that the sandbox makes. */
export async function signIn(sandbox: RunningSandbox, directory: string, customer: string): Promise<SftpClient> {
  const { sftpPort } = (await (await fetch(`${sandbox.url}/file-bank`)).json()) as { sftpPort: number };
  const client = new SftpClient(customer);
  // What cuts a connection is part of the tests, whose calls fail by it.
  client.on('error', () => {});
  // A small packet that waits for the last one's acknowledgement makes each call thirty times as slow.
  const sock = connect({ host: '127.0.0.1', port: sftpPort, noDelay: true });
  await once(sock, 'connect');
  await client.connect({
    sock,
    username: customer,
    privateKey: readFileSync(join(directory, 'sandbox/file-bank/client_key')),
    readyTimeout: READY_MS_MAX,
  });
  return client;
}

/** Writes under a temporary name, then renames. */
export async function send(client: SftpClient, name: string, content: string): Promise<void> {
  await client.put(Buffer.from(content), `/in/${name}.part`);
  await client.rename(`/in/${name}.part`, `/in/${name}`);
}

/** All that stands in `out`. */
export async function collect(client: SftpClient): Promise<readonly FileOfBank[]> {
  const files: FileOfBank[] = [];
  for (const { name } of await client.list('/out')) {
    const content = await client.get(`/out/${name}`);
    if (!Buffer.isBuffer(content)) throw new Error('a file comes as a buffer');
    files.push({ name, message: told(content) });
  }
  return files;
}
