import { createHash } from 'node:crypto';
import { readReceivedEvent } from '../../../../db/bank-files/statements.ts';
import { isIban } from '../../../../domain/accounts/identifiers/ibans.ts';
import { depositSchemeOf, isOtherPayer } from '../../../../domain/bank-files/exchange/receipts.ts';
import type { BookedEntry } from '../../../../domain/bank-files/messages.ts';
import { receivedPayment } from '../../../providers/iso20022/statement.ts';
import type { ProviderEvent } from '../../../providers/port.ts';
import { recordContradiction } from '../../../providers/reports/events.ts';
import type { BankServices } from '../bank.ts';
import type { Report } from './found.ts';

// Money in, as the service takes it from any provider.

/** Whether another payer was told of the money that has been received by this key. */
export async function isOfOtherPayer(services: BankServices, told: BookedEntry, of: Report): Promise<boolean> {
  const event = await readReceivedEvent(services.database.reader, services.bank.provider, told.key);
  return (
    event !== null && isOtherPayer(payerIn(receivedPayment(event.payload)), payerIn(receivedEvent(services, told, of)))
  );
}

function payerIn({ senderName, senderAccount }: Pick<ReceivedEvent, 'senderName' | 'senderAccount'>) {
  return {
    name: senderName,
    iban: senderAccount?.iban ?? null,
    accountNumber: senderAccount?.accountNumber ?? null,
  };
}

/** Who sent money, to which account, with which text. */
type Parties = Pick<ReceivedEvent, 'senderName' | 'senderAccount' | 'receiver' | 'remittanceText'>;

function namedIn({ bank, configuration }: BankServices, entry: BookedEntry): Parties {
  const provider = configuration.providers.find(({ code }) => code === bank.provider);
  const account = entry.creditorIban ?? entry.account;
  return {
    senderName: entry.debtor.name,
    senderAccount: senderOf(entry),
    receiver: isIban(account)
      ? { iban: account, accountNumber: null, routingCodes: {} }
      : { iban: null, accountNumber: account, routingCodes: routingCodesOf(provider, entry.currency) },
    remittanceText: entry.remittanceText,
  };
}

/** The money of an entry; its parties are those that the entry names, unless others are known. */
export function receivedEvent(
  services: BankServices,
  entry: BookedEntry,
  of: Report,
  parties: Parties = namedIn(services, entry),
): ReceivedEvent {
  const { bank, configuration } = services;
  const { currency, amountMinor } = entry;
  const provider = configuration.providers.find(({ code }) => code === bank.provider);
  return {
    type: 'payment-received',
    providerEventId: `entry:${entry.key}`,
    occurredAt: of.occurredAt,
    held: false,
    // Shortened and cleaned as every provider's texts are.
    ...receivedPayment({
      serviceProviderId: entry.key,
      serviceProviderReference: entry.bankReference,
      amountMinor,
      currency,
      scheme: depositSchemeOf(provider, currency),
      ...parties,
    }),
  };
}

type ReceivedEvent = Extract<ProviderEvent, { readonly type: 'payment-received' }>;

function senderOf({ debtor, currency }: BookedEntry) {
  const { name, iban, accountNumber, bic } = debtor;
  if (iban === null && accountNumber === null) return null;
  const numbers = { iban, accountNumber, routingCodes: bic === null ? {} : { bic } };
  return { accountHolderName: name, alias: null, ledgerNumber: null, country: null, currency, ...numbers };
}

type Offering = BankServices['configuration']['providers'][number] | undefined;

/** An account number names an account together with the bank's own routing codes. */
function routingCodesOf(provider: Offering, currency: string): Readonly<Record<string, string>> {
  const offer = provider?.offers.find(({ currencies }) => currencies === null || currencies.includes(currency));
  return offer?.bank?.routingCodes ?? {};
}

/** Records, once, that what an entry tells cannot be true next to what is known. */
export async function contradictReceived(services: BankServices, entry: BookedEntry, of: Report): Promise<void> {
  const event = receivedEvent(services, entry, of);
  // Each day or payer that is told so is another contradiction.
  const told = createHash('sha256')
    .update(JSON.stringify([entry.bookedOn, payerIn(event)]))
    .digest('hex');
  const contradiction = { ...event, providerEventId: `${event.providerEventId}:contradiction:${told.slice(0, 16)}` };
  await recordContradiction(services, services.bank.provider, contradiction);
}
