/** The texts that a caller may send with any transfer. They are stored and shown as they were sent, and null if they were not. */
export const SENT_TEXTS = ['description', 'transferReasonId', 'transferCustomReason'] as const;

export type SentTexts = { readonly [Field in (typeof SENT_TEXTS)[number]]: string | null };

/** The texts of a request or of a row. */
export function sentTextsOf(sent: { readonly [Field in keyof SentTexts]?: string | null | undefined }): SentTexts {
  const texts: { -readonly [Field in keyof SentTexts]?: string | null } = {};
  for (const field of SENT_TEXTS) texts[field] = sent[field] ?? null;
  // Each has been set.
  return texts as SentTexts;
}
