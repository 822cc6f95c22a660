/**
 * The reference of a payment, incoming or outgoing, in messages between banks. Reference fields (such as ISO 20022's EndToEndId) hold
 * 35 characters and a UUID has 36, so a payment is named by its id's 32 hexadecimal digits, without dashes.
 */
export function paymentReferenceOf(id: string): string {
  return id.replaceAll('-', '');
}

/** An id with all or none of its dashes, in any case, not adjacent to a letter or digit. */
const NAMED_ID =
  /(?<![\p{L}\p{N}])(?:[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![\p{L}\p{N}])/giu;
const GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

const WHOLE = new RegExp(`^${NAMED_ID.source}$`, 'iu');

/** Parses an id, written as a payment reference or with dashes, in any case; null for any other text. */
export function parseWrittenId(text: string): string | null {
  return WHOLE.test(text) ? canonical(text) : null;
}

/**
 * Restores our spelling of a reference that a provider returns: banks drop dashes and change the case. Text without an id is not
 * ours, and stays unchanged.
 */
export function normalizeOurReference(text: string): string {
  return idsNamedIn(text).length === 0 ? text : text.toLowerCase().replace(NAMED_ID, canonical);
}

function canonical(id: string): string {
  return paymentReferenceOf(id).toLowerCase().replace(GROUPS, '$1-$2-$3-$4-$5');
}

/** The ids in a text, in the order of their first mention, each once, in our spelling. */
export function idsNamedIn(text: string): string[] {
  return [...new Set((text.match(NAMED_ID) ?? []).map(canonical))];
}
