import type { Configuration } from '../../config/configuration.ts';
import type { Environment } from '../../config/environment.ts';
import { type ProviderCalls, UNMEASURED } from '../../config/metrics/provider-calls.ts';
import type { DirectoryCode } from '../../domain/beneficiaries/verifications.ts';
import type { NameDirectory } from './directory-port.ts';
import { measured } from './ports/measured.ts';
import { createSandboxDirectory } from './sandbox-directory.ts';

/** By directory, then by the provider that queries it. */
export type NameDirectories = Readonly<Record<DirectoryCode, ReadonlyMap<string, NameDirectory>>>;

/** Providers that can query `pay-uk`. A new one is a file here and a line. */
const PAY_UK: Readonly<Record<string, (settings: Pick<Environment, 'sandboxUrl'>) => NameDirectory>> = {
  'sandbox-bank': ({ sandboxUrl }) => createSandboxDirectory({ url: sandboxUrl, provider: 'sandbox-bank' }),
};

/** Each directory's adapters, by configured provider. The service starts without any. `calls` hears of every call. */
export function createDirectories(
  configuration: Pick<Configuration, 'providers'>,
  settings: Pick<Environment, 'sandboxUrl'>,
  calls: ProviderCalls = UNMEASURED,
): NameDirectories {
  const payUk = new Map<string, NameDirectory>();
  for (const { code, method } of configuration.providers) {
    const create = method === 'built-in' && Object.hasOwn(PAY_UK, code) ? PAY_UK[code] : undefined;
    if (create !== undefined) payUk.set(code, measured(create(settings), code, calls));
  }
  return { 'pay-uk': payUk };
}
