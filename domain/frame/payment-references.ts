/**
 * The name of one payment, out or in, in the messages of banks. Their reference fields (ISO 20022's EndToEndId and its like) hold
 * 35 characters and a UUID has 36, so a payment is named by its id's 32 hexadecimal digits, without dashes.
 */
export function paymentReferenceOf(id: string): string {
  return id.replaceAll('-', '');
}

/** An id with all of its dashes or with none, in any case, that no letter or digit touches. */
const NAMED_ID =
  /(?<![\p{L}\p{N}])(?:[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![\p{L}\p{N}])/giu;
const GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

const WHOLE = new RegExp(`^${NAMED_ID.source}$`, 'iu');

/** The id that a text is, as a payment reference or with its dashes, in any case; null if it is anything else. */
export function idWritten(text: string): string | null {
  return WHOLE.test(text) ? canonical(text) : null;
}

/**
 * A reference of ours as its provider gives it back, in our writing: banks drop dashes and change the case. Text without an id of
 * its own is not ours, and stays.
 */
export function referenceGivenBack(text: string): string {
  return idsNamedIn(text).length === 0 ? text : text.toLowerCase().replace(NAMED_ID, canonical);
}

function canonical(id: string): string {
  return paymentReferenceOf(id).toLowerCase().replace(GROUPS, '$1-$2-$3-$4-$5');
}

/** The ids that a text names as whole words, in the order of their first mention, each once, as we write them. */
export function idsNamedIn(text: string): string[] {
  return [...new Set((text.match(NAMED_ID) ?? []).map(canonical))];
}
