import type { Configuration } from '../../config/configuration.ts';
import type { Environment } from '../../config/environment.ts';
import { type ProviderCalls, UNMEASURED } from '../../config/metrics/provider-calls.ts';
import type { Provider } from './port.ts';
import { measured } from './ports/measured.ts';
import { createSandboxBank } from './sandbox-bank.ts';

type Settings = Pick<Environment, 'sandboxUrl' | 'sandboxBankSecret'>;

/** Adapters of the providers that the service can call. A new one is a file here and a line. */
const ADAPTERS: Readonly<Record<string, (settings: Settings) => Provider>> = {
  'sandbox-bank': ({ sandboxUrl, sandboxBankSecret }) => {
    if (sandboxBankSecret === null) {
      throw new Error(
        'SANDBOX_BANK_SECRET is not set. Set it to the secret that the sandbox bank signs callbacks with.',
      );
    }
    return createSandboxBank({ url: sandboxUrl, secret: sandboxBankSecret });
  },
};

/** Adapters of the configured built-in providers, by code. Plug-in providers have none: their operators call us. `calls` hears of every call. */
export function createProviders(
  configuration: Pick<Configuration, 'providers'>,
  settings: Settings,
  calls: ProviderCalls = UNMEASURED,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const { code, method } of configuration.providers) {
    if (method === 'plug-in') continue;
    const create = Object.hasOwn(ADAPTERS, code) ? ADAPTERS[code] : undefined;
    if (create === undefined) {
      throw new Error(`No adapter exists for the built-in provider ${code}: make it plug-in, or write one.`);
    }
    providers.set(code, measured(create(settings), code, calls));
  }
  return providers;
}
