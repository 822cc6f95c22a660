import type { StatementEntryType } from '../accounts/statements.ts';
import { amountNumber } from '../common/money.ts';
import { statusReason } from '../common/texts/status-reasons.ts';
import { formatDateTimeMs } from '../common/time/dates.ts';
import type { HoldReason } from '../incoming-transfers/incoming-transfers.ts';
import { holdReasonCode } from '../incoming-transfers/presentation.ts';
import type { Role } from '../machine-users/roles.ts';

/**
 * The kinds of entries of a timeline, in the order in which entries of the same instant are shown: what was reported or requested, what
 * that met and moved, the events of it, and last their deliveries.
 */
export const TIMELINE_KINDS = [
  'provider-callback',
  'audit-entry',
  'requirement',
  'ledger-entry',
  'event',
  'webhook-delivery',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** The resources that have a timeline, as audit entries name them. */
export type TimelineResource = 'outgoing-transfer' | 'incoming-transfer' | 'account' | 'consent' | 'client';

/** The conditions of a release, in the words in which a transfer waits for them. */
export const TIMELINE_REQUIREMENTS = ['authorization', 'compliance', 'date', 'balance'] as const;

/** A side of a ledger entry: the resource's own account, another account of a client, or the provider's account of a kind. */
export const LEDGER_PARTIES = [
  'account',
  'other-account',
  'settlement',
  'suspense',
  'fee-revenue',
  'correction',
] as const;

/** Why a kind of entry is missing: the caller's roles do not read it, or its oldest rows may no longer be kept. */
export const OMISSION_REASONS = ['role', 'retention'] as const;

export interface OmittedKind {
  readonly kind: TimelineKind;
  readonly reason: (typeof OMISSION_REASONS)[number];
}

type Fields = Readonly<Record<string, unknown>> | null;

/** What an entry says, as it is read. Instants and amounts are text. */
interface Contents {
  readonly 'provider-callback': {
    readonly provider: string;
    readonly providerEventId: string;
    readonly type: string;
    readonly outcome: 'applied' | 'no-effect' | 'waiting' | 'break';
  };
  readonly 'audit-entry': {
    readonly id: string;
    readonly actor: string;
    readonly action: string;
    readonly resource: string;
    readonly resourceId: string;
    readonly requestId: string | null;
    readonly before: Fields;
    readonly after: Fields;
    /** Of the derived entry of a transfer's creation. */
    readonly amountMinor: string | null;
    readonly currency: string | null;
    readonly role: Role | null;
    readonly reason: string | null;
  };
  readonly requirement: {
    readonly requirement: (typeof TIMELINE_REQUIREMENTS)[number];
    readonly status: 'fulfilled' | 'not-fulfilled';
  };
  readonly 'ledger-entry': {
    readonly debit: (typeof LEDGER_PARTIES)[number];
    readonly credit: (typeof LEDGER_PARTIES)[number];
    readonly amountMinor: string;
    readonly currency: string;
    readonly entryType: StatementEntryType;
    /** Of the resource's own account, after the entry; null if it does not concern that account. */
    readonly balanceMinor: string | null;
  };
  readonly event: {
    readonly eventId: string;
    readonly type: string;
    readonly sequence: number;
    readonly status: string | null;
    readonly reasonCode: string | null;
    readonly holdReason: HoldReason | null;
  };
  readonly 'webhook-delivery': {
    readonly webhookDeliveryId: string;
    readonly webhookSubscriptionId: string;
    readonly eventId: string;
    readonly type: string;
    readonly status: 'pending' | 'succeeded' | 'failed';
    readonly attemptCount: number;
    readonly nextAttemptAt: string | null;
    readonly completedAt: string | null;
  };
}

export type TimelineEntry = {
  readonly [Kind in TimelineKind]: { readonly kind: Kind; readonly at: Date; readonly contents: Contents[Kind] };
}[TimelineKind];

/** An entry as the interface shows it. */
export function presentTimelineEntry(entry: TimelineEntry) {
  const dateTime = formatDateTimeMs(entry.at);
  switch (entry.kind) {
    case 'provider-callback': {
      const { provider: serviceProvider, ...callback } = entry.contents;
      return { kind: entry.kind, dateTime, serviceProvider, ...callback };
    }
    case 'audit-entry': {
      const { amountMinor, currency, after, ...audited } = entry.contents;
      if (amountMinor === null || currency === null) return { kind: entry.kind, dateTime, ...audited, after };
      const amount = amountNumber(BigInt(amountMinor), currency);
      return { kind: entry.kind, dateTime, ...audited, after: { ...after, amount } };
    }
    case 'requirement':
      return { kind: entry.kind, dateTime, ...entry.contents };
    case 'ledger-entry': {
      const { amountMinor, balanceMinor, ...posted } = entry.contents;
      const { currency } = posted;
      const balance = balanceMinor === null ? null : amountNumber(BigInt(balanceMinor), currency);
      return { kind: entry.kind, dateTime, ...posted, amount: amountNumber(BigInt(amountMinor), currency), balance };
    }
    case 'event': {
      const { reasonCode, holdReason, ...event } = entry.contents;
      const code = reasonCode ?? (holdReason === null ? null : holdReasonCode(holdReason));
      return { kind: entry.kind, dateTime, ...event, statusReason: statusReason(code, null) };
    }
    case 'webhook-delivery': {
      const { nextAttemptAt, completedAt, ...delivery } = entry.contents;
      const times = { nextAttemptDateTime: instant(nextAttemptAt), completedDateTime: instant(completedAt) };
      return { kind: entry.kind, dateTime, ...delivery, ...times };
    }
  }
}

function instant(text: string | null): string | null {
  return text === null ? null : formatDateTimeMs(new Date(text));
}
