import { createTransport } from 'nodemailer';
import type { MailSettings } from '../../config/environment.ts';

export interface Mail {
  /** The id of the e-mail's subject: repeated e-mails about it share one Message-ID. */
  readonly id: string;
  readonly to: string;
  readonly date: Date;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 } as const;

/** The server did not accept the e-mail. Unless `forCertain`, it may have it nevertheless. Never names the recipient. */
export class MailNotTaken extends Error {
  readonly forCertain: boolean;

  constructor(reason: string, forCertain: boolean) {
    super(`the mail server did not accept the e-mail: ${reason}`);
    this.name = 'MailNotTaken';
    this.forCertain = forCertain;
  }
}

/** Resolves when the mail server has accepted the e-mail. */
export async function sendMail(settings: MailSettings, mail: Mail, signal: AbortSignal): Promise<void> {
  if (settings.smtpUrl === null) throw new MailNotTaken('SMTP_URL is not set', true);
  const { id, to, date, subject, text, html } = mail;
  // E-mails contain one-time links, so a server without STARTTLS, or with its offer stripped, gets none. SMTP_URL
  // takes precedence (`?requireTLS=false`).
  const transport = createTransport({ requireTLS: true, url: settings.smtpUrl, ...TIMEOUTS });
  try {
    await transport.sendMail({
      from: settings.from,
      to: { name: '', address: to },
      date,
      subject,
      text,
      html,
      messageId: `<${id}@${domainOf(settings.from)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
      signal,
    });
  } catch (error) {
    throw notTaken(error);
  } finally {
    transport.close();
  }
}

function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)/.exec(from)?.[1] ?? 'localhost';
}

/** The library's errors quote addresses and server answers: keep only a code. */
function notTaken(error: unknown): MailNotTaken {
  const read = (name: string): unknown =>
    typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  const [code, command, response] = [read('code'), read('command'), read('responseCode')];
  const rejected = typeof response === 'number' && response >= 400;
  // Encryption starts before any of the e-mail is sent.
  const neverConnected = read('syscall') === 'connect' || code === 'EDNS' || code === 'ETLS';
  const reason = [code, command, response].filter((part) => typeof part === 'string' || typeof part === 'number');
  return new MailNotTaken(reason.join(' ') || 'unknown', rejected || neverConnected);
}
