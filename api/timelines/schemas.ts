import * as v from 'valibot';
import type { TimelinePage } from '../../db/timelines/timelines.ts';
import type { TimelineEnd } from '../../db/timelines/waits.ts';
import { CONNECTION_STATES } from '../../domain/accounts/accounts.ts';
import { STATEMENT_ENTRY_TYPES } from '../../domain/accounts/statements.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import { INCOMING_TRANSFER_WAITS } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { CONSENT_WAITS } from '../../domain/open-banking/consents.ts';
import { SUBMISSION_STATUSES } from '../../domain/outgoing-transfers/outcomes/progress.ts';
import { OUTGOING_TRANSFER_WAITS } from '../../domain/outgoing-transfers/statuses.ts';
import {
  LEDGER_PARTIES,
  OMISSION_REASONS,
  presentTimelineEntry,
  TIMELINE_KINDS,
  TIMELINE_REQUIREMENTS,
} from '../../domain/timelines/timelines.ts';
import { WEBHOOK_DELIVERY_STATUSES } from '../../domain/webhooks/subscriptions.ts';
import { auditEntryShown } from '../audit-entries/schemas.ts';
import { named } from '../http/schemas/named.ts';
import {
  amount,
  currency,
  dateTime,
  fields,
  integer,
  list,
  nullable,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { statusReasonShown } from '../outgoing-transfers/schemas.ts';

const NAME_LENGTH_MAX = 140;
const RELEASE_LENGTH_MAX = 300;
const ATTEMPTS_MAX = 1_000_000;
const NAME = /^[a-z]+(-[a-z]+)*$/;

const eventType = pattern(NAME, 'an event type');
const { occurredAt: _, ...audited } = auditEntryShown.pipe[0].entries;
const ledgerParty = named('LedgerParty', picklist(LEDGER_PARTIES));

/** Each kind of entry with its instant. */
const entry = named(
  'TimelineEntry',
  v.variant('kind', [
    named(
      'TimelineProviderCallback',
      fields({
        kind: v.literal('provider-callback'),
        dateTime: dateTime(),
        serviceProvider: text(64),
        providerEventId: text(NAME_LENGTH_MAX),
        type: pattern(NAME, 'the type of a callback'),
        outcome: picklist(['applied', 'no-effect', 'waiting', 'break']),
      }),
    ),
    named('TimelineAuditEntry', fields({ kind: v.literal('audit-entry'), dateTime: dateTime(), ...audited })),
    named(
      'TimelineRequirement',
      fields({
        kind: v.literal('requirement'),
        dateTime: dateTime(),
        requirement: picklist(TIMELINE_REQUIREMENTS),
        status: picklist(['fulfilled', 'not-fulfilled']),
      }),
    ),
    named(
      'TimelineLedgerEntry',
      fields({
        kind: v.literal('ledger-entry'),
        dateTime: dateTime(),
        debit: ledgerParty,
        credit: ledgerParty,
        amount: amount(),
        currency: currency(),
        entryType: named('StatementEntryType', picklist(STATEMENT_ENTRY_TYPES)),
        balance: nullable(amount()),
      }),
    ),
    named(
      'TimelineEvent',
      fields({
        kind: v.literal('event'),
        dateTime: dateTime(),
        eventId: uuid(),
        type: eventType,
        sequence: integer(1, Number.MAX_SAFE_INTEGER),
        status: nullable(pattern(NAME, 'a status')),
        statusReason: nullable(statusReasonShown),
      }),
    ),
    named(
      'TimelineWebhookDelivery',
      fields({
        kind: v.literal('webhook-delivery'),
        dateTime: dateTime(),
        webhookDeliveryId: uuid(),
        webhookSubscriptionId: uuid(),
        eventId: uuid(),
        type: eventType,
        status: named('WebhookDeliveryStatus', picklist(WEBHOOK_DELIVERY_STATUSES)),
        attemptCount: integer(0, ATTEMPTS_MAX),
        nextAttemptDateTime: nullable(dateTime()),
        completedDateTime: nullable(dateTime()),
      }),
    ),
  ]),
);

const WAITS = [...new Set([...OUTGOING_TRANSFER_WAITS, ...INCOMING_TRANSFER_WAITS, ...CONSENT_WAITS])];

const wait = named(
  'ResourceWait',
  fields({
    waitingFor: picklist(WAITS),
    waitingSinceDateTime: nullable(dateTime()),
    waitingUntilDateTime: nullable(dateTime()),
    rule: nullable(text(NAME_LENGTH_MAX)),
    releasedBy: list(text(RELEASE_LENGTH_MAX), 0, 10),
  }),
);

const providerAttempt = named(
  'ProviderAttempt',
  fields({
    number: integer(1, ATTEMPTS_MAX),
    state: picklist([...SUBMISSION_STATUSES, ...CONNECTION_STATES]),
    submittedDateTime: nullable(dateTime()),
    nextLookUpDateTime: nullable(dateTime()),
    retryDateTime: nullable(dateTime()),
    rejectionCode: nullable(text(NAME_LENGTH_MAX)),
  }),
);

const omitted = named(
  'OmittedTimelineEntries',
  fields({ kind: picklist(TIMELINE_KINDS), reason: picklist(OMISSION_REASONS) }),
);

export const timelineShown = fields({
  timelineEntries: list(entry, 0, 100),
  wait: nullable(wait),
  providerAttempt: nullable(providerAttempt),
  omittedTimelineEntries: list(omitted, 0, TIMELINE_KINDS.length),
});

export function presentTimeline(
  { rows, omitted: missing }: TimelinePage,
  { wait: found, providerAttempt: latest }: TimelineEnd,
) {
  return {
    timelineEntries: rows.map(presentTimelineEntry),
    wait:
      found === null
        ? null
        : {
            waitingFor: found.for,
            waitingSinceDateTime: at(found.since),
            waitingUntilDateTime: at(found.until),
            rule: found.rule,
            releasedBy: found.releasedBy,
          },
    providerAttempt:
      latest === null
        ? null
        : {
            number: latest.number,
            state: latest.state,
            submittedDateTime: at(latest.submittedAt),
            nextLookUpDateTime: at(latest.nextLookUpAt),
            retryDateTime: at(latest.retryAt),
            rejectionCode: latest.rejectionCode,
          },
    omittedTimelineEntries: missing,
  };
}

function at(instant: Date | null): string | null {
  return instant === null ? null : formatDateTime(instant);
}

const EVENT_EXAMPLE = {
  kind: 'event',
  dateTime: '2026-11-21T09:30:12.417',
  eventId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b10',
  type: 'outgoing-transfer-created',
  sequence: 1,
  status: 'pending',
  statusReason: null,
};

/** Of a payment that waits for its authorization, as a caller without the role admin reads it. */
export const TIMELINE_EXAMPLE = {
  timelineEntries: [
    EVENT_EXAMPLE,
    {
      kind: 'webhook-delivery',
      dateTime: '2026-11-21T09:30:12.902',
      webhookDeliveryId: '0197b2a4-7c1f-7a08-8a53-0c53b3c3f0a1',
      webhookSubscriptionId: '0197b2a4-7c1e-7d10-9b1f-6d0a5f1c2b31',
      eventId: EVENT_EXAMPLE.eventId,
      type: EVENT_EXAMPLE.type,
      status: 'succeeded',
      attemptCount: 1,
      nextAttemptDateTime: null,
      completedDateTime: '2026-11-21T09:30:13.011',
    },
  ],
  wait: {
    waitingFor: 'authorization',
    waitingSinceDateTime: '2026-11-21T09:30:12',
    waitingUntilDateTime: '2026-11-23T17:00:00',
    rule: null,
    releasedBy: [
      'PATCH /outgoing-transfers/0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b04 with requirementConfiguration.authorizationStatus "fulfilled", by an approver who did not cause it.',
    ],
  },
  providerAttempt: null,
  omittedTimelineEntries: [{ kind: 'audit-entry', reason: 'role' }],
};
