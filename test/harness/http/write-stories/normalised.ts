import type { Json } from '../../api.ts';

/** Also without dashes, as payment references are. */
const UUID = /\b[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}\b/g;
/** As the interface and Postgres write them. */
const DATE_TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:\d\d)?)?/g;
const CIPHERTEXT = /enc:v1:[\w:-]+/g;
/** Drawn from sequences or at random, or the day of the run. */
const DRAWN = new Set([
  'clientNumber',
  'client_number',
  'destination_party_account_id',
  'key_material',
  'ledgerNumber',
  'ledger_number',
  'location',
  'party_account_id',
  'receiver_party_account_id',
  'secret',
  'sender_party_account_id',
  'shard',
  'transactionNumber',
  'transaction_number',
  'transferDate',
  'transfer_date',
  'original_transfer_date',
  'x',
]);

/** The value without the differences between two runs of one story: ids are numbered in order of appearance. */
export function normalised(value: Json, concealed: ReadonlyMap<string, string>): Json {
  let text = JSON.stringify(value, (key, part) => (DRAWN.has(key) && part !== null ? `<${key}>` : part));
  for (const [shown, label] of concealed) text = text.replaceAll(shown, label);
  const numbers = new Map<string, number>();
  text = text.replaceAll(UUID, (written) => {
    const id = written.replaceAll('-', '');
    const number = numbers.get(id) ?? numbers.size + 1;
    numbers.set(id, number);
    return `<id ${number}>`;
  });
  return JSON.parse(text.replaceAll(DATE_TIME, '<time>').replaceAll(CIPHERTEXT, '<ciphertext>'));
}
