import { v5 as uuidFromName } from 'uuid';
import { newId } from '../../../db/common/ids.ts';
import type { Json } from '../api.ts';
import type { Random } from '../random.ts';

/**
 * Situations of one transfer: two clients, their accounts, a beneficiary and a request. Restates from the decisions
 * on its own which rejections there are and in which order, without the service's own rules.
 */
export type Status = 'pending' | 'active' | 'inactive' | 'suspended' | 'closed' | 'declined';
type Currency = 'GBP' | 'EUR' | 'CHF' | 'NOK' | 'CAD';

/** Outgoing transfers in francs are reviewed, incoming ones in kroner, and both in Canadian dollars. */
export const REVIEWED: Readonly<Record<'incoming' | 'outgoing', readonly Currency[]>> = {
  incoming: ['NOK', 'CAD'],
  outgoing: ['CHF', 'CAD'],
};

interface AccountCase {
  readonly known: boolean;
  readonly isPayers: boolean;
  readonly currency: Currency;
  readonly status: Status;
  /** The status of its main account; null: it is no sub-account. */
  readonly mainStatus: Status | null;
  readonly closing: boolean;
  readonly provider: 'custom-bank' | 'sandbox-bank';
  readonly postedMinor: number;
}

interface BankAccountCase {
  readonly known: boolean;
  readonly isPayers: boolean;
  readonly currency: Currency;
  readonly status: 'active' | 'inactive';
  readonly country: string;
  readonly iban: string | null;
  readonly bic: string | null;
  readonly sortCode: string | null;
}

export interface TransferCase {
  readonly scope: 'internal' | 'external';
  readonly clientKnown: boolean;
  readonly payerStatus: Status;
  readonly receiverStatus: Status;
  readonly source: AccountCase;
  readonly destination: AccountCase;
  readonly bankAccount: BankAccountCase;
  readonly reason: 'none' | 'known' | 'unknown';
  readonly currency: Currency;
  readonly scheme: string;
  /** A scheme attribute that no transfer of these currencies has. */
  readonly strangeAttribute: boolean;
  readonly amountMinor: number;
  readonly feeRatio: string | null;
  readonly transferDate: string | null;
}

/**
 * The service's clock when these cases begin: a Wednesday, a business day of every scheme. The next cut-off, which parts those before
 * it from those after, is more than three hours away.
 */
export const MORNING = '2027-06-16T10:05:00Z';
export const TODAY = '2027-06-16';
const DATES = {
  none: null,
  past: '2027-06-15',
  today: TODAY,
  weekend: '2027-06-19',
  last: '2029-06-16',
  late: '2029-06-17',
};
const IBANS = {
  GB: 'GB29NWBK60161331926819',
  DE: 'DE89370400440532013000',
  FR: 'FR1420041010050500013M02606',
  TR: 'TR330006100519786457841326',
};
const SCHEMES: Readonly<Record<Currency, readonly string[]>> = {
  GBP: ['faster-payments', 'chaps', 'swift', 'sepa'],
  EUR: ['sepa', 'sepa-instant', 'target2', 'swift', 'chaps'],
  CHF: ['swift', 'sepa'],
  NOK: ['swift', 'sepa'],
  CAD: ['swift', 'sepa'],
};
/** The schemes of the sandbox bank and the caller's own bank, by the decisions. */
const OFFERED: Readonly<Record<Currency, readonly string[]>> = {
  GBP: ['faster-payments', 'chaps', 'swift'],
  EUR: ['sepa', 'sepa-instant', 'target2', 'swift'],
  CHF: ['swift'],
  NOK: ['swift'],
  CAD: ['swift'],
};
const TOO_MUCH: Readonly<Record<Currency, number>> = {
  GBP: 100_000_001,
  EUR: 100_000_000_000,
  CHF: 100_000_001,
  NOK: 100_000_001,
  CAD: 100_000_001,
};
const STERLING_COUNTRIES = ['GB', 'GG', 'IM', 'JE'];
const LIMIT_MINOR: Readonly<Record<string, number>> = { 'faster-payments': 100_000_000, sepa: 99_999_999_999 };
const STRANGE_ATTRIBUTE = 'trade-order-id';
const REASON_OF_CHINA = '22a44cc8-b2c6-555a-87be-ad49f61e0340';

const FAULTS = { none: 5, one: 5, several: 3 };

