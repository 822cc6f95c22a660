import * as v from 'valibot';
import { isJsonObject, type JsonObject } from '../http/requests/json.ts';
import { named } from '../http/schemas/named.ts';
import { fields, hint, list, optional, picklist, text } from '../http/schemas/schemas.ts';
import { workflowPricing } from './pricing.ts';
import { outgoingTransferShown, postTransferWorkflow } from './schemas.ts';

const ITEMS_MAX = 1_000;
const reference = text(100);
const item = named('BatchItem', fields({ reference, ...postTransferWorkflow.data.entries }));
const referenceOf = v.looseObject({ reference });

/** An item of which only the reference has been checked: an invalid transfer must not reject the batch. */
export type SentItem = JsonObject & { readonly reference: string };
type ItemSchema = v.GenericSchema<v.InferInput<typeof item>, SentItem>;
const itemRun: ItemSchema['~run'] = (dataset, config) => {
  // A value that is not an object is reported as in any other list.
  const schema = isJsonObject(dataset.value) ? referenceOf : item;
  return schema['~run'](dataset, config) as ReturnType<ItemSchema['~run']>;
};
const sentItem = { ...item, '~run': itemRun } as unknown as ItemSchema;

const referencesOnce = v.rawCheck<SentItem[]>(({ dataset, addIssue }) => {
  if (!dataset.typed) return;
  const items = dataset.value;
  const seen = new Set<string>();
  for (const [index, one] of items.entries()) {
    const { reference: repeated } = one;
    if (seen.has(repeated)) {
      const path: [v.IssuePathItem, v.IssuePathItem] = [
        { type: 'array', origin: 'value', input: items, key: index, value: one },
        { type: 'object', origin: 'value', input: one, key: 'reference', value: repeated },
      ];
      addIssue({ message: 'is the reference of an earlier item', input: repeated, path });
    }
    seen.add(repeated);
  }
});

export const BATCH_MODES = ['each', 'all'] as const;

export const batchWorkflow = {
  workflow: { mode: optional(picklist(BATCH_MODES)), pricing: optional(workflowPricing) },
  data: fields({ items: v.pipe(list(sentItem, 1, ITEMS_MAX), referencesOnce) }),
};

interface ShownProblem {
  readonly timestamp: string;
  readonly message: string;
  readonly code: string;
  readonly messageParameters: readonly string[];
}

const errorShown = v.pipe(
  v.custom<ShownProblem & { readonly errors?: readonly ShownProblem[] }>(isJsonObject, 'must be an error'),
  hint<ShownProblem>({ $ref: '#/components/schemas/Error' }),
);

const outgoingTransfer = outgoingTransferShown;
export const batchResult = named(
  'BatchResult',
  v.variant('result', [
    named('CreatedBatchItem', fields({ reference, result: v.literal('created'), outgoingTransfer })),
    named('ReplayedBatchItem', fields({ reference, result: v.literal('replayed'), outgoingTransfer })),
    named('RejectedBatchItem', fields({ reference, result: v.literal('rejected'), error: errorShown })),
  ]),
);

export const batchResponse = fields({ results: list(batchResult, 1, ITEMS_MAX) });
