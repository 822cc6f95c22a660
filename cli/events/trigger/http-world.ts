import { randomUUID } from 'node:crypto';
import { stringify } from 'lossless-json';
import { isJson, type Json } from '../../common/answers.ts';
import { dataDirectory, setting } from '../../common/data-directory.ts';
import type { CommandContext } from '../../program/command.ts';
import { CommandFailure } from '../../program/exit-statuses.ts';
import type { ReachedApi } from '../../program/reached-world.ts';
import { openApi } from '../../requests/calls.ts';
import { developmentCaller, signToken } from '../../requests/signing.ts';
import type { TriggerWorld } from './world.ts';

const ANSWER_MS_MAX = 60_000;

/** The service that the profile names and its sandbox; never a live one. */
export async function httpWorld(context: CommandContext): Promise<TriggerWorld> {
  const api = await openApi(context);
  const { reached } = api;
  const sandboxUrl = sandboxOf(reached, context.environment);
  const { started, profile, world } = reached;
  const call: TriggerWorld['call'] = async (method, path, body, token) => {
    const text = body === undefined ? {} : { body: stringify(body) ?? '' };
    if (token === undefined) return jsonOf((await api.call({ method, path, ...text })).text);
    return send(`${world.target}${path}`, { method, headers: { authorization: `Bearer ${token}` }, ...text });
  };
  return {
    publicUrl: started?.publicUrl ?? world.target,
    audience: profile.settings.audience ?? started?.audience ?? '',
    call,
    complianceToken: async () => (started === null ? undefined : tokenOfCompliance(started, context.environment)),
    find: async (path) => {
      try {
        return await call('GET', path);
      } catch (error) {
        if (error instanceof CommandFailure && error.details.httpStatus === 404) return null;
        throw error;
      }
    },
    form: (path, form) =>
      send(`${world.target}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      }),
    sandbox: (path, body) => send(`${sandboxUrl}${path}`, { method: 'POST', body: stringify(body) ?? '' }),
  };
}

function sandboxOf({ started, world }: ReachedApi, environment: NodeJS.ProcessEnv): string {
  if (world.mode === 'live') {
    throw new CommandFailure('rejected', 'Events are triggered in a sandbox, never where it is live.');
  }
  const url = setting(environment, 'SANDBOX_URL') ?? started?.sandboxUrl;
  if (url !== undefined) return url;
  throw new CommandFailure('usage', 'Nothing says where the sandbox is: set SANDBOX_URL.');
}

/** A development machine has a user for each role; elsewhere the profile's user needs the roles. */
async function tokenOfCompliance(
  started: NonNullable<ReachedApi['started']>,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  return signToken(developmentCaller(dataDirectory(environment), started, 'compliance'), new Date());
}

interface Sent {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function send(url: string, { method, headers, body }: Sent): Promise<Json> {
  const { origin, pathname } = new URL(url);
  const answer = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID(), ...headers },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    ...(body === undefined ? {} : { body }),
  }).catch((error: unknown) => {
    throw new CommandFailure('unknown', `${origin} gave no answer to ${method} ${pathname}.`, {}, error);
  });
  const text = await answer.text();
  if (answer.ok) return jsonOf(text);
  const { message = 'it does not say why' } = jsonOf(text);
  throw new CommandFailure('rejected', `${method} ${pathname} answered ${answer.status}: ${message}`, {
    httpStatus: answer.status,
  });
}

function jsonOf(text: string): Json {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJson(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
