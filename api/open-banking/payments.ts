import { findAccount } from '../../db/accounts/reads.ts';
import { findOrCreateCreditor } from '../../db/beneficiaries/creditors.ts';
import { readClock } from '../../db/common/clock.ts';
import { type ConsentRow, consentOf } from '../../db/open-banking/consents.ts';
import { consumeConsent, recordConsentedPayment } from '../../db/open-banking/grants.ts';
import { createOutgoingTransfer } from '../../db/outgoing-transfers/creation.ts';
import { openOutgoingTransfer, type TransferFacts } from '../../db/outgoing-transfers/transfer-facts.ts';
import type { Transaction } from '../../db/query/database.ts';
import type { Account } from '../../domain/accounts/accounts.ts';
import { DomainError, rejection } from '../../domain/common/errors.ts';
import type { BeneficiaryBankAccountId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { formatAmount } from '../../domain/common/money.ts';
import { feeMinor } from '../../domain/ledger/fees.ts';
import { type PaymentContent, requireConsentTransition } from '../../domain/open-banking/consents.ts';
import { creditorBankAccount, type PaymentSent, requireConsentedPayment } from '../../domain/open-banking/requests.ts';
import { OUTGOING_TRANSFER_STATUSES } from '../../domain/outgoing-transfers/statuses.ts';
import { offerOf } from '../../domain/providers/providers.ts';
import { named } from '../http/schemas/named.ts';
import { amount, country, currency, fields, picklist, uuid } from '../http/schemas/schemas.ts';
import type { Services } from '../http/services.ts';
import { grantRoute } from '../http/third-party-route.ts';
import { decideTransfer, requestedTransfer, type TransferOrder } from '../outgoing-transfers/validation.ts';
import { requireOpenBankingCountry } from './consents.ts';
import { CREDITOR_EXAMPLE, creditorAccountSent } from './requests.ts';

const postPayment = grantRoute(
  'payments',
  {
    method: 'POST',
    path: '/open-banking/{countryCode}/payments',
    operationId: 'createConsentedPayment',
    summary: 'Make the payment of the consent',
    description:
      'A consent allows one payment, as the account holder approved it: a different amount, currency or creditor is rejected. Creates an outgoing transfer from the account of the consent, on its date if it is scheduled, by the first scheme of the account’s provider that can carry it.',
    tag: 'Open banking access',
    params: { countryCode: country() },
    workflows: {
      direct: {
        data: fields({
          payment: named(
            'Payment',
            fields({
              instructedAmount: amount(),
              instructedCurrency: currency(),
              creditorAccount: creditorAccountSent,
            }),
          ),
        }),
      },
    },
    response: fields({
      payment: named(
        'CreatedPayment',
        fields({
          outgoingTransferId: uuid<OutgoingTransferId>(),
          status: named('OutgoingTransferStatus', picklist(OUTGOING_TRANSFER_STATUSES)),
        }),
      ),
    }),
    errors: [
      'consent.country.not_supported',
      'consent.status.invalid',
      'consent.content.mismatch',
      'account.status.not_active',
      'client.status.not_active',
      'transfer.scheme.unavailable',
      'transfer.amount.limit_exceeded',
      'transfer.date.invalid',
    ],
    examples: {
      requests: {
        direct: {
          data: { payment: { instructedAmount: 10.5, instructedCurrency: 'GBP', creditorAccount: CREDITOR_EXAMPLE } },
        },
      },
      response: { payment: { outgoingTransferId: '0199c4d5-6a21-7e90-b3c4-8d2f1a0b9c57', status: 'pending' } },
    },
  },
  async ({ params, body, grant, requestId, services, initiator, transaction }) => {
    requireOpenBankingCountry(params.countryCode);
    return transaction(async (tx) => {
      const content = await requirePayment(tx, grant, body.data.payment);
      const account = await payingAccount(tx, grant);
      const creditor = {
        clientId: account.clientId,
        name: content.creditorAccount.name,
        bankAccount: creditorBankAccount(content.creditorAccount, content.instructedCurrency),
      };
      const bankAccount = await findOrCreateCreditor(tx, creditor, account.id, initiator);
      const facts = await openOutgoingTransfer(tx, null, { source: account.id, destination: null, bankAccount });
      if (facts === null) throw new Error('a transfer without an Idempotency-Key found its key taken');
      // Under the account's lock: the second of two concurrent payments waits for it, and then finds the consent consumed.
      await consumeConsent(tx, grant.id, initiator);
      const payment = { grant, requestId, content, account, bankAccount, facts };
      const { order, decided } = decideByFirstScheme(services, payment);
      const row = requestedTransfer(order, decided);
      const created = createOutgoingTransfer(tx, row, null, decided.accounts, services.configuration);
      await recordConsentedPayment(tx, grant.id, created.id);
      return { data: { payment: { outgoingTransferId: created.id, status: created.status } } };
    });
  },
);

/** Returns the approved payment; rejects a different payment or a consumed consent. */
async function requirePayment(tx: Transaction, grant: ConsentRow, sent: PaymentSent): Promise<PaymentContent> {
  const consent = consentOf(grant);
  requireConsentTransition(consent, 'consumed', await readClock(tx));
  const { content } = consent;
  if (content.scope !== 'payments') throw new Error('a consent to accounts was used for a payment');
  requireConsentedPayment(content, sent);
  return content;
}

async function payingAccount(tx: Transaction, { id, accountIds }: ConsentRow): Promise<Account> {
  const [accountId] = accountIds ?? [];
  const account = accountId === undefined ? null : await findAccount(tx, accountId);
  if (account === null) throw new Error(`the consent ${id} to a payment has no account`);
  return account;
}

interface Payment {
  readonly grant: ConsentRow;
  readonly requestId: string;
  readonly content: PaymentContent;
  readonly account: Account;
  readonly bankAccount: BeneficiaryBankAccountId;
  readonly facts: TransferFacts;
}

/**
 * Decides the transfer by the first scheme that the account's provider offers and that can carry the payment; throws the first scheme's
 * rejection if none can, and any rejection for another reason.
 */
function decideByFirstScheme({ configuration }: Pick<Services, 'configuration'>, payment: Payment) {
  const source = payment.facts.accounts.get(payment.account.id);
  const offered = source === undefined ? [] : (offerOf(source, configuration.providers)?.schemes ?? []);
  let rejected: DomainError | null = null;
  for (const scheme of offered) {
    const order = orderOf(configuration, payment, scheme);
    try {
      return { order, decided: decideTransfer(order, payment.facts, true) };
    } catch (error) {
      if (!(error instanceof DomainError) || !OF_THE_SCHEME.has(error.code)) throw error;
      rejected ??= error;
    }
  }
  throw rejected ?? noScheme(payment.account);
}

function noScheme({ id, currency: of }: Account) {
  const message = `The account's provider offers no scheme for ${of}.`;
  return rejection('transfer.scheme.unavailable', ['account', 'id', id], message);
}

const OF_THE_SCHEME: ReadonlySet<string> = new Set(['transfer.scheme.unavailable', 'transfer.amount.limit_exceeded']);

/** A scheduled payment is made on the day of its date-time in the scheme's time zone. */
function orderOf(
  configuration: Services['configuration'],
  { grant, requestId, content, account, bankAccount }: Payment,
  scheme: string,
): TransferOrder {
  const { instructedAmountMinor, instructedCurrency, requestedExecutionAt } = content;
  const paid = { scheme, currency: instructedCurrency };
  const request = {
    clientId: account.clientId,
    ...paid,
    amount: formatAmount(instructedAmountMinor, instructedCurrency),
    amountMinor: instructedAmountMinor,
    scope: 'external' as const,
    source: { type: 'client-account' as const, accountId: account.id },
    destination: { type: 'beneficiary-bank-account' as const, beneficiaryBankAccountId: bankAccount },
    transferDate: requestedExecutionAt === null ? undefined : configuration.schemes.today(paid, requestedExecutionAt),
  };
  return {
    request,
    feeMinor: feeMinor(request, {}, configuration.prices),
    origin: 'consented-payment',
    createdBy: grant.thirdPartyProviderId,
    requestId,
    configuration,
  };
}

export const paymentRoutes = [postPayment];
