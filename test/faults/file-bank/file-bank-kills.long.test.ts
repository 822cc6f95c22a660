import { afterAll, beforeAll, test } from 'vitest';
import { temporaryDirectory } from '../../harness/servers/sandbox.ts';
import { FileBankServer, survivesKills } from './file-bank-server.ts';

const directory = temporaryDirectory();
let bank: FileBankServer;

beforeAll(async () => {
  bank = await FileBankServer.start(directory.path);
});

afterAll(async () => {
  await bank?.sandbox.kill();
  directory.remove();
});

test('the file bank is killed six times while files come and go: no payment is doubled, and no message is lost or half', () =>
  survivesKills(bank, 6, 62));
