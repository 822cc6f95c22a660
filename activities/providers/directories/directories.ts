import type { Configuration } from '../../../config/configuration.ts';
import type { DirectoryTls } from '../../../config/environment/directory-tls.ts';
import type { Environment } from '../../../config/environment.ts';
import { type ProviderCalls, UNMEASURED } from '../../../config/metrics/provider-calls.ts';
import type { DirectoryCode } from '../../../domain/beneficiaries/verifications.ts';
import { inTraceOfRequest, measured } from '../ports/measured.ts';
import { createConfirmationOfPayee } from './confirmation-of-payee.ts';
import type { NameDirectory } from './directory-port.ts';
import { createVerificationOfPayee } from './verification-of-payee.ts';

/** By directory, then by the provider that queries it. */
export type NameDirectories = Readonly<Record<DirectoryCode, ReadonlyMap<string, NameDirectory>>>;

interface Settings extends Pick<Environment, 'sandboxUrl'> {
  /** Of the directory eu-vop. */
  readonly directoryTls: DirectoryTls;
}

type Create = (settings: Settings) => NameDirectory;

/** The providers that can query each directory. To add one, write an adapter and list it here. */
const ADAPTERS: Readonly<Record<DirectoryCode, Readonly<Record<string, Create>>>> = {
  'pay-uk': {
    'sandbox-bank': ({ sandboxUrl }) => createConfirmationOfPayee({ url: sandboxUrl, provider: 'sandbox-bank' }),
  },
  'eu-vop': {
    'sandbox-bank': ({ sandboxUrl, directoryTls: tls }) =>
      createVerificationOfPayee({ url: sandboxUrl, provider: 'sandbox-bank', bic: 'SBNKDE2L', tls }),
  },
};

/** The adapters of each directory, by configured provider; may be empty. `calls` is notified of every call. */
export function createDirectories(
  configuration: Pick<Configuration, 'providers'>,
  settings: Settings,
  calls: ProviderCalls = UNMEASURED,
): NameDirectories {
  const adaptersOf = (directory: DirectoryCode) => {
    const adapters = new Map<string, NameDirectory>();
    for (const { code, method } of configuration.providers) {
      const creators = ADAPTERS[directory];
      const create = method === 'built-in' && Object.hasOwn(creators, code) ? creators[code] : undefined;
      if (create !== undefined) adapters.set(code, measured(create(settings), code, calls));
    }
    return adapters;
  };
  return { 'pay-uk': adaptersOf('pay-uk'), 'eu-vop': adaptersOf('eu-vop') };
}

/** See `inTraceOfRequest`. */
export function directoriesInTrace(directories: NameDirectories, traceparent: string | undefined): NameDirectories {
  return {
    'pay-uk': inTraceOfRequest(directories['pay-uk'], traceparent),
    'eu-vop': inTraceOfRequest(directories['eu-vop'], traceparent),
  };
}
