import { asId } from '../../domain/common/ids.ts';
import type { RequirementRules } from '../../domain/outgoing-transfers/requirement-rules.ts';
import type { TimelineResource } from '../../domain/timelines/timelines.ts';
import {
  attemptOfAccount,
  attemptOfPayment,
  type ProviderAttempt,
  type ResourceWait,
  waitOfAccount,
  waitOfConsent,
  waitOfIncomingTransfer,
  waitOfOutgoingTransfer,
} from '../../domain/timelines/waits.ts';
import { accounts, incomingTransfers } from '../common/schema.ts';
import { consentOf, findConsent } from '../open-banking/consents.ts';
import { readWaitFacts } from '../outgoing-transfers/wait-facts.ts';
import type { Reader } from '../query/database.ts';
import { lookUpIn } from '../query/rows.ts';

/** How a timeline ends: what the resource waits for, and the latest attempt at its provider. */
export interface TimelineEnd {
  readonly wait: ResourceWait | null;
  readonly providerAttempt: ProviderAttempt | null;
}

const INCOMING = lookUpIn(incomingTransfers);
const ACCOUNT = lookUpIn(accounts);
const NOTHING: TimelineEnd = { wait: null, providerAttempt: null };

/** Nothing is waited for if there is no such resource. */
export async function readTimelineEnd(
  reader: Reader,
  { resource, id }: { readonly resource: TimelineResource; readonly id: string },
  { compliance }: Pick<RequirementRules, 'compliance'>,
): Promise<TimelineEnd> {
  switch (resource) {
    case 'outgoing-transfer': {
      const found = await readWaitFacts(reader, asId(id));
      if (found === null) return NOTHING;
      const { transfer, facts } = found;
      return {
        wait: waitOfOutgoingTransfer(transfer, { ...facts, compliance }),
        providerAttempt: attemptOfPayment(transfer),
      };
    }
    case 'incoming-transfer': {
      const transfer = await reader.find(INCOMING, id);
      return transfer === null ? NOTHING : { ...NOTHING, wait: waitOfIncomingTransfer(transfer, { compliance }) };
    }
    case 'account': {
      const account = await reader.find(ACCOUNT, id);
      return account === null ? NOTHING : { wait: waitOfAccount(account), providerAttempt: attemptOfAccount(account) };
    }
    case 'consent': {
      const row = await findConsent(reader, asId(id));
      return row === null ? NOTHING : { ...NOTHING, wait: waitOfConsent(consentOf(row)) };
    }
    case 'client':
      return NOTHING;
  }
}
