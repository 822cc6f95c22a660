import {
  listUnmatchedMoney,
  sumUnmatchedMoney,
  UNMATCHED_REASONS,
  type UnmatchedFilter,
  type UnmatchedMoney,
} from '../../db/incoming-transfers/unmatched.ts';
import { isCurrency } from '../../domain/common/money.ts';
import { AMOUNT } from '../lists/columns.ts';
import { COUNTED_MAX, type Filter } from '../lists/list.ts';
import { countText, listPage } from '../lists/list-page.tsx';
import { oldestFirst } from '../lists/oldest-first.ts';
import type { Privacy } from '../look/privacy.ts';
import { age, amountText, Id, Instant } from '../look/values.tsx';

const FILTERS: readonly Filter[] = [
  { name: 'why', label: 'Why', kind: 'choice', choices: UNMATCHED_REASONS },
  { name: 'provider', label: 'Provider', kind: 'text' },
  {
    name: 'currency',
    label: 'Currency',
    kind: 'text',
    problem: (value) => (isCurrency(value) ? null : 'Currency is no currency code, such as GBP.'),
  },
];

function filterOf({ why, provider, currency }: Readonly<Record<string, string>>): UnmatchedFilter {
  const reason = UNMATCHED_REASONS.find((known) => known === why) ?? null;
  return { reason, provider: provider ?? null, currency: currency ?? null };
}

const REASONS: Readonly<Record<UnmatchedMoney['holdReason'], string>> = {
  'no-match': 'no account matches',
  'ambiguous-match': 'several accounts match',
};

/** How the payer named the receiver. */
function receiverText({ receiverAccount }: UnmatchedMoney, privacy: Privacy): string {
  const { iban = null, accountNumber = null } = receiverAccount ?? {};
  return privacy.number(iban ?? accountNumber);
}

export const unmatchedMoneyList = listPage<UnmatchedMoney>({
  path: '/money-without-owner',
  title: 'Money without an owner',
  question: 'Who is it for? Money that has arrived and matched no account, or several; the longest wait first.',
  section: '/money-without-owner',
  filters: FILTERS,
  empty: 'Nothing is without an owner.',
  isLive: true,
  read: ({ services }, given, slice) =>
    oldestFirst(slice, (page) => listUnmatchedMoney(services.database.reader, filterOf(given), page)),
  above: async ({ services }, given) => {
    const sums = await sumUnmatchedMoney(services.database.reader, filterOf(given), COUNTED_MAX + 1);
    if (sums.length === 0) return null;
    const count = sums.reduce((sum, one) => sum + one.count, 0);
    const isMore = count > COUNTED_MAX;
    const texts = sums.map(({ currency, sumMinor }) => amountText(BigInt(sumMinor), currency));
    return (
      <p>
        {countText({ count: Math.min(count, COUNTED_MAX), isMore })} {count === 1 ? 'payment' : 'payments'}
        {isMore ? ', the oldest of them' : ''}: {texts.join(' and ')} wait for an owner.
      </p>
    );
  },
  columns: [
    {
      header: 'Number',
      cell: ({ id, transactionNumber }) => <Id of={transactionNumber} to={`/incoming-transfers/${id}`} />,
      text: ({ transactionNumber }) => transactionNumber,
    },
    { header: 'Why', cell: ({ holdReason }) => REASONS[holdReason], text: ({ holdReason }) => REASONS[holdReason] },
    AMOUNT,
    {
      header: 'From',
      cell: ({ returnOf, senderName }, { privacy }) =>
        returnOf === null ? privacy.name(senderName) : 'our payment, returned',
      text: ({ returnOf, senderName }, { privacy }) =>
        returnOf === null ? privacy.name(senderName) : 'our payment, returned',
    },
    {
      header: 'To, as the payer wrote it',
      cell: (row, { privacy }) => receiverText(row, privacy),
      text: (row, { privacy }) => receiverText(row, privacy),
    },
    {
      header: 'Message',
      cell: ({ senderInformation }, { privacy }) => privacy.text(senderInformation),
      text: ({ senderInformation }, { privacy }) => privacy.text(senderInformation),
    },
    { header: 'At', cell: ({ provider }) => provider, text: ({ provider }) => provider },
    {
      header: 'Waits',
      cell: ({ waitingSince }, { now }) => age(waitingSince, now),
      text: ({ waitingSince }, { now }) => age(waitingSince, now),
    },
    {
      header: 'Since',
      cell: (row, { services }) => <Instant at={row.waitingSince} zone={services.configuration.schemes.zone(row)} />,
      text: ({ waitingSince }) => waitingSince.toISOString(),
    },
  ],
});
