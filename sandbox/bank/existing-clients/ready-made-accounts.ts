import type { ExistingAccount } from '../books.ts';
import { identifiersOf } from '../identifiers.ts';

/** Accounts of every new sandbox bank's ready-made clients; docs/sandbox.md lists them. */
function account(
  sourceId: string,
  owner: string,
  place: { readonly currency: string; readonly country: string },
  accountNumber: string,
  balanceMinor: bigint,
): ExistingAccount {
  return {
    sourceId,
    reference: `SBA-${sourceId}`,
    clientReference: `SBC-${owner}`,
    status: 'open',
    ...place,
    balanceMinor,
    identifiers: identifiersOf(place, accountNumber),
    ourReference: null,
  };
}

const STERLING = { currency: 'GBP', country: 'GB' };

const ACCOUNTS: readonly ExistingAccount[] = [
  account('account-individual-gbp', 'client-individual', STERLING, '70010001', 125_075n),
  account('account-individual-eur', 'client-individual', { currency: 'EUR', country: 'DE' }, '7001000201', 30_000n),
  account('account-corporate-gbp', 'client-corporate', STERLING, '70010003', 8_400_000n),
  account('account-corporate-usd', 'client-corporate', { currency: 'USD', country: 'US' }, '7001000401', 1_234_567n),
  account('account-accents-eur', 'client-accents', { currency: 'EUR', country: 'FR' }, '70010005001', 9_999n),
  account('account-accents-empty', 'client-accents', { currency: 'EUR', country: 'IE' }, '70010006', 0n),
  account(
    'account-other-script-jpy',
    'client-other-script',
    { currency: 'JPY', country: 'JP' },
    '7001000701',
    500_000n,
  ),
  account('account-without-address-gbp', 'client-without-address', STERLING, '70010008', 4_200n),
  account('account-faulty-gbp', 'client-faulty', STERLING, '70010009', 100n),
  account('account-closed-gbp', 'client-closed', STERLING, '70010010', 5_000n),
];

export const READY_MADE_ACCOUNTS: ReadonlyMap<string, ExistingAccount> = new Map(
  ACCOUNTS.map((one) => [one.sourceId, one]),
);
