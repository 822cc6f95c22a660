/**
 * What a bank asks of its files and how it answers them. Profiles are data: `config/bank-profiles/*.json`, checked when configuration is
 * read; a bank's own is one more file.
 */
export interface BankProfile {
  readonly code: string;
  readonly paymentMessage: 'pain.001.001.03' | 'pain.001.001.09';
  /** By scheme of ours, how the file names it. */
  readonly schemes: Readonly<Record<string, SchemeProfile>>;
  /** The characters that texts may have; others are replaced or rejected before acceptance. */
  readonly characters: 'sepa' | 'swift-x' | 'utf-8';
  readonly lengths: { readonly name: number; readonly remittance: number; readonly reference: number };
  /** Which message ends a payment. Silence past `silenceHours` is an alarm and never an outcome. */
  readonly endsBy: 'pain.002' | 'camt.054' | 'camt.053';
  /** What releases a payment: the bank's acceptance, or, of a bank that sends only rejections, the file's delivery. */
  readonly releasedBy: 'pain.002' | 'delivery';
  readonly silenceHours: number;
  /**
   * The bank's payee check, since October 2025 for euro files: `none`; `opted-out` (files of several only, so that single payments wait for
   * company); `confirmed` (a person confirms at the bank what did not match).
   */
  readonly payeeCheck: 'none' | 'opted-out' | 'confirmed';
  readonly takesCancellations: boolean;
  /**
   * The form of addresses: `lines` in pain.001.001.03, since November 2026 without use; `structured` or `hybrid` (town and country in
   * elements, the rest in two lines) in 09. Absent: none are written.
   */
  readonly addresses?: 'lines' | 'structured' | 'hybrid' | undefined;
  /** Whether the scheme attribute `purpose-code` is written, as `Purp/Cd`. Absent: no. */
  readonly purposeCodes?: boolean | undefined;
}

export interface SchemeProfile {
  /** `PmtTpInf`: service level (SEPA, URGP …), local instrument (INST …), category purpose. */
  readonly serviceLevel: string | null;
  readonly localInstrument: string | null;
  readonly chargeBearer: 'SLEV' | 'SHAR' | 'DEBT' | 'CRED';
  /** The clearing system's code of national routing numbers, such as GBDSC; null: BIC or IBAN only. */
  readonly clearingSystem: string | null;
  /** Whether the creditor must be named by an IBAN. Absent: no. */
  readonly needsIban?: boolean | undefined;
  /** Whether the creditor's bank needs a BIC, even next to an IBAN. Absent: no. */
  readonly needsBic?: boolean | undefined;
}
