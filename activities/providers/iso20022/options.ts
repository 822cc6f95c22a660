import type { Configuration } from '../../../config/configuration.ts';
import type { PayingAccount } from '../../../db/bank-files/instructions.ts';
import { DatabaseUnavailable } from '../../../db/postgres/failures.ts';
import type { Database } from '../../../db/query/database.ts';
import type { BankProfile } from '../../../domain/bank-files/profiles.ts';
import type { ProviderOffer } from '../../../domain/providers/providers.ts';
import { ProviderUnavailable } from '../port.ts';

/** What the calls of a bank that takes files share. */
export interface Options {
  readonly database: Database;
  readonly configuration: Pick<Configuration, 'providers' | 'schemes'>;
  /** Its code. */
  readonly provider: string;
  readonly profile: BankProfile;
}

/** The account that all accounts of an offer share, which is the one that pays. */
export function payingAccount(offer: ProviderOffer | undefined, currency: string): PayingAccount {
  const of = offer?.bank ?? null;
  const pooled = of?.pooledAccount ?? null;
  if (of === null || pooled === null) throw new Error(`there is no pooled account in ${currency}`);
  return { iban: pooled.iban, accountNumber: pooled.accountNumber, routingCodes: of.routingCodes };
}

/** Without Postgres nothing is known of the outcome. */
export async function answered<Answer>(provider: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    throw new ProviderUnavailable(provider, 'connection', { cause: error });
  }
}
