import { join } from 'node:path';

export interface SandboxSettings {
  readonly port: number;
  readonly host: string;
  /** Holds what the sandbox remembers. */
  readonly directory: string;
  readonly bankCallbackUrl: string;
  readonly bankSecret: string;
}

const SECRET_LENGTH_MIN = 16;

/** Reads the environment. Throws one clear line for a bad or missing value. */
export function sandboxSettings(environment: Readonly<Record<string, string | undefined>>): SandboxSettings {
  const read = (name: string) => environment[name]?.trim() || undefined;
  const port = read('SANDBOX_PORT') ?? '3100';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new Error(`SANDBOX_PORT is "${port}". Set it to a port number, or unset it for 3100.`);
  }
  const secret = read('SANDBOX_BANK_SECRET');
  if (secret === undefined || secret.length < SECRET_LENGTH_MIN) {
    throw new Error(
      `SANDBOX_BANK_SECRET must hold the secret of at least ${SECRET_LENGTH_MIN} characters that signs the bank's callbacks.`,
    );
  }
  const publicUrl = read('PUBLIC_URL') ?? 'http://127.0.0.1:3000';
  const callbackUrl = read('CALLBACK_URL') ?? `${publicUrl.replace(/\/+$/, '')}/provider-callbacks/sandbox-bank`;
  if (!URL.canParse(callbackUrl) || !/^https?:/.test(callbackUrl)) {
    throw new Error(`Callbacks would go to "${callbackUrl}". Set PUBLIC_URL or CALLBACK_URL to an http(s) address.`);
  }
  return {
    port: Number(port),
    host: read('SANDBOX_HOST') ?? '127.0.0.1',
    directory: join(read('DATA_DIR') ?? '.data', 'sandbox'),
    bankCallbackUrl: callbackUrl,
    bankSecret: secret,
  };
}
