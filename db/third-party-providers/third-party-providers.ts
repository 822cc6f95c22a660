import { and } from 'drizzle-orm';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ThirdPartyProviderId } from '../../domain/common/ids.ts';
import type {
  ThirdPartyProviderStatus,
  ThirdPartyRegistration,
} from '../../domain/third-party-providers/third-party-providers.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { lockIn, lookUpIn, sendInsertion, sendUpdate } from '../query/rows.ts';
import { thirdPartyProviders } from './schema.ts';

const audit = auditorOf('third-party-provider');

export type ThirdPartyProviderRow = typeof thirdPartyProviders.$inferSelect;

export async function createThirdPartyProvider(
  tx: Transaction,
  registration: ThirdPartyRegistration,
  initiator: Initiator,
  id = newId<ThirdPartyProviderId>(),
): Promise<ThirdPartyProviderRow> {
  const now = await readClock(tx);
  const row = sendInsertion(tx, thirdPartyProviders, {
    ...registration,
    redirectUris: [...registration.redirectUris],
    id,
    status: 'active',
    createdAt: now,
    updatedAt: now,
    activeSince: now,
  });
  audit(tx, row.id, { initiator, action: 'created', after: auditedFields(row) });
  return row;
}

/** Absent fields stay; addresses and keys are replaced as a whole. */
export type ThirdPartyProviderChange = {
  readonly [Name in keyof ThirdPartyRegistration]?: ThirdPartyRegistration[Name] | undefined;
} & { readonly status?: ThirdPartyProviderStatus | undefined };

const LOCK = lockIn(thirdPartyProviders, 'no key update');

/**
 * Changes take effect at once: every request of a third party reads its row. Its access tokens and codes from before it became
 * inactive stay invalid when it becomes active again.
 */
export async function changeThirdPartyProvider(
  tx: Transaction,
  id: ThirdPartyProviderId,
  change: ThirdPartyProviderChange,
  initiator: Initiator,
): Promise<ThirdPartyProviderRow> {
  const [before, updatedAt] = await Promise.all([tx.lock(LOCK, id), readClock(tx)]);
  if (before === null) throw recordNotFound('thirdPartyProvider', 'id', id);
  const after = sendUpdate(tx, thirdPartyProviders, before, {
    name: change.name ?? before.name,
    website: change.website ?? before.website,
    applicationName: change.applicationName ?? before.applicationName,
    applicationDescription: change.applicationDescription ?? before.applicationDescription,
    applicationWebsite: change.applicationWebsite ?? before.applicationWebsite,
    redirectUris: [...(change.redirectUris ?? before.redirectUris)],
    jwks: change.jwks ?? before.jwks,
    dpopBoundAccessTokens: change.dpopBoundAccessTokens ?? before.dpopBoundAccessTokens,
    status: change.status ?? before.status,
    updatedAt,
    activeSince: before.status === 'inactive' && change.status === 'active' ? updatedAt : before.activeSince,
  });
  audit(tx, id, {
    initiator,
    action: 'changed',
    before: auditedFields(before),
    after: auditedFields(after),
    concealed: { before: furtherFields(before), after: furtherFields(after) },
  });
  return after;
}

/**
 * Registers a third party under a predetermined id, as kept in the files of a development machine. Repeating it updates its
 * addresses, and does not reactivate it.
 */
export async function registerThirdPartyProvider(
  tx: Transaction,
  id: ThirdPartyProviderId,
  registration: ThirdPartyRegistration,
  initiator: Initiator,
): Promise<void> {
  const known = await tx.lock(LOCK, id);
  if (known === null) {
    await createThirdPartyProvider(tx, registration, initiator, id);
    return;
  }
  const { applicationWebsite, redirectUris } = registration;
  if (known.redirectUris.join(' ') === redirectUris.join(' ') && known.applicationWebsite === applicationWebsite)
    return;
  await changeThirdPartyProvider(tx, id, { applicationWebsite, redirectUris }, initiator);
}

/** An address may contain a secret of its owner. */
function auditedFields({ name, status, jwks, dpopBoundAccessTokens }: ThirdPartyProviderRow) {
  return { name, status, dpopBoundAccessTokens, kids: jwks.keys.map(({ kid }) => kid) };
}

function furtherFields(row: ThirdPartyProviderRow) {
  const { website, applicationName, applicationDescription, applicationWebsite, redirectUris, jwks } = row;
  return { website, applicationName, applicationDescription, applicationWebsite, redirectUris, keys: jwks.keys };
}

const LOOK_UP = lookUpIn(thirdPartyProviders);

export function findThirdPartyProvider(
  reader: Reader,
  id: ThirdPartyProviderId,
): Promise<ThirdPartyProviderRow | null> {
  return reader.find(LOOK_UP, id);
}

interface Filter {
  readonly status: ThirdPartyProviderStatus | undefined;
}

const LIST = listOf<Filter, typeof thirdPartyProviders>(thirdPartyProviders, (given) =>
  and(...equalTo([[thirdPartyProviders.status, given.status]])),
);

/** One page of third-party providers, and the total. */
export function listThirdPartyProviders(
  reader: Reader,
  filter: Filter,
  page: PageRequest,
): Promise<PageOf<ThirdPartyProviderRow>> {
  return readPage(reader, LIST(filter), filter, page);
}
