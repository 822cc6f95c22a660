import { join } from 'node:path';
import { pythonEnvironment } from './python-environment.ts';

const VERSION = '4.32.0';
const SCHEMATHESIS = { name: 'Schemathesis', version: VERSION, packages: [`schemathesis==${VERSION}`] };

export const PYTHON_MISSING =
  'No Python 3.10 or later with venv found, so the contract test is skipped. Install python3 and python3-venv to run it.';

/** Path of Schemathesis, installed with pip into the user's cache on first use; null without a suitable Python. */
export async function schemathesis(onProgress: (line: string) => void): Promise<string | null> {
  const commands = await pythonEnvironment(SCHEMATHESIS, onProgress);
  return commands === null ? null : join(commands, 'schemathesis');
}
