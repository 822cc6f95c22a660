import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { FileBank } from '../../../sandbox/file-bank/file-bank.ts';
import { fileBankRoutes } from '../../../sandbox/file-bank/routes.ts';
import { startSftpServer } from '../../../sandbox/file-bank/sftp/server.ts';
import type { Json } from '../../harness/api.ts';

/** The sandbox's bank of files, in this process and by a clock of the test's, with its SFTP server and its counter over HTTP. */
export interface FileBankHere {
  /** As that of a sandbox. */
  readonly url: string;
  /** The folders of a customer. */
  folders(customer: string): Readonly<Record<'in' | 'out' | 'archive', string>>;
  ask(path: string, body: Json): Promise<Json>;
  /** Does what has fallen due. */
  clockMoved(): void;
  stop(): Promise<void>;
}

export async function startFileBankHere(dataDirectory: string, now: () => Date): Promise<FileBankHere> {
  const directory = join(dataDirectory, 'sandbox/file-bank');
  const onFailure = (error: unknown) => {
    throw error;
  };
  const bank = await FileBank.open({ directory, now, onFailure });
  const sftp = await startSftpServer({ bank, directory, host: '127.0.0.1', port: 0, authorizedKeys: null });
  const app = new Hono().route('/file-bank', fileBankRoutes(bank, sftp));
  const counter = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => counter.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(counter.address() as AddressInfo).port}`;
  return {
    url,
    folders: (customer) => {
      const of = bank.folders.of(customer);
      return { in: join(of, 'in'), out: join(of, 'out'), archive: join(of, 'archive') };
    },
    ask: async (path, body) => {
      const answer = await fetch(`${url}/file-bank${path}`, { method: 'POST', body: JSON.stringify(body) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path}: ${text}`);
      return JSON.parse(text);
    },
    clockMoved: () => bank.clockMoved(),
    stop: async () => {
      await new Promise((resolve) => counter.close(resolve));
      await sftp.close();
      await bank.close();
    },
  };
}