/** A random situation; about half of them have at most one fault. */
export function drawCase(random: Random): TransferCase {
  const faults = random.weighted(FAULTS);
  const probability = faults === 'none' ? 0 : faults === 'one' ? 0.08 : 0.3;
  const wrong = () => random.chance(probability);
  const scope = random.pick(['internal', 'external'] as const);
  const currency = random.weighted({ GBP: 4, EUR: 2, CHF: 1, NOK: 1, CAD: 1 });
  const other: Currency = currency === 'GBP' ? 'EUR' : 'GBP';
  const statuses: readonly Status[] = ['pending', 'inactive', 'suspended', 'closed', 'declined'];
  const status = (): Status => (wrong() ? random.pick(statuses) : 'active');
  const account = (isPayers: boolean): AccountCase => {
    const drawn = status();
    const empty = drawn === 'closed' || drawn === 'declined';
    return {
      known: !wrong(),
      isPayers: wrong() ? !isPayers : isPayers,
      currency: wrong() ? other : currency,
      status: drawn,
      mainStatus: random.chance(0.4) ? status() : null,
      closing: wrong() && random.chance(0.5),
      provider: random.pick(['custom-bank', 'sandbox-bank'] as const),
      postedMinor: empty ? 0 : random.pick([0, 5_000, 10_000, 200_000_000]),
    };
  };
  const country = currency === 'GBP' ? 'GB' : random.pick(['DE', 'FR']);
  const elsewhere = wrong() ? random.pick(['TR', 'CN', 'US']) : country;
  const national = currency === 'GBP' ? random.pick([IBANS.GB, null]) : random.pick([IBANS.DE, IBANS.FR]);
  const iban = wrong() ? random.pick([IBANS.TR, null]) : national;
  const reasonless = elsewhere !== 'CN';
  const usual = random.pick(['none', 'today', 'weekend', 'last'] as const);
  return {
    scope,
    clientKnown: !wrong(),
    payerStatus: status(),
    receiverStatus: status(),
    source: account(true),
    destination: account(random.chance(0.3)),
    bankAccount: {
      known: !wrong(),
      isPayers: !wrong(),
      currency: wrong() ? other : currency,
      status: wrong() ? 'inactive' : 'active',
      country: elsewhere,
      iban,
      bic: wrong() ? null : 'DEUTDEFF',
      sortCode: currency !== 'GBP' || wrong() ? null : '601613',
    },
    reason: wrong() ? 'unknown' : reasonless && scope === 'external' ? 'none' : random.pick(['none', 'known'] as const),
    currency,
    scheme: wrong() ? random.pick(SCHEMES[currency]) : random.pick(OFFERED[currency]),
    strangeAttribute: scope === 'external' && wrong(),
    amountMinor: random.pick([1, 2_500, 5_000, 9_999, 10_000, wrong() ? TOO_MUCH[currency] : 10_001]),
    feeRatio: random.chance(0.4) ? random.pick(['0.0001', '0.01', '0']) : null,
    transferDate: DATES[wrong() ? random.pick(['past', 'late'] as const) : usual],
  };
}

/** One situation in the database, with ids of its own. */
export interface Staged {
  readonly case: TransferCase;
  readonly payer: string;
  readonly receiver: string;
  readonly requestedClient: string;
  readonly source: string;
  readonly destination: string;
  readonly beneficiary: string;
  readonly bankAccount: string;
}

/** Ids as the service makes them, but for the older of the two accounts: locks are taken in the order of ids, so either may be first. */
export function stageIds(of: TransferCase): Staged {
  const payer = newId();
  const accounts = [newId(), newId()] as const;
  const [source, destination] = Math.random() < 0.5 ? accounts : ([accounts[1], accounts[0]] as const);
  return {
    case: of,
    payer,
    receiver: newId(),
    requestedClient: of.clientKnown ? payer : newId(),
    source,
    destination,
    beneficiary: newId(),
    bankAccount: newId(),
  };
}

/** The accounts of the case that are in the database; an external transfer has one of ours at most. */
export function knownAccounts({ case: of, source, destination }: Staged) {
  const sides = [
    { side: 'source', id: source, account: of.source },
    { side: 'destination', id: destination, account: of.destination },
  ];
  return sides.slice(0, of.scope === 'internal' ? 2 : 1).filter(({ account }) => account.known);
}

/** The main account of an account that has one; it is a second older, and so, as in the service, its id is the lower one. */
export function mainAccountIdOf(id: string): string {
  const madeAt = (Number.parseInt(id.replace('-', '').slice(0, 12), 16) - 1_000).toString(16).padStart(12, '0');
  return `${madeAt.slice(0, 8)}-${madeAt.slice(8)}${id.slice(13)}`;
}

