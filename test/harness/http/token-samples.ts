import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_DIRECTORY } from '../../tools/run/commands.ts';
import { TEST_AUDIENCE, type TestApi } from '../api.ts';

const execute = promisify(execFile);

/** The guide’s only sample in a language. */
export function tokenSample(language: 'ts' | 'python'): string {
  const guide = readFileSync(join(PROJECT_DIRECTORY, 'docs/guides/authenticate.md'), 'utf8');
  const found = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(guide)?.[1];
  if (found === undefined) throw new Error(`the guide has no sample in ${language}`);
  return found;
}

/** Runs a sample for a machine user with a key of its own, and gives what it prints. `command` takes the sample as its last argument. */
export async function runTokenSample(api: TestApi, sample: string, command: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'token-sample-'));
  try {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const KEY_FILE = join(folder, 'caller.key');
    writeFileSync(KEY_FILE, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const KID = randomUUID();
    const key = { kid: KID, algorithm: 'EdDSA', jwk: publicKey.export({ format: 'jwk' }) };
    const data = { machineUser: { name: 'sample', roles: ['viewer'], key } };
    const made = await api.call('POST', '/machine-users', { workflow: { code: 'direct' }, data }, { as: 'admin' });
    const { id } = made.body.data.machineUser;
    const env = { ...process.env, API_URL: api.url, AUDIENCE: TEST_AUDIENCE, CALLER: id, KEY_FILE, KID };
    const [program = '', ...programArguments] = command;
    const { stdout } = await execute(program, [...programArguments, sample], { env, cwd: PROJECT_DIRECTORY });
    return stdout.trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
