import { createTransport } from 'nodemailer';
import type { MailSettings } from '../../config/environment.ts';

/** One e-mail to one person. */
export interface Mail {
  /** Of what it is about: the same e-mail has the same Message-ID, however often it is handed in. */
  readonly id: string;
  readonly to: string;
  readonly date: Date;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 } as const;

/** The e-mail was not taken; `forCertain` unless the server may have it all the same. Says nothing of whom it is for. */
export class MailNotTaken extends Error {
  readonly forCertain: boolean;

  constructor(reason: string, forCertain: boolean) {
    super(`the mail server did not take the e-mail: ${reason}`);
    this.name = 'MailNotTaken';
    this.forCertain = forCertain;
  }
}

/** Resolves when the mail server has taken the e-mail. */
export async function sendMail(settings: MailSettings, mail: Mail, signal: AbortSignal): Promise<void> {
  if (settings.smtpUrl === null) throw new MailNotTaken('SMTP_URL is not set', true);
  const { id, to, date, subject, text, html } = mail;
  // The e-mails hold one-time links, so a server without STARTTLS, or one whose offer was stripped on the way, gets none.
  // What SMTP_URL itself says wins (`?requireTLS=false`).
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

/** Errors of the library quote addresses and answers of the server: what is kept is a code. */
function notTaken(error: unknown): MailNotTaken {
  const read = (name: string): unknown =>
    typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  const [code, command, response] = [read('code'), read('command'), read('responseCode')];
  const refused = typeof response === 'number' && response >= 400;
  // Encryption is agreed on before anything of the e-mail is sent.
  const neverConnected = read('syscall') === 'connect' || code === 'EDNS' || code === 'ETLS';
  const reason = [code, command, response].filter((part) => typeof part === 'string' || typeof part === 'number');
  return new MailNotTaken(reason.join(' ') || 'unknown', refused || neverConnected);
}
