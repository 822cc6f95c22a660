import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonEnvironment } from './python-environment.ts';

const VERSION = '1.0.1';
const LIBRARY = { name: 'standardwebhooks', version: VERSION, packages: [`standardwebhooks==${VERSION}`] };

export interface SignedWebhook {
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const PROGRAM = `
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
def verified(one):
    try:
        return Webhook(one['secret']).verify(one['body'], one['headers'])
    except WebhookVerificationError:
        return None
print(json.dumps([verified(one) for one in json.loads(sys.argv[1])]))
`;

/**
 * What the reference library in Python reads in each webhook, null for one that it rejects. All is null without a suitable
 * Python.
 */
export async function verifiedInPython(webhooks: readonly SignedWebhook[]): Promise<readonly unknown[] | null> {
  const commands = await pythonEnvironment(LIBRARY, (line) => process.stderr.write(`${line}\n`));
  if (commands === null) return null;
  const { stdout } = await promisify(execFile)(join(commands, 'python'), ['-c', PROGRAM, JSON.stringify(webhooks)]);
  return JSON.parse(stdout);
}
