import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ExchangeOptions,
  type FileBankExchange,
  fileBankExchange,
} from '../../../dev/servers/file-bank-exchange.ts';

const PASSPHRASE = 'a passphrase that tests know';

export interface SandboxExchanges {
  /** Of each provider, by its code. */
  readonly exchanges: Readonly<Record<string, FileBankExchange>>;
  /** Variables for the service's processes: its configuration file, and how its keys are opened. */
  readonly environment: { readonly CONFIG_FILE: string; readonly SFTP_PASSPHRASE: string };
}

export type SandboxExchange = Omit<ExchangeOptions, 'sandbox' | 'customer' | 'passphrase'>;

/**
 * Customers of a running sandbox's file bank, one for each provider code, and a configuration file with those providers, in `dataDirectory`,
 * on top of what `configuration` says besides.
 */
export async function sandboxExchanges(
  sandbox: ExchangeOptions['sandbox'],
  providers: Readonly<Record<string, SandboxExchange>>,
  configuration: Readonly<Record<string, unknown>> = {},
): Promise<SandboxExchanges> {
  const exchanges: Record<string, FileBankExchange> = {};
  for (const [code, exchange] of Object.entries(providers)) {
    exchanges[code] = await fileBankExchange({ ...exchange, sandbox, customer: code, passphrase: PASSPHRASE });
  }
  const configured = Object.entries(exchanges).map(([code, { provider }]) => [code, provider] as const);
  const file = join(sandbox.dataDirectory, 'bank-files.json');
  writeFileSync(file, JSON.stringify({ ...configuration, providers: Object.fromEntries(configured) }));
  return { exchanges, environment: { CONFIG_FILE: file, SFTP_PASSPHRASE: PASSPHRASE } };
}