export function requestOf(staged: Staged, change: Json = {}, workflow: Json = {}): Json {
  const { scope, scheme, currency, amountMinor, feeRatio, reason, transferDate, strangeAttribute } = staged.case;
  const { country } = staged.case.bankAccount;
  const internal = scope === 'internal';
  const reasonId = { none: undefined, known: REASON_OF_CHINA, unknown: uuidFromName('unknown', REASON_OF_CHINA) };
  const outgoingTransfer = {
    clientId: staged.requestedClient,
    currency,
    amount: amountMinor / 100,
    scope,
    scheme: internal ? undefined : scheme,
    transferDate: transferDate ?? undefined,
    transferReasonId: reasonId[reason],
    description: 'A case',
    // In a country with a list of reasons, it would stand in for one of them.
    transferCustomReason: internal || country !== 'CN' ? 'A reason' : undefined,
    schemeAttributes: strangeAttribute ? { [STRANGE_ATTRIBUTE]: '1' } : undefined,
    source: { type: 'client-account', accountId: staged.source },
    destination: internal
      ? { type: 'client-account', accountId: staged.destination }
      : { type: 'beneficiary-bank-account', beneficiaryBankAccountId: staged.bankAccount },
    ...change,
  };
  const pricing = feeRatio === null ? {} : { pricing: { sourcingMethod: 'explicit', enabled: true } };
  const terms = feeRatio === null ? {} : { pricing: { type: 'ratio', ratio: feeRatio } };
  return {
    workflow: { code: 'client.direct', ...pricing, ...workflow },
    data: { outgoingTransfer, ...terms },
  };
}

export interface Rejection {
  readonly status: number;
  readonly code: string;
  readonly field: string;
  /** Which id or text the rejection names. */
  readonly value: string;
}

type Rule = (staged: Staged) => Rejection | null;

const when = (holds: boolean, status: number, code: string, field: string, value: string): Rejection | null =>
  holds ? { status, code, field, value } : null;
const notFound = (holds: boolean, field: string, value: string) =>
  when(holds, 404, 'common.coding.internal.record_not_found', field, value);
const isInternal = ({ case: { scope } }: Staged) => scope === 'internal';
const BANK_ACCOUNT = 'destination.beneficiaryBankAccountId';

