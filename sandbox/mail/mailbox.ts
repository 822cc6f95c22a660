import PostalMime, { type Address } from 'postal-mime';
import { Journal } from '../bank/store/journal.ts';

/** An e-mail as the catcher shows it. */
export interface CaughtMail {
  readonly id: number;
  readonly messageId: string;
  readonly receivedAt: string;
  /** From the envelope, by which mail servers deliver. */
  readonly recipients: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** How often it was delivered: as in mailboxes, one Message-ID is one e-mail. */
  readonly deliveryCount: number;
}

interface Line {
  readonly receivedAt: string;
  readonly recipients: readonly string[];
  readonly raw: string;
}

/** The mailbox keeps this many in memory and shows them. */
const MAILS_MAX = 1_000;

/** Every e-mail sent, readable by anyone: a stand-in for all mailboxes. */
export class Mailbox {
  readonly #journal: Journal;
  readonly #mails = new Map<string, CaughtMail>();
  #count = 0;

  private constructor(journal: Journal) {
    this.#journal = journal;
  }

  static async open(options: { file: string; onFailure: (error: unknown) => void }): Promise<Mailbox> {
    const lines: string[] = [];
    const journal = await Journal.open(options.file, {
      replay: (line) => {
        lines.push(line);
      },
      onFailure: options.onFailure,
    });
    const mailbox = new Mailbox(journal);
    for (const line of lines.slice(-MAILS_MAX)) await mailbox.#show(JSON.parse(line));
    return mailbox;
  }

  /** Resolves when the e-mail is on disk: only then may the server acknowledge it. */
  async receive(raw: Buffer, recipients: readonly string[], now: Date): Promise<void> {
    const line: Line = { receivedAt: now.toISOString(), recipients, raw: raw.toString('base64') };
    await this.#journal.append(JSON.stringify(line));
    await this.#show(line);
  }

  /** Newest first. */
  list(): readonly CaughtMail[] {
    return [...this.#mails.values()].sort((one, other) => other.id - one.id);
  }

  find(id: number): CaughtMail | undefined {
    return this.list().find((mail) => mail.id === id);
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  async #show({ receivedAt, recipients, raw }: Line): Promise<void> {
    const parsed = await PostalMime.parse(Buffer.from(raw, 'base64'));
    this.#count += 1;
    const messageId = parsed.messageId ?? `<${this.#count}@sandbox>`;
    const key = `${messageId} ${recipients.join(' ')}`;
    const known = this.#mails.get(key);
    if (known !== undefined) {
      this.#mails.set(key, { ...known, deliveryCount: known.deliveryCount + 1 });
      return;
    }
    this.#mails.set(key, {
      id: this.#count,
      messageId,
      receivedAt,
      recipients,
      from: addresses(parsed.from === undefined ? [] : [parsed.from]),
      to: addresses(parsed.to ?? []),
      subject: parsed.subject ?? '',
      text: parsed.text ?? '',
      html: parsed.html ?? '',
      deliveryCount: 1,
    });
    for (const oldest of this.#mails.keys()) {
      if (this.#mails.size <= MAILS_MAX) break;
      this.#mails.delete(oldest);
    }
  }
}

function addresses(list: readonly Address[]): string {
  return list.map(({ name, address }) => (name ? `${name} <${address ?? ''}>` : (address ?? ''))).join(', ');
}
