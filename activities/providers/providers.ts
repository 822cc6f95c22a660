import type { Configuration } from '../../config/configuration.ts';
import type { Environment } from '../../config/environment.ts';
import { type ProviderCalls, UNMEASURED } from '../../config/metrics/provider-calls.ts';
import type { Database } from '../../db/query/database.ts';
import { iso20022Provider } from './iso20022/iso20022.ts';
import { missingCalls, opensAccounts, type Provider } from './port.ts';
import { measured } from './ports/measured.ts';
import { createSandboxBank } from './sandbox-bank.ts';

type Settings = Pick<Environment, 'sandboxUrl' | 'sandboxBankSecret'> & {
  /** For providers that are instructed through it. */
  readonly database?: Database;
};

type Configured = Pick<Configuration, 'providers' | 'schemes' | 'bankProfiles' | 'fileExchanges'>;

/** `code`: the provider's, which for banks with files is each bank's own. */
type Adapters = Readonly<Record<string, (settings: Settings, configuration: Configured, code: string) => Provider>>;

/** The adapter of every provider that has the setting of this name. */
const BY_FILES = 'iso20022';

/** Adapters of the providers that the service can call. To add one, write an adapter and list it here. */
const ADAPTERS: Adapters = {
  'sandbox-bank': ({ sandboxUrl, sandboxBankSecret }) => {
    if (sandboxBankSecret === null) {
      throw new Error(
        'SANDBOX_BANK_SECRET is not set. Set it to the secret with which the sandbox bank signs callbacks.',
      );
    }
    return createSandboxBank({ url: sandboxUrl, secret: sandboxBankSecret });
  },
  [BY_FILES]: ({ database }, configuration, code) => {
    const profile = configuration.bankProfiles.get(configuration.fileExchanges.get(code)?.profile ?? '');
    if (profile === undefined) throw new Error(`${code} has no profile: set providers.${code}.iso20022.profile.`);
    if (database === undefined) throw new Error(`${code} is instructed through Postgres: set DATABASE_URL.`);
    return iso20022Provider({ database, configuration, provider: code, profile });
  },
};

/** test/providers/conformance has a row for each. */
export const ADAPTER_NAMES: readonly string[] = Object.keys(ADAPTERS);

/** Adapters of the configured built-in providers, by code. Plug-in providers have none: their operators call us. `calls` is notified of every call. */
export function createProviders(
  configuration: Configured,
  settings: Settings,
  calls: ProviderCalls = UNMEASURED,
  adapters: Adapters = ADAPTERS,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const { code, method, offers } of configuration.providers) {
    if (method === 'plug-in') continue;
    const name = configuration.fileExchanges.has(code) ? BY_FILES : code;
    const create = Object.hasOwn(adapters, name) ? adapters[name] : undefined;
    if (create === undefined) {
      throw new Error(`The built-in provider ${code} has no adapter. Configure it as plug-in, or write an adapter.`);
    }
    const provider = create(settings, configuration, code);
    const missing = missingCalls(provider);
    if (missing.length > 0) throw new Error(`The adapter of ${code} lacks ${missing.join(', ')}.`);
    if (!opensAccounts(provider) && offers.some(({ bank }) => (bank?.pooledAccount ?? null) === null)) {
      throw new Error(`${code} opens no accounts: each of its offers needs the pooledAccount into which payers pay.`);
    }
    providers.set(code, measured(provider, code, calls));
  }
  return providers;
}