/** In their order: existence, ownership, currencies, states, scheme with bank data and amounts, dates, balance. */
export const REJECTIONS: Readonly<Record<string, Rule>> = {
  'unknown client': (s) => notFound(!s.case.clientKnown, 'clientId', s.requestedClient),
  'unknown source': (s) => notFound(!s.case.source.known, 'source.accountId', s.source),
  'unknown destination': (s) =>
    isInternal(s)
      ? notFound(!s.case.destination.known, 'destination.accountId', s.destination)
      : notFound(!s.case.bankAccount.known, BANK_ACCOUNT, s.bankAccount),
  'unknown reason': (s) =>
    notFound(
      s.case.reason === 'unknown' ||
        (s.case.reason === 'known' && !isInternal(s) && s.case.bankAccount.country !== 'CN'),
      'transferReasonId',
      requestOf(s).data.outgoingTransfer.transferReasonId,
    ),
  "another client's source": (s) =>
    when(!s.case.source.isPayers, 422, 'account.client.mismatch', 'clientId', s.requestedClient),
  "another client's beneficiary": (s) =>
    when(!isInternal(s) && !s.case.bankAccount.isPayers, 422, 'transfer.client.mismatch', BANK_ACCOUNT, s.bankAccount),
  'another currency of the source': ({ case: { source, currency } }) =>
    when(source.currency !== currency, 422, 'account.currency.mismatch', 'currency', currency),
  'another currency of the destination': (s) => {
    const { destination, bankAccount, currency } = s.case;
    return isInternal(s)
      ? when(
          destination.currency !== currency,
          422,
          'account.currency.mismatch',
          'destination.accountId',
          s.destination,
        )
      : when(bankAccount.currency !== currency, 422, 'account.currency.mismatch', BANK_ACCOUNT, s.bankAccount);
  },
  'a client that is not active': (s) =>
    when(s.case.payerStatus !== 'active', 422, 'client.status.not_active', 'clientId', s.requestedClient),
  'a source that is not active': (s) => {
    const { closing } = s.case.source;
    const status = statusForPayments(s.case.source);
    const waits = !isInternal(s) && (status === 'inactive' || status === 'suspended');
    const rejected = closing || (status !== 'active' && !waits);
    return when(rejected, 422, 'account.status.not_active', 'source.accountId', s.source);
  },
  'a destination that is not active': (s) => {
    const { destination, payerStatus, receiverStatus, bankAccount } = s.case;
    if (!isInternal(s)) {
      const inactive = bankAccount.status !== 'active';
      return when(inactive, 422, 'beneficiary.bank_account.not_active', BANK_ACCOUNT, s.bankAccount);
    }
    const holder = destination.isPayers ? payerStatus : receiverStatus;
    const rejected = statusForPayments(destination) !== 'active' || destination.closing || holder !== 'active';
    return when(rejected, 422, 'account.status.not_active', 'destination.accountId', s.destination);
  },
  'a scheme that does not go there': (s) => {
    const { scheme, currency, bankAccount } = s.case;
    if (isInternal(s)) return null;
    const offered = OFFERED[currency].includes(scheme);
    const reaches = !isSterling(scheme) || STERLING_COUNTRIES.includes(bankAccount.country);
    return when(!offered || !reaches, 422, 'transfer.scheme.unavailable', 'scheme', scheme);
  },
  'bank data that the scheme cannot use': (s) => {
    const { scheme, bankAccount } = s.case;
    if (isInternal(s)) return null;
    const { iban, bic, sortCode } = bankAccount;
    const byIban = scheme === 'sepa' || scheme === 'sepa-instant' || scheme === 'target2';
    // Without an IBAN, the account has a number.
    const isBritish = iban === null ? sortCode !== null : iban.startsWith('GB');
    const unusable =
      (scheme === 'swift' && bic === null) ||
      (isSterling(scheme) && !isBritish) ||
      (byIban && (iban === null || iban.startsWith('TR')));
    return when(unusable, 422, 'transfer.scheme.unavailable', BANK_ACCOUNT, s.bankAccount);
  },
  'more than the scheme carries': (s) => {
    const { scheme, amountMinor } = s.case;
    const above = !isInternal(s) && amountMinor > (LIMIT_MINOR[scheme] ?? Number.POSITIVE_INFINITY);
    return when(above, 422, 'transfer.amount.limit_exceeded', 'amount', String(amountMinor / 100));
  },
  'no reason where one is needed': (s) => {
    const { reason, bankAccount } = s.case;
    const missing = !isInternal(s) && reason === 'none' && bankAccount.country === 'CN';
    return when(missing, 400, 'common.validation.field_required', 'transferReasonId', '');
  },
  'an attribute that no transfer has': (s) =>
    when(
      !isInternal(s) && s.case.strangeAttribute,
      400,
      'transfer.attribute.invalid',
      `schemeAttributes.${STRANGE_ATTRIBUTE}`,
      '1',
    ),
  'a date that cannot be': ({ case: { transferDate } }) =>
    when(
      transferDate === DATES.past || transferDate === DATES.late,
      400,
      'transfer.date.invalid',
      'transferDate',
      transferDate ?? '',
    ),
  'money that is not there': (s) => {
    const { source, amountMinor, feeRatio, transferDate } = s.case;
    if (!isInternal(s) || (transferDate !== null && transferDate > TODAY)) return null;
    const short = source.postedMinor < amountMinor + feeMinor(amountMinor, feeRatio);
    return when(short, 422, 'account.balance.insufficient', 'source.accountId', s.source);
  },
};

function isSterling(scheme: string): boolean {
  return scheme === 'faster-payments' || scheme === 'chaps';
}

/** While its main account is not active, a sub-account neither sends nor receives. */
function statusForPayments({ status, mainStatus }: AccountCase): Status {
  return status === 'active' && mainStatus !== null ? mainStatus : status;
}

function feeMinor(amountMinor: number, ratio: string | null): number {
  const tenThousandths = ratio === null ? 0 : Math.round(Number(ratio) * 10_000);
  return Math.floor((amountMinor * tenThousandths + 5_000) / 10_000);
}

/** The expected rejection; null: accepted. */
export function expectedRejection(staged: Staged): Rejection | null {
  for (const rule of Object.values(REJECTIONS)) {
    const rejected = rule(staged);
    if (rejected !== null) return rejected;
  }
  return null;
}

