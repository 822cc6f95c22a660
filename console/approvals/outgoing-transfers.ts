import { findTransfersToFreeze } from '../../db/outgoing-transfers/reads.ts';
import { FOR_ALL_OUTGOING_TRANSFERS, OUTGOING_FILTERS, outgoingFilterOf } from '../outgoing-transfers/list.tsx';
import { forAll } from './for-all.ts';

/** For all that the list of outgoing transfers shows. */
export const forAllOutgoingTransfers = forAll({
  page: '/outgoing-transfers',
  kind: FOR_ALL_OUTGOING_TRANSFERS,
  filters: OUTGOING_FILTERS,
  resources: ['outgoing-transfer'],
  find: ({ services }, filter, { limit }) =>
    findTransfersToFreeze(services.database.reader, outgoingFilterOf(filter), limit),
});