const FLAWLESS: TransferCase = {
  scope: 'internal',
  clientKnown: true,
  payerStatus: 'active',
  receiverStatus: 'active',
  source: account(true),
  destination: account(false),
  bankAccount: {
    known: true,
    isPayers: true,
    currency: 'EUR',
    status: 'active',
    country: 'DE',
    iban: IBANS.DE,
    bic: 'DEUTDEFF',
    sortCode: null,
  },
  reason: 'none',
  currency: 'EUR',
  scheme: 'sepa',
  strangeAttribute: false,
  amountMinor: 5_000,
  feeRatio: null,
  transferDate: null,
};

function account(isPayers: boolean): AccountCase {
  const state = { status: 'active', mainStatus: null, closing: false } as const;
  return { known: true, isPayers, currency: 'EUR', ...state, provider: 'custom-bank', postedMinor: 10_000 };
}

/** How to break each rule; of two faults, the later in this list is applied last. */
const BREAKING: Readonly<Record<string, (of: TransferCase) => TransferCase>> = {
  'unknown client': (of) => ({ ...of, clientKnown: false }),
  'unknown source': (of) => ({ ...of, source: { ...of.source, known: false } }),
  'unknown destination': (of) => ({
    ...of,
    destination: { ...of.destination, known: false },
    bankAccount: { ...of.bankAccount, known: false },
  }),
  'unknown reason': (of) => ({ ...of, reason: 'unknown' }),
  "another client's source": (of) => ({ ...of, source: { ...of.source, isPayers: false } }),
  "another client's beneficiary": (of) => ({ ...of, bankAccount: { ...of.bankAccount, isPayers: false } }),
  'another currency of the source': (of) => ({ ...of, source: { ...of.source, currency: 'GBP' } }),
  'another currency of the destination': (of) => ({
    ...of,
    destination: { ...of.destination, currency: 'GBP' },
    bankAccount: { ...of.bankAccount, currency: 'GBP' },
  }),
  'a client that is not active': (of) => ({ ...of, payerStatus: 'suspended' }),
  'a source that is not active': (of) => ({ ...of, source: { ...of.source, closing: true } }),
  'a destination that is not active': (of) => ({
    ...of,
    receiverStatus: 'inactive',
    bankAccount: { ...of.bankAccount, status: 'inactive' },
  }),
  'a scheme that does not go there': (of) => ({ ...of, scheme: 'chaps' }),
  'bank data that the scheme cannot use': (of) => ({
    ...of,
    bankAccount: { ...of.bankAccount, iban: IBANS.TR, bic: null },
  }),
  'more than the scheme carries': (of) => ({ ...of, amountMinor: TOO_MUCH.EUR }),
  'no reason where one is needed': (of) => ({ ...of, bankAccount: { ...of.bankAccount, country: 'CN' } }),
  'an attribute that no transfer has': (of) => ({ ...of, strangeAttribute: of.scope === 'external' }),
  'a date that cannot be': (of) => ({ ...of, transferDate: DATES.past }),
  'money that is not there': (of) => ({ ...of, source: { ...of.source, postedMinor: 0 } }),
};

/** A transfer that a scheme does not carry to its country, and of which it carries no such amount anywhere. */
const FAR_AND_TOO_MUCH: TransferCase = {
  ...FLAWLESS,
  scope: 'external',
  source: { ...account(true), currency: 'GBP' },
  bankAccount: { ...FLAWLESS.bankAccount, currency: 'GBP', country: 'US' },
  currency: 'GBP',
  scheme: 'faster-payments',
  amountMinor: TOO_MUCH.GBP,
};

/** Every fault that a request of the scope can have, and every pair of them. */
export function casesWithTwoFaults(scope: TransferCase['scope']): { case: TransferCase; faults: string }[] {
  const flawless = { ...FLAWLESS, scope };
  const breaking = Object.entries(BREAKING).filter(([name, fault]) => has(fault(flawless), name));
  return breaking.flatMap(([first, firstFault], index) =>
    breaking.slice(index).flatMap(([second, secondFault]) => {
      const both = [secondFault(firstFault(flawless)), FAR_AND_TOO_MUCH];
      const of = both.find((one) => has(one, first) && has(one, second));
      // A reason is either missing or unknown.
      if (first === 'unknown reason' && second === 'no reason where one is needed') return [];
      if (of === undefined) throw new Error(`no request has both ${first} and ${second}`);
      return [{ case: of, faults: `${scope}: ${first}, ${second}` }];
    }),
  );
}

function has(of: TransferCase, fault: string): boolean {
  return REJECTIONS[fault]?.(stageIds(of)) != null;
}
